/** What an action would do, read from the rows that it wrote, before they are rolled back. */
import type { Money } from '../../domain/money.ts';
import { creditOf, sidesOf } from '../../ledger/chart-of-accounts.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/** The effect of an action that is possible. */
export interface WouldDo {
  readonly outcome: 'would-do';
  /** In a sentence. */
  readonly did: string;
  /** false: it has an order, and its supplier was not asked, or has yet to cancel it. `did` says which. */
  readonly isSure: boolean;
  readonly amount: Money | null;
  /** Whose purchase or funding it is. */
  readonly accountId: string;
  readonly email: string | null;
  /** Ledger entries that would be booked. */
  readonly entries: Awaited<ReturnType<typeof entriesSince>>;
  /** Refunds that would be requested from the gateway. */
  readonly refunds: readonly Money[];
  /** Whether another person must approve it, by the limits as they are used up now. */
  readonly needsSecondPerson: boolean;
}

/** What was booked for a purchase or a funding after an entry of the ledger. */
export async function entriesSince(trx: WorldDb, transactionId: string, before: bigint) {
  const rows = await trx
    .selectFrom('ledger_transactions as t')
    .innerJoin('ledger_entries as e', 'e.ledger_transaction_id', 't.id')
    .select(['e.ledger_account_id as account', 'e.currency', 'e.amount_minor'])
    .where('t.transaction_id', '=', transactionId)
    .where('t.id', '>', before)
    .orderBy('e.id')
    .execute();
  return rows.map(({ account, currency, amount_minor: storedMinor }) => ({
    account,
    currency,
    ...sidesOf(creditOf(storedMinor, currency)),
  }));
}

/** Those that are due now, or were not known before. */
export async function newRefunds(trx: WorldDb, transactionId: string, known: readonly string[]) {
  return trx
    .selectFrom('refunds')
    .select(['amount_minor as amountMinor', 'currency'])
    .where('transaction_id', '=', transactionId)
    .where('closed_at', 'is', null)
    .where((eb) => eb.or([eb('status', '=', 'DUE'), eb('refund_key', 'not in', ['', ...known])]))
    .execute();
}
