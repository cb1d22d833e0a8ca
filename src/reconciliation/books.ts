/**
 * The books for finance: the trial balance, what each day and each merchant earned, and money that waits. Guarantee: every figure is a sum of
 * ledger entries, or says that it is one of rows; amounts become decimals only as text (books-tables.ts).
 */
import type {
  ByMerchant,
  Daily,
  Earned,
  Report,
  TrialBalance,
  Waiting,
  WaitingLine,
  WaitsFor,
} from './books-rules.ts';
import { csvOf } from '../domain/csv.ts';
import { balanceOn, classOf, sidesOf, type LedgerKind } from '../ledger/chart-of-accounts.ts';
import { divideHalfUp, formatAmount, formatMinor } from '../domain/money.ts';
import { readBalances, readSales, readWaiting, type Sales, type WaitingItems } from './store/books.ts';
import type { WorldDb } from '../platform/database/tables.ts';

/** From `from` on, before `to`. */
export interface BooksRange {
  readonly from: Date;
  readonly to: Date;
}

export type Books = ReturnType<typeof createBooks>;

export function createBooks({ db }: { readonly db: WorldDb }) {
  return {
    trialBalance: () => trialBalance(db),
    daily: async (range: BooksRange): Promise<Daily> => {
      const sales = await readSales(db, range, 'day');
      const lines = sales.map(({ day, packageType, ...sums }) => ({
        ...{ day: day ?? '', packageType },
        ...earnedOf(sums),
      }));
      return { report: 'daily', lines, totals: totalsOf(lines) };
    },
    byMerchant: async (range: BooksRange): Promise<ByMerchant> => {
      const sales = await readSales(db, range, 'account');
      const lines = sales.map(({ accountId, email, packageType, ...sums }) => ({
        ...{ accountId, email, packageType },
        ...earnedOf(sums),
      }));
      return { report: 'merchants', lines, totals: totalsOf(lines) };
    },
    waiting: () => waiting(db),
    toTable,
    /** RFC 4180. */
    toCsv: (report: Report): string => {
      const { columns, rows } = toTable(report);
      return csvOf(columns, rows);
    },
  };
}

async function trialBalance(db: WorldDb): Promise<TrialBalance> {
  const lines = (await readBalances(db)).map(({ account, kind, currency, accounts, creditMinor }) => ({
    account,
    kind,
    class: classOf(kind),
    currency,
    accounts,
    ...sidesOf(creditMinor),
  }));
  const totals = [...Map.groupBy(lines, (line) => line.currency)].map(([currency, own]) => {
    const debitMinor = sumOf(own, (line) => line.debitMinor);
    const creditMinor = sumOf(own, (line) => line.creditMinor);
    return { currency, debitMinor, creditMinor, isBalanced: debitMinor === creditMinor };
  });
  return { report: 'trial-balance', lines, totals };
}

/** Cost units × rate micros → minor units: 10,000 units are a dollar, a dollar is 100 of its own minor units. */
const SCALE = (10_000n * 1_000_000n) / 100n;

type SalesSums = Omit<Sales, 'day' | 'accountId' | 'email' | 'packageType'>;

function earnedOf({
  currency,
  deliveries,
  soldMinor,
  correctedMinor,
  costUsdE4,
  costScaled,
}: SalesSums): Earned {
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
      soldMinor: sumOf(own, (line) => line.soldMinor),
      correctedMinor: sumOf(own, (line) => line.correctedMinor),
      costUsdE4: sumOf(own, (line) => line.costUsdE4),
      costMinor: sumOf(own, (line) => line.costMinor),
    }),
  );
}

function withMargin(sums: Omit<Earned, 'revenueMinor' | 'marginMinor' | 'marginBps'>): Earned {
  const { currency, deliveries, soldMinor, correctedMinor, costUsdE4, costMinor } = sums;
  const revenueMinor = soldMinor + correctedMinor;
  const marginMinor = revenueMinor - costMinor;
  const marginBps =
    revenueMinor > 0n ? Number(divideAwayFromZero(marginMinor * 10_000n, revenueMinor)) : null;
  return {
    ...{ currency, deliveries, soldMinor, correctedMinor, revenueMinor, costUsdE4, costMinor },
    ...{ marginMinor, marginBps },
  };
}

/** Rounded half up, below zero half down. */
function divideAwayFromZero(numerator: bigint, denominator: bigint): bigint {
  return numerator < 0n ? -divideHalfUp(-numerator, denominator) : divideHalfUp(numerator, denominator);
}

function sumOf<T>(lines: readonly T[], amountOf: (line: T) => bigint): bigint {
  return lines.reduce((sum, line) => sum + amountOf(line), 0n);
}

async function waiting(db: WorldDb): Promise<Waiting> {
  const { holds, refunds, disputes, claims, payouts, unconfirmed } = await readWaiting(db);
  return {
    report: 'waiting',
    lines: [
      ...holds.map((one) => lineFor('delivery', 'held', one)),
      ...refunds.map((one) => lineFor('refund', 'suspense', one)),
      ...disputes.map((one) => lineFor('dispute', 'suspense', one)),
      // The other side of what suspense is for: money that we miss.
      ...claims.map((one) => lineFor('claim', 'suspense', { ...one, amountMinor: -one.amountMinor })),
      ...payouts.map((one) => lineFor('payout-by-gateway', 'gateway-clearing', one)),
      ...unconfirmed.map((one) => lineFor('gateway-to-confirm', 'evidence', one)),
    ],
  };
}

function lineFor(
  waitsFor: WaitsFor,
  kind: LedgerKind,
  { currency, amountMinor, items, oldestAt }: WaitingItems,
): WaitingLine {
  return { waitsFor, currency, amountMinor: balanceOn(kind, amountMinor), items, oldestAt };
}

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A report in columns and rows, its totals last. */
export function toTable(report: Report): Table {
  switch (report.report) {
    case 'trial-balance':
      return trialBalanceTable(report);
    case 'daily':
      return dailyTable(report);
    case 'merchants':
      return merchantsTable(report);
    case 'waiting':
      return waitingTable(report);
  }
}

function trialBalanceTable({ lines, totals }: TrialBalance): Table {
  return {
    columns: ['account', 'kind', 'class', 'currency', 'accounts', 'debit', 'credit'],
    rows: [
      ...lines.map((line) => [
        line.account,
        line.kind,
        line.class,
        line.currency,
        String(line.accounts),
        ...bothSides(line),
      ]),
      ...totals.map((total) => ['total', '', '', total.currency, '', ...bothSides(total)]),
    ],
  };
}

function bothSides({
  currency,
  debitMinor,
  creditMinor,
}: Pick<TrialBalance['totals'][number], 'currency' | 'debitMinor' | 'creditMinor'>): string[] {
  return [debitMinor, creditMinor].map((amountMinor) => formatAmount({ amountMinor, currency }));
}

const EARNED_COLUMNS = [
  'deliveries',
  'sold',
  'corrected',
  'revenue',
  'cost_usd',
  'cost',
  'margin',
  'margin_percent',
];

function earnedCells(earned: Earned): string[] {
  return [
    String(earned.deliveries),
    formatMinor(earned.soldMinor),
    formatMinor(earned.correctedMinor),
    formatMinor(earned.revenueMinor),
    formatAmount({ amountMinor: earned.costUsdE4, currency: 'USD4' }),
    formatMinor(earned.costMinor),
    formatMinor(earned.marginMinor),
    earned.marginBps === null ? '' : formatMinor(BigInt(earned.marginBps)),
  ];
}

function dailyTable({ lines, totals }: Daily): Table {
  return {
    columns: ['day', 'currency', 'package_type', ...EARNED_COLUMNS],
    rows: [
      ...lines.map((line) => [line.day, line.currency, line.packageType ?? '', ...earnedCells(line)]),
      ...totals.map((total) => ['total', total.currency, '', ...earnedCells(total)]),
    ],
  };
}

function merchantsTable({ lines, totals }: ByMerchant): Table {
  return {
    columns: ['account', 'email', 'currency', 'package_type', ...EARNED_COLUMNS],
    rows: [
      ...lines.map((line) => [
        line.accountId ?? '',
        line.email ?? '',
        line.currency,
        line.packageType ?? '',
        ...earnedCells(line),
      ]),
      ...totals.map((total) => ['total', '', total.currency, '', ...earnedCells(total)]),
    ],
  };
}

function waitingTable({ lines }: Waiting): Table {
  return {
    columns: ['waits_for', 'currency', 'amount', 'items', 'oldest_at'],
    rows: lines.map((line) => [
      line.waitsFor,
      line.currency,
      formatAmount(line),
      String(line.items),
      line.oldestAt.toISOString(),
    ]),
  };
}
