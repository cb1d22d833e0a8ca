import { HOUR_MS } from '../domain/clock.ts';

/** Per account and environment: every event is stored once for each endpoint. */
export const MAX_ENDPOINTS = 16;
/** How long a replaced secret still signs beside the new one, so that receivers can change without losing a message. */
export const SECRET_OVERLAP_MS = 24 * HOUR_MS;
/** Replaced secrets that sign at a time: each adds a signature to the header of every message. */
export const MAX_PREVIOUS_SECRETS = 4;
/** How far back failed messages can be recovered. */
export const MAX_RECOVER_MS = 14 * 24 * HOUR_MS;

export const MESSAGE_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

export const DISABLED_REASONS = ['BY_OWNER', 'GONE', 'FAILING'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];
