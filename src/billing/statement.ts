/**
 * A month of a wallet. Guarantee: the opening balance and all entries are the closing balance, which is the
 * opening balance of the next month, and both are sums of the ledger.
 */
import type { Principal } from '../domain/account.ts';
import type { Clock } from '../domain/clock.ts';
import { csvOf, type CsvFile } from '../domain/csv.ts';
import { DomainError } from '../domain/errors.ts';
import { formatMinor } from '../domain/money.ts';
import { monthOf, nameOfMonth, rangeOf, type Month } from '../domain/papers.ts';
import { readWalletEntries, type WalletEntry } from '../ledger/store/wallet-entries.ts';
import { MAX_CSV_ENTRIES } from '../ledger/wallet-entries.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { atOneMoment } from '../platform/database/transactions.ts';
import { findBuyer, findCompany } from './store/details.ts';
import { findClosing } from './store/months.ts';
import { readWalletSums, sumUpTo, type WalletSums } from './store/statement.ts';

/** Whose wallet it is. */
export interface Owner {
  readonly account: Pick<Principal['account'], 'id' | 'currency'>;
}

export interface StatementDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
}

export interface Statement extends WalletSums {
  readonly month: Month;
  readonly currency: string;
  /** Nothing will be added to it. */
  readonly isFinal: boolean;
  /** Oldest first, with the balance after each within the month. */
  readonly entries: readonly WalletEntry[];
  readonly hasMore: boolean;
}

interface Asked {
  readonly month: Month;
  /** Continues behind this entry. */
  readonly after?: bigint | undefined;
  readonly limit: number;
}

/** VALIDATION_ERROR for a month that has not begun. */
export async function getStatement(
  { db, clock }: StatementDeps,
  { account }: Owner,
  { month, after, limit }: Asked,
): Promise<Statement> {
  if (month > monthOf(clock.now()))
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
      details: `month: ${nameOfMonth(month)} has not begun`,
    });
  const range = rangeOf(month);
  return atOneMoment(db, async (trx) => {
    const sums = await readWalletSums(trx, account.id, range);
    const query = { accountId: account.id, booked: range, after, limit: limit + 1 };
    const found = await readWalletEntries(trx, query);
    const before = after === undefined ? 0n : await sumUpTo(trx, account.id, range, after);
    const closing = await findClosing(trx, month);
    return {
      ...sums,
      month,
      currency: account.currency,
      isFinal: (closing?.closedAt ?? null) !== null,
      entries: withBalances(found.slice(0, limit), sums.openingMinor + before),
      hasMore: found.length > limit,
    };
  });
}

/** At the turn of a month two entries may be booked in another order than they changed the balance. */
function withBalances(entries: readonly WalletEntry[], beforeMinor: bigint): WalletEntry[] {
  let balanceAfterMinor = beforeMinor;
  return entries.map((entry) => {
    balanceAfterMinor += entry.amountMinor;
    return { ...entry, balanceAfterMinor };
  });
}

export const STATEMENT_COLUMNS = [
  'month',
  'id',
  'at',
  'kind',
  'amount',
  'currency',
  'balanceAfter',
  'transactionId',
  'description',
];

/** Its first line is the opening balance, and the one after the month's last entry the closing balance. */
export async function exportStatement(
  deps: StatementDeps,
  owner: Owner,
  asked: Omit<Asked, 'limit'>,
): Promise<CsvFile> {
  const statement = await getStatement(deps, owner, { ...asked, limit: MAX_CSV_ENTRIES });
  const { month, currency, openingMinor, closingMinor, entries, hasMore } = statement;
  const { from, to } = rangeOf(month);
  const balance = (kind: string, at: Date, minor: bigint): string[] => [
    ...[month, '', at.toISOString(), kind, '', currency, formatMinor(minor), '', ''],
  ];
  const csv = csvOf(STATEMENT_COLUMNS, [
    ...(asked.after === undefined ? [balance('OPENING_BALANCE', from, openingMinor)] : []),
    ...entries.map((entry) => [
      ...[month, entry.id, entry.at.toISOString(), entry.kind, formatMinor(entry.amountMinor), currency],
      ...[formatMinor(entry.balanceAfterMinor), entry.transactionId ?? '', entry.description],
    ]),
    ...(hasMore ? [] : [balance('CLOSING_BALANCE', to, closingMinor)]),
  ]);
  return { csv, next: hasMore ? entries.at(-1)?.id : undefined };
}

/**
 * Entries that the PDF lists, on some ten pages: 0.3 s of work. Of a longer month it has the sums, and the
 * CSV the entries.
 */
const MAX_PRINTED_ENTRIES = 500;

/** What its PDF shows. */
export async function readPrintedStatement(deps: StatementDeps, owner: Owner, month: Month) {
  const statement = await getStatement(deps, owner, { month, limit: MAX_PRINTED_ENTRIES });
  return {
    statement,
    seller: await findCompany(deps.db),
    buyer: await findBuyer(deps.db, owner.account.id),
    asOf: statement.isFinal ? rangeOf(month).to : deps.clock.now(),
  };
}
