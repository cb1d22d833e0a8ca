/** The ledger for people: the entries of an account, of a kind of accounts or of a purchase, by whatever id they have in hand. */
import { balanceOn, sidesOf } from '../ledger/chart-of-accounts.ts';
import {
  findLedgerAccounts,
  readAccounts,
  readTransaction,
  type LedgerLine as StoredLine,
} from './store/ledger-reads.ts';
import { findTransactionId } from '../operations/store/timeline.ts';
import type { WorldDb } from '../platform/database/tables.ts';

export interface LedgerLine extends Omit<StoredLine, 'accountKind' | 'creditMinor' | 'balanceCreditMinor'> {
  readonly debitMinor: bigint;
  readonly creditMinor: bigint;
  /** The account's balance after it, above zero on the account's normal side; null where entries of one purchase are read. */
  readonly balanceMinor: bigint | null;
}

export interface LedgerView {
  /** Of accounts, newest first; else of one purchase or funding, as booked. */
  readonly isAccount: boolean;
  /** The ledger accounts that it is of. */
  readonly accounts: readonly string[];
  readonly lines: readonly LedgerLine[];
}

/** undefined: nothing of ours goes by this id. */
export async function readLedger(db: WorldDb, id: string, limit: number): Promise<LedgerView | undefined> {
  const accounts = await findLedgerAccounts(db, id);
  if (accounts.length > 0)
    return { isAccount: true, accounts, lines: (await readAccounts(db, accounts, limit)).map(toLine) };
  const transactionId = await findTransactionId(db, id);
  if (transactionId === undefined) return undefined;
  const lines = await readTransaction(db, transactionId);
  return { isAccount: false, accounts: [], lines: lines.map(toLine) };
}

function toLine({ accountKind, creditMinor, balanceCreditMinor, ...line }: StoredLine): LedgerLine {
  return {
    ...line,
    ...sidesOf(creditMinor),
    balanceMinor: balanceCreditMinor === null ? null : balanceOn(accountKind, balanceCreditMinor),
  };
}
