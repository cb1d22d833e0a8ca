import { findLedgerAccounts, readAccounts, readTransaction, type LedgerLine } from './store/ledger.ts';
import { findTransactionId } from '../operations/store/timeline.ts';
import type { WorldDb } from '../platform/database/tables.ts';

export interface LedgerView {
  /** Entries of accounts, newest first; otherwise of one purchase or funding, in the order of booking. */
  readonly isAccount: boolean;
  readonly accounts: readonly string[];
  readonly lines: readonly LedgerLine[];
}

/** The entries of an account, a kind of accounts or a purchase, by any id that leads to it. undefined: the id is unknown. */
export async function readLedger(db: WorldDb, id: string, limit: number): Promise<LedgerView | undefined> {
  const accounts = await findLedgerAccounts(db, id);
  if (accounts.length > 0)
    return { isAccount: true, accounts, lines: await readAccounts(db, accounts, limit) };
  const transactionId = await findTransactionId(db, id);
  if (transactionId === undefined) return undefined;
  return { isAccount: false, accounts, lines: await readTransaction(db, transactionId) };
}
