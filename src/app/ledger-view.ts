/** The ledger for people: an account's entries or a purchase's, by whatever id they have in hand. */
import { findLedgerAccount, readAccount, readTransaction, type LedgerLine } from '../store/ledger-reads.ts';
import { findTransactionId } from '../store/purchase-story.ts';
import type { WorldDb } from '../store/tables.ts';

export interface LedgerView {
  /** Of one account, newest first; else of one purchase or funding, as booked. */
  readonly isAccount: boolean;
  readonly lines: readonly LedgerLine[];
}

/** undefined: nothing of ours goes by this id. */
export async function readLedger(db: WorldDb, id: string, limit: number): Promise<LedgerView | undefined> {
  const account = await findLedgerAccount(db, id);
  if (account !== undefined) return { isAccount: true, lines: await readAccount(db, account, limit) };
  const transactionId = await findTransactionId(db, id);
  if (transactionId === undefined) return undefined;
  return { isAccount: false, lines: await readTransaction(db, transactionId) };
}
