/** Tables of webhooks to merchants: endpoints, messages, attempts, and from which balance on a wallet counts as low. */
import type { Generated } from 'kysely';
import type { WebhookEvent } from '../rules.ts';

export interface WebhookEndpointsTable {
  id: string;
  account_id: string;
  url: string;
  events: WebhookEvent[];
  enabled: Generated<boolean>;
  disabled_reason: 'BY_OWNER' | 'GONE' | 'FAILING' | null;
  disabled_at: Date | null;
  /** The first failure since the last success. */
  failing_since: Date | null;
  secret_sealed: Buffer;
  /** Replaced last; still signs, beside the one above, until `previous_until`. */
  previous_secret_sealed: Buffer | null;
  previous_until: Date | null;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
}

/** Replaced before the previous one, and still signs. */
export interface WebhookOlderSecretsTable {
  id: Generated<bigint>;
  endpoint_id: string;
  secret_sealed: Buffer;
  until: Date;
}

/** One event for one endpoint; its id is the `webhook-id` of every attempt, and its workflow's id. */
export interface WebhookMessagesTable {
  id: string;
  endpoint_id: string;
  account_id: string;
  event: WebhookEvent;
  event_key: string;
  /** The purchase or funding that it is about. */
  subject: string | null;
  body: string;
  status: 'PENDING' | 'DELIVERED' | 'FAILED';
  attempts: Generated<number>;
  /** The attempts before it was last opened again: its schedule begins after them. */
  series_from: Generated<number>;
  next_attempt_at: Date | null;
  swept_at: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  closed_at: Date | null;
}

export interface WebhookAttemptsTable {
  id: Generated<bigint>;
  message_id: string;
  attempt: number;
  at: Date;
  ms: number;
  /** `answered`, or why there was no whole answer. */
  outcome: string;
  status: number | null;
  answer_start: string;
}

export interface LowBalanceThresholdsTable {
  account_id: string;
  threshold_minor: bigint;
  updated_at: Date;
}
