/** All tables of an environment, as Kysely sees them. Each noun types its own; migrations/ creates them. */
import type { Generated, Kysely } from 'kysely';
import type { AccountsDatabase } from '../../accounts/store/tables.ts';
import type { CatalogueTables } from '../../catalogue/store/tables.ts';
import type { Environment } from '../../domain/account.ts';
import type { EsimTables } from '../../esims/store/tables.ts';
import type { LedgerTables } from '../../ledger/store/tables.ts';
import type {
  BatchRepairRowsTable,
  BatchRepairsTable,
  OperatorActionsTable,
} from '../../operations/store/tables.ts';
import type { PaymentTables } from '../../payments/store/tables.ts';
import type { PurchaseTables } from '../../purchases/store/tables.ts';
import type { ReconciliationTables } from '../../reconciliation/store/tables.ts';
import type { WebhookTables } from '../../webhooks/store/tables.ts';

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

export interface WorldDatabase
  extends
    CatalogueTables,
    EsimTables,
    LedgerTables,
    PaymentTables,
    PurchaseTables,
    ReconciliationTables,
    WebhookTables {
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
  operator_actions: OperatorActionsTable;
  batch_repairs: BatchRepairsTable;
  batch_repair_rows: BatchRepairRowsTable;
}

export type AccountsDb = Kysely<AccountsDatabase>;
export type WorldDb = Kysely<WorldDatabase>;
