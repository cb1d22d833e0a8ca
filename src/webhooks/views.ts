/** What an account can do about being told: endpoints, the messages sent to them, and when a wallet counts as low. */
import type { MessageStatusValue, WebhookEvent } from './rules.ts';
import type { IdempotencyTag } from '../platform/idempotency/tag.ts';

export const MESSAGE_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

export const DISABLED_REASONS = ['BY_OWNER', 'GONE', 'FAILING'] as const;

export interface EndpointView {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly enabled: boolean;
  readonly disabledReason: (typeof DISABLED_REASONS)[number] | null;
  /** The first failure since the last success. */
  readonly failingSince: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** `secret` is told here and nowhere else. */
export interface EndpointWithSecret {
  readonly endpoint: EndpointView;
  readonly secret: string;
}

export interface MessageView {
  readonly id: string;
  readonly endpointId: string;
  readonly event: WebhookEvent;
  /** Null for events that are about no transaction. */
  readonly transactionId: string | null;
  readonly status: MessageStatus;
  readonly attempts: number;
  /** While PENDING: when it is tried next. */
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly closedAt: Date | null;
}

export interface MessageDetailView extends MessageView {
  /** As it is signed and sent, byte for byte. */
  readonly body: string;
}

export interface AttemptView {
  readonly attempt: number;
  readonly at: Date;
  readonly ms: number;
  /** `answered`, or why there was no whole answer. */
  readonly outcome: string;
  readonly status: number | null;
  /** The first kibibyte of the answer. */
  readonly answerStart: string;
}

export interface CreateEndpointCommand {
  readonly url: string;
  /** Absent: those that every endpoint gets. */
  readonly events?: readonly WebhookEvent[];
  readonly idempotency?: IdempotencyTag;
}

export interface EndpointChange {
  readonly url?: string;
  readonly events?: readonly WebhookEvent[];
  readonly enabled?: boolean;
}

export interface SampleCommand {
  readonly event: WebhookEvent;
  /** Of a purchase's event; SUCCESS unless told otherwise. */
  readonly status?: MessageStatusValue;
  readonly idempotency?: IdempotencyTag;
}

export interface RecoverCommand {
  readonly from: Date;
  /** Absent: until now. */
  readonly to?: Date;
  readonly idempotency?: IdempotencyTag;
}

export interface PageQuery {
  readonly page: number;
  readonly limit: number;
}

export interface MessageQuery extends PageQuery {
  readonly endpointId?: string;
  readonly status?: MessageStatus;
  readonly event?: WebhookEvent;
  readonly transactionId?: string;
  /** Written at or after this, and before `to`. */
  readonly from?: Date;
  readonly to?: Date;
}
