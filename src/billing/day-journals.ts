/**
 * The ledger of a month as journals for an accountant's program: one a day and currency. Guarantee: the
 * debits of a journal are its credits, and the journals of a month are its ledger. Pure.
 */
import { divideHalfUp } from '../domain/money.ts';
import { describeAccount, sidesOf, type LedgerKind } from '../ledger/chart-of-accounts.ts';

/** What an account moved on a day, or its balance. Below zero: a debit. */
export interface Moved {
  readonly account: string;
  readonly currency: string;
  readonly kind: LedgerKind;
  readonly creditMinor: bigint;
}

export interface JournalLine {
  readonly journal: string;
  readonly day: string;
  readonly code: string;
  readonly name: string;
  readonly currency: string;
  readonly debitMinor: bigint;
  readonly creditMinor: bigint;
  readonly description: string;
}

export function journalsOf(
  days: readonly (Moved & { readonly day: string })[],
  openings: readonly Moved[],
): JournalLine[] {
  const inCents = costsInCents(openings);
  const journals = Map.groupBy(days, ({ day, currency }) => `${day.replaceAll('-', '')}-${wordOf(currency)}`);
  return [...journals].flatMap(([journal, moved]) => {
    const lines = moved[0]?.currency === 'USD4' ? inCents(moved) : moved;
    return lines
      .filter(({ creditMinor }) => creditMinor !== 0n)
      .map(({ day, creditMinor, ...account }) => ({
        ...{ journal, day, ...describeAccount(account.kind, account) },
        currency: account.currency === 'USD4' ? 'USD' : account.currency,
        ...sidesOf(creditMinor),
        description: `${account.currency === 'USD4' ? 'Cost of data packages' : 'Movements'} of ${day} (UTC)`,
      }));
  });
}

const wordOf = (currency: string): string => (currency === 'USD4' ? 'COST' : currency);

/** USD4 has four decimals, and an accountant's program two. */
const USD4_TO_CENTS = 100n;

function centsOf(minor: bigint): bigint {
  return minor < 0n ? -divideHalfUp(-minor, USD4_TO_CENTS) : divideHalfUp(minor, USD4_TO_CENTS);
}

/**
 * Rounds what an account has moved since the ledger began, so that rounded days never drift from the ledger.
 * The cost is the other side of all others.
 */
function costsInCents(openings: readonly Moved[]) {
  const totals = new Map(openings.map(({ account, creditMinor }) => [account, creditMinor]));
  return <Line extends Moved>(moved: readonly Line[]): Line[] => {
    const others = moved
      .filter(({ kind }) => kind !== 'supplier-cost')
      .map((line) => {
        const before = totals.get(line.account) ?? 0n;
        totals.set(line.account, before + line.creditMinor);
        return { ...line, creditMinor: centsOf(before + line.creditMinor) - centsOf(before) };
      });
    const rest = -others.reduce((sum, { creditMinor }) => sum + creditMinor, 0n);
    const costs = moved.filter(({ kind }) => kind === 'supplier-cost');
    return [...others, ...costs.slice(0, 1).map((line) => ({ ...line, creditMinor: rest }))];
  };
}
