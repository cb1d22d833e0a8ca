import type { WebhookDeps } from '../webhooks/deps.ts';

/** What the wallet's use cases work with, in one world. */
export type LedgerDeps = Pick<WebhookDeps, 'db' | 'clock' | 'webhookEngine'>;
