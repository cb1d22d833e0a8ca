/**
 * All tables, as Kysely sees them. Each noun adds its own in its store/tables.ts; migrations/ creates them.
 */
import type { Generated, Kysely } from 'kysely';
import type { Environment } from '../../domain/account.ts';

export interface IdempotencyKeysTable {
  account_id: string;
  key: string;
  path: string;
  fingerprint: string;
  transaction_id: string;
  refusal_reason: string | null;
  refusal_detail: string | null;
  answer_status: number | null;
  answer_body: string | null;
  /** The caller was answered before the first step wrote anything; that step completes the row. */
  begun: Generated<boolean>;
  created_at: Generated<Date>;
}

/** The tables of one environment. */
export interface WorldDatabase {
  world: { environment: Environment };
  idempotency_keys: IdempotencyKeysTable;
  /** Ids that were refused before a purchase was written, and whose key is forgotten: never used again. */
  retired_transaction_ids: { transaction_id: string; retired_at: Generated<Date> };
  /** Refusals that left no other row, while what was refused could be opened again. */
  refused_transaction_ids: {
    transaction_id: string;
    reason: string;
    detail: string;
    refused_at: Generated<Date>;
  };
}

/** The tables that both environments share. */
// oxlint-disable-next-line typescript/no-empty-object-type -- src/accounts adds them
export interface AccountsDatabase {}

export type AccountsDb = Kysely<AccountsDatabase>;
export type WorldDb = Kysely<WorldDatabase>;
