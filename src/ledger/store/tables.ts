import type { Generated } from 'kysely';
import type { AccountCurrency } from '../../domain/money.ts';
import type { WalletEntryKind } from '../wallet-entry-rules.ts';

export interface LedgerAccountsTable {
  id: string;
  kind: string;
  currency: string;
  account_id: string | null;
}

export interface WalletsTable {
  account_id: string;
  ledger_account_id: string;
  currency: AccountCurrency;
  balance_minor: Generated<bigint>;
  /** Owed by its account: a bank took back what the wallet had spent. */
  owed_minor: Generated<bigint>;
  updated_at: Generated<Date>;
}

export interface LedgerTransactionsTable {
  id: Generated<bigint>;
  operation_key: string;
  kind: string;
  transaction_id: string | null;
  reason: string | null;
  created_at: Generated<Date>;
}

export interface LedgerEntriesTable {
  id: Generated<bigint>;
  ledger_transaction_id: bigint;
  ledger_account_id: string;
  currency: string;
  amount_minor: bigint;
}

/** Written by a trigger alone. */
export interface WalletEntriesTable {
  account_id: string;
  /** From 1, in the order in which the balance changed. */
  entry_number: bigint;
  /** Never earlier than that of the entry before. */
  at: Date;
  /** As the ledger booked it: of the month that a statement has it in. */
  booked_at: Date;
  kind: WalletEntryKind;
  /** The ledger's word for the transfer. */
  ledger_kind: string;
  transaction_id: string | null;
  amount_minor: bigint;
  balance_after_minor: bigint;
}

export interface HoldsTable {
  id: string;
  account_id: string;
  currency: string;
  amount_minor: bigint;
  status: Generated<'HELD' | 'POSTED' | 'VOIDED'>;
  created_at: Generated<Date>;
  closed_at: Date | null;
  /** The API key whose purchase it is; null: a member bought, or a payment placed it. */
  key_id: string | null;
}

declare module '../../platform/database/tables.ts' {
  interface WorldDatabase {
    ledger_accounts: LedgerAccountsTable;
    wallets: WalletsTable;
    ledger_transactions: LedgerTransactionsTable;
    ledger_entries: LedgerEntriesTable;
    holds: HoldsTable;
    wallet_entries: WalletEntriesTable;
  }
}
