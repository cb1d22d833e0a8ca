import type { Generated, GeneratedAlways, JSONColumnType } from 'kysely';
import type { Header, DisabledReason, MessageStatus, Notice } from '../rules.ts';
import type { WebhookEvent } from '../events.ts';

export interface WebhookEndpointsTable {
  id: string;
  account_id: string;
  url: string;
  events: WebhookEvent[];
  enabled: Generated<boolean>;
  disabled_reason: DisabledReason | null;
  disabled_at: Date | null;
  /** The first failure since the last success. */
  failing_since: Date | null;
  owner_warned_at: Date | null;
  secret_sealed: Buffer;
  /** The secret before; signs beside the current one until `previous_until`. */
  previous_secret_sealed: Buffer | null;
  previous_until: Date | null;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
  /** Who made it, or the key that did; empty where nobody said. */
  created_by: Generated<string>;
}

/** Secrets before the previous one that still sign. */
export interface WebhookOlderSecretsTable {
  id: Generated<bigint>;
  endpoint_id: string;
  secret_sealed: Buffer;
  until: Date;
}

export interface EventsTable {
  id: string;
  /** Made of the transaction's id (store/feed.ts). */
  position: Generated<bigint>;
  /** Orders events of one transaction. */
  seq: GeneratedAlways<bigint>;
  /** Null: for every account. */
  account_id: string | null;
  event: WebhookEvent;
  event_key: string;
  /** Id of the purchase or funding. */
  subject: string | null;
  /** As in messages, but never with an address in clear. */
  body: string;
  created_at: Generated<Date>;
}

/** One row. */
export interface EventFeedTable {
  is_only: Generated<boolean>;
  /** Added to transaction ids. */
  position_offset: Generated<bigint>;
  /** No event up to this position can be relied on to be there. */
  deleted_to: Generated<bigint>;
  cluster: string | null;
}

/** The id is the workflow's id. */
export interface WebhookMessagesTable {
  id: string;
  /** The `webhook-id` of every attempt. Null on samples: those use their own id. */
  event_id: string | null;
  endpoint_id: string;
  account_id: string;
  event: WebhookEvent;
  event_key: string;
  subject: string | null;
  body: string;
  status: MessageStatus;
  attempts: Generated<number>;
  /** Attempts made before the message was last reopened; its schedule starts after them. */
  series_from: Generated<number>;
  next_attempt_at: Date | null;
  /** Since when a workflow carries it. Null: it is sent from its row. */
  handed_over_at: Date | null;
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
  outcome: string;
  status: number | null;
  answer_start: string;
  /** Where it was sent. Headers are null where no connection or no answer came about. */
  url: string;
  request_headers: JSONColumnType<readonly Header[] | null> | null;
  answer_headers: JSONColumnType<readonly Header[] | null> | null;
}

export interface LowBalanceThresholdsTable {
  account_id: string;
  threshold_minor: bigint;
  updated_at: Date;
}

export interface NoticesTable {
  id: string;
  account_id: string;
  kind: Notice['kind'];
  facts: string;
  attempts: Generated<number>;
  /** Null once sent. */
  next_attempt_at: Date | null;
  sent_at: Date | null;
  created_at: Generated<Date>;
}

declare module '../../platform/database/tables.ts' {
  interface WorldDatabase {
    webhook_endpoints: WebhookEndpointsTable;
    webhook_older_secrets: WebhookOlderSecretsTable;
    events: EventsTable;
    event_feed: EventFeedTable;
    webhook_messages: WebhookMessagesTable;
    webhook_attempts: WebhookAttemptsTable;
    low_balance_thresholds: LowBalanceThresholdsTable;
    notices: NoticesTable;
  }
}
