/**
 * Reports for finance. Guarantee: every figure is a sum of ledger entries, except for open holds and refunds;
 * amounts become decimals only as text.
 */
import { csvOf } from '../domain/csv.ts';
import { classOf, sidesOf } from '../ledger/chart-of-accounts.ts';
import { DomainError } from '../domain/errors.ts';
import { divideHalfUp, formatAmount, formatMinor } from '../domain/money.ts';
import { findTransactionId } from '../operations/store/timeline.ts';
import {
  findLedgerAccounts,
  readAccounts,
  readBalances,
  readSales,
  readTransaction,
  readWaiting as findWaiting,
  readWalletDays,
  type Sales,
} from './store/ledger.ts';
import type { Slice } from './store/lines.ts';
import type { WorldDb } from '../platform/database/tables.ts';

type BooksDeps = Readonly<Record<'db', WorldDb>>;

export type TrialBalance = Awaited<ReturnType<typeof readTrialBalance>>;
export type Daily = Awaited<ReturnType<typeof readDaily>>;
export type ByMerchant = Awaited<ReturnType<typeof readByMerchant>>;
export type Waiting = Awaited<ReturnType<typeof readWaiting>>;
export type Balances = Awaited<ReturnType<typeof readWalletBalances>>;
export type Report = TrialBalance | Daily | ByMerchant | Waiting | Balances;

/** As it is now, or was at `before`. */
export async function readTrialBalance({ db }: BooksDeps, before?: Date) {
  const lines = (await readBalances(db, before)).map(
    ({ account, kind, currency, accounts, creditMinor }) => ({
      ...{ account, kind, class: classOf(kind), currency, accounts },
      ...sidesOf(creditMinor),
    }),
  );
  const totals = [...Map.groupBy(lines, (line) => line.currency)].map(([currency, own]) => {
    const debitMinor = sumOf(own, 'debitMinor');
    const creditMinor = sumOf(own, 'creditMinor');
    return { currency, debitMinor, creditMinor, isBalanced: debitMinor === creditMinor };
  });
  return { report: 'trial-balance' as const, lines, totals };
}

export async function readDaily({ db }: BooksDeps, range: Slice) {
  const lines = (await readSales(db, range, 'day')).map((sales) => ({
    day: sales.day ?? '',
    packageType: sales.packageType,
    ...earnedOf(sales),
  }));
  return { report: 'daily' as const, lines, totals: totalsOf(lines) };
}

export async function readByMerchant({ db }: BooksDeps, range: Slice) {
  const lines = (await readSales(db, range, 'account')).map((sales) => ({
    accountId: sales.accountId,
    email: sales.email,
    packageType: sales.packageType,
    ...earnedOf(sales),
  }));
  return { report: 'merchants' as const, lines, totals: totalsOf(lines) };
}

export async function readWaiting({ db }: BooksDeps) {
  return { report: 'waiting' as const, lines: await findWaiting(db) };
}

/** Day by day until today; none of days to come. */
export async function readWalletBalances({ db }: BooksDeps, range: Slice) {
  return { report: 'balances' as const, lines: await readWalletDays(db, range) };
}

/** RFC 4180. */
export function toCsv(report: Report): string {
  const { columns, rows } = toTable(report);
  return csvOf(columns, rows);
}

/** What was earned: by one line, or by all lines of a currency. */
interface Earned extends Pick<Sales, 'currency' | 'deliveries' | 'soldMinor' | 'correctedMinor'> {
  /** Sold and corrected. */
  readonly revenueMinor: bigint;
  /** As the supplier was paid, US dollars × 10,000. */
  readonly costUsdE4: bigint;
  /** The same at the rates of the sales, rounded half up once a line; a total is the sum of its lines. */
  readonly costMinor: bigint;
  /** Revenue less cost; the gateway's fees are not in the ledger. */
  readonly marginMinor: bigint;
  /** The margin in hundredths of a percent of the revenue, half up; null without revenue. */
  readonly marginBps: number | null;
}

/** Cost units × rate micros → minor units: 10,000 cost units are a dollar, a dollar is 100 minor units. */
const SCALE = (10_000n * 1_000_000n) / 100n;

function earnedOf({ currency, deliveries, soldMinor, correctedMinor, costUsdE4, costScaled }: Sales): Earned {
  const costMinor = divideAwayFromZero(costScaled, SCALE);
  return withMargin({ currency, deliveries, soldMinor, correctedMinor, costUsdE4, costMinor });
}

function totalsOf(lines: readonly Earned[]): Earned[] {
  const byCurrency = [...Map.groupBy(lines, (line) => line.currency)].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return byCurrency.map(([currency, own]) =>
    withMargin({
      currency,
      deliveries: own.reduce((sum, line) => sum + line.deliveries, 0),
      soldMinor: sumOf(own, 'soldMinor'),
      correctedMinor: sumOf(own, 'correctedMinor'),
      costUsdE4: sumOf(own, 'costUsdE4'),
      costMinor: sumOf(own, 'costMinor'),
    }),
  );
}

function withMargin(sums: Omit<Earned, 'revenueMinor' | 'marginMinor' | 'marginBps'>): Earned {
  const revenueMinor = sums.soldMinor + sums.correctedMinor;
  const marginMinor = revenueMinor - sums.costMinor;
  const marginBps =
    revenueMinor > 0n ? Number(divideAwayFromZero(marginMinor * 10_000n, revenueMinor)) : null;
  const { costUsdE4, costMinor, ...sold } = sums;
  return { ...sold, revenueMinor, costUsdE4, costMinor, marginMinor, marginBps };
}

/** Rounded half up; below zero half down. */
function divideAwayFromZero(numerator: bigint, denominator: bigint): bigint {
  return numerator < 0n ? -divideHalfUp(-numerator, denominator) : divideHalfUp(numerator, denominator);
}

function sumOf<Field extends string>(lines: readonly Readonly<Record<Field, bigint>>[], field: Field) {
  return lines.reduce((sum, line) => sum + line[field], 0n);
}

type Columns<Line> = Readonly<Record<string, (line: Line) => string>>;

function tableOf<Line>(columns: Columns<Line>, lines: readonly Line[]) {
  const cells = Object.values(columns);
  return { columns: Object.keys(columns), rows: lines.map((line) => cells.map((cell) => cell(line))) };
}

/** A report in columns and rows, without totals: a spreadsheet that sums a column would count them again. */
export function toTable(report: Report) {
  switch (report.report) {
    case 'trial-balance':
      return tableOf(TRIAL_BALANCE_COLUMNS, report.lines);
    case 'daily':
      return tableOf(DAILY_COLUMNS, report.lines);
    case 'merchants':
      return tableOf(MERCHANT_COLUMNS, report.lines);
    case 'waiting':
      return tableOf(WAITING_COLUMNS, report.lines);
    case 'balances':
      return tableOf(BALANCE_COLUMNS, report.lines);
  }
}

const TRIAL_BALANCE_COLUMNS: Columns<TrialBalance['lines'][number]> = {
  account: (line) => line.account,
  kind: (line) => line.kind,
  class: (line) => line.class,
  currency: (line) => line.currency,
  accounts: (line) => String(line.accounts),
  debit: ({ debitMinor, currency }) => formatAmount({ amountMinor: debitMinor, currency }),
  credit: ({ creditMinor, currency }) => formatAmount({ amountMinor: creditMinor, currency }),
};

const EARNED_COLUMNS: Columns<Earned> = {
  deliveries: (line) => String(line.deliveries),
  sold: (line) => formatMinor(line.soldMinor),
  corrected: (line) => formatMinor(line.correctedMinor),
  revenue: (line) => formatMinor(line.revenueMinor),
  cost_usd: (line) => formatAmount({ amountMinor: line.costUsdE4, currency: 'USD4' }),
  cost: (line) => formatMinor(line.costMinor),
  margin: (line) => formatMinor(line.marginMinor),
  margin_percent: (line) => (line.marginBps === null ? '' : formatMinor(BigInt(line.marginBps))),
};

const DAILY_COLUMNS: Columns<Daily['lines'][number]> = {
  day: (line) => line.day,
  currency: (line) => line.currency,
  package_type: (line) => line.packageType ?? '',
  ...EARNED_COLUMNS,
};

const MERCHANT_COLUMNS: Columns<ByMerchant['lines'][number]> = {
  account: (line) => line.accountId ?? '',
  email: (line) => line.email ?? '',
  currency: (line) => line.currency,
  package_type: (line) => line.packageType ?? '',
  ...EARNED_COLUMNS,
};

const WAITING_COLUMNS: Columns<Waiting['lines'][number]> = {
  waits_for: (line) => line.waitsFor,
  currency: (line) => line.currency,
  amount: formatAmount,
  items: (line) => String(line.items),
  oldest_at: (line) => line.oldestAt.toISOString(),
};

const BALANCE_COLUMNS: Columns<Balances['lines'][number]> = {
  day: (line) => line.day,
  currency: (line) => line.currency,
  balance: (line) => formatMinor(line.balanceMinor),
  owed: (line) => formatMinor(line.owedMinor),
};

/** Of accounts newest first, of a purchase in the order of booking, by any id that leads to it. NOT_FOUND. */
export async function readLedger(
  { db }: BooksDeps,
  { id, limit }: { readonly id: string; readonly limit: number },
) {
  const accounts = await findLedgerAccounts(db, id);
  if (accounts.length > 0)
    return { isAccount: true, accounts, lines: await readAccounts(db, accounts, limit) };
  const transactionId = await findTransactionId(db, id);
  if (transactionId === undefined)
    throw new DomainError('NOT_FOUND', `No ledger account and no purchase found with the id ${id}`);
  return { isAccount: false, accounts, lines: await readTransaction(db, transactionId) };
}
