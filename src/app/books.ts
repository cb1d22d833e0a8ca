/**
 * The books for finance: the trial balance, what each day earned, and money that waits. Guarantee: every figure is a sum of ledger entries, or
 * says that it is one of rows; amounts become decimals only as text.
 */
import { csvOf } from '../domain/csv.ts';
import { divideHalfUp, formatMinor } from '../domain/money.ts';
import type { PackageType } from '../domain/states.ts';
import {
  readBalances,
  readDailySales,
  readWaiting,
  type DailySales,
  type WaitingItems,
} from '../store/books.ts';
import type { WorldDb } from '../store/tables.ts';

export interface TrialBalanceLine {
  /** All wallets of a currency together: `wallet:NGN`. */
  readonly account: string;
  readonly kind: string;
  readonly currency: string;
  /** How many ledger accounts the line is. */
  readonly accounts: number;
  readonly debitMinor: bigint;
  readonly creditMinor: bigint;
}

export interface TrialBalance {
  readonly report: 'trial-balance';
  readonly lines: readonly TrialBalanceLine[];
  readonly totals: readonly {
    readonly currency: string;
    readonly debitMinor: bigint;
    readonly creditMinor: bigint;
    /** Debit and credit are one amount. */
    readonly isBalanced: boolean;
  }[];
}

export interface DailyLine {
  /** UTC, `2026-11-21`. */
  readonly day: string;
  readonly currency: string;
  /** Null: booked on revenue without a purchase. */
  readonly packageType: PackageType | null;
  readonly deliveries: number;
  readonly soldMinor: bigint;
  /** What was taken off, or put back on, after the sale. */
  readonly correctedMinor: bigint;
  /** Sold and corrected. */
  readonly revenueMinor: bigint;
  /** As the supplier was paid, US dollars × 10,000. */
  readonly costUsdE4: bigint;
  /** The same at the rates that the sales were made at, half up once a line. */
  readonly costMinor: bigint;
  /** Revenue less cost; the gateway's fees are not in the ledger. */
  readonly marginMinor: bigint;
}

export interface Daily {
  readonly report: 'daily';
  readonly lines: readonly DailyLine[];
}

/** What money waits for. The last three are what the ledger has, without counting items. */
export type WaitsFor =
  'delivery' | 'refund' | 'claims-and-disputes' | 'payout-by-gateway' | 'gateway-to-confirm';

export interface WaitingLine {
  readonly waitsFor: WaitsFor;
  readonly currency: string;
  readonly amountMinor: bigint;
  readonly items: number | null;
  readonly oldestAt: Date | null;
}

export interface Waiting {
  readonly report: 'waiting';
  readonly lines: readonly WaitingLine[];
}

export type Report = TrialBalance | Daily | Waiting;

/** A report as text: what a terminal or a file shows. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Books {
  trialBalance(): Promise<TrialBalance>;
  /** What was booked in [from, to). */
  daily(range: { readonly from: Date; readonly to: Date }): Promise<Daily>;
  waiting(): Promise<Waiting>;
  toTable(report: Report): Table;
  /** RFC 4180. */
  toCsv(report: Report): string;
}

export function createBooks({ db }: { readonly db: WorldDb }): Books {
  return {
    trialBalance: () => trialBalance(db),
    daily: async (range) => ({
      report: 'daily',
      lines: (await readDailySales(db, range)).map(toDailyLine),
    }),
    waiting: () => waiting(db),
    toTable,
    toCsv: (report) => {
      const { columns, rows } = toTable(report);
      return csvOf(columns, rows);
    },
  };
}

async function trialBalance(db: WorldDb): Promise<TrialBalance> {
  const lines = (await readBalances(db)).map(({ account, kind, currency, accounts, balanceMinor }) => ({
    account,
    kind,
    currency,
    accounts,
    debitMinor: balanceMinor < 0n ? -balanceMinor : 0n,
    creditMinor: balanceMinor > 0n ? balanceMinor : 0n,
  }));
  const totals = [...Map.groupBy(lines, (line) => line.currency)].map(([currency, own]) => {
    const debitMinor = own.reduce((sum, line) => sum + line.debitMinor, 0n);
    const creditMinor = own.reduce((sum, line) => sum + line.creditMinor, 0n);
    return { currency, debitMinor, creditMinor, isBalanced: debitMinor === creditMinor };
  });
  return { report: 'trial-balance', lines, totals };
}

/** Cost units × rate micros → minor units: 10,000 units are a dollar, a dollar is 100 of its own minor units. */
const SCALE = (10_000n * 1_000_000n) / 100n;

function toDailyLine(sales: DailySales): DailyLine {
  const { day, currency, packageType, deliveries, soldMinor, correctedMinor, costUsdE4, costScaled } = sales;
  const revenueMinor = soldMinor + correctedMinor;
  const costMinor = costScaled < 0n ? -divideHalfUp(-costScaled, SCALE) : divideHalfUp(costScaled, SCALE);
  return {
    day,
    currency,
    packageType,
    deliveries,
    soldMinor,
    correctedMinor,
    revenueMinor,
    costUsdE4,
    costMinor,
    marginMinor: revenueMinor - costMinor,
  };
}

async function waiting(db: WorldDb): Promise<Waiting> {
  const { holds, refunds, balances } = await readWaiting(db);
  const refundsIn = new Map(refunds.map((one) => [one.currency, one.amountMinor]));
  const ofKind = (kind: string) => balances.filter((one) => one.kind === kind && one.balanceMinor !== 0n);
  const booked = (waitsFor: WaitsFor, currency: string, amountMinor: bigint): WaitingLine => ({
    waitsFor,
    currency,
    amountMinor,
    items: null,
    oldestAt: null,
  });
  return {
    report: 'waiting',
    lines: [
      ...holds.map((one) => counted('delivery', one)),
      ...refunds.map((one) => counted('refund', one)),
      // Refunds wait in suspense; the rest of it is claims (below zero) and money at risk.
      ...balances
        .filter((one) => one.kind === 'suspense')
        .map(({ currency, balanceMinor }) =>
          booked('claims-and-disputes', currency, balanceMinor - (refundsIn.get(currency) ?? 0n)),
        )
        .filter((line) => line.amountMinor !== 0n),
      ...ofKind('gateway-clearing').map(({ currency, balanceMinor }) =>
        booked('payout-by-gateway', currency, -balanceMinor),
      ),
      ...ofKind('evidence').map(({ currency, balanceMinor }) =>
        booked('gateway-to-confirm', currency, -balanceMinor),
      ),
    ],
  };
}

function counted(waitsFor: WaitsFor, { currency, amountMinor, items, oldestAt }: WaitingItems): WaitingLine {
  return { waitsFor, currency, amountMinor, items, oldestAt };
}

function toTable(report: Report): Table {
  switch (report.report) {
    case 'trial-balance':
      return trialBalanceTable(report);
    case 'daily':
      return dailyTable(report);
    case 'waiting':
      return waitingTable(report);
  }
}

function trialBalanceTable({ lines, totals }: TrialBalance): Table {
  return {
    columns: ['account', 'kind', 'currency', 'accounts', 'debit', 'credit'],
    rows: [
      ...lines.map((line) => [
        line.account,
        line.kind,
        line.currency,
        String(line.accounts),
        decimalOf(line.debitMinor, line.currency),
        decimalOf(line.creditMinor, line.currency),
      ]),
      ...totals.map(({ currency, debitMinor, creditMinor }) => [
        'total',
        '',
        currency,
        '',
        decimalOf(debitMinor, currency),
        decimalOf(creditMinor, currency),
      ]),
    ],
  };
}

const DAILY_COLUMNS = [
  'day',
  'currency',
  'package_type',
  'deliveries',
  'sold',
  'corrected',
  'revenue',
  'cost_usd',
  'cost',
  'margin',
];

function dailyTable({ lines }: Daily): Table {
  return {
    columns: DAILY_COLUMNS,
    rows: lines.map((line) => [
      line.day,
      line.currency,
      line.packageType ?? '',
      String(line.deliveries),
      formatMinor(line.soldMinor),
      formatMinor(line.correctedMinor),
      formatMinor(line.revenueMinor),
      decimalOf(line.costUsdE4, 'USD4'),
      formatMinor(line.costMinor),
      formatMinor(line.marginMinor),
    ]),
  };
}

function waitingTable({ lines }: Waiting): Table {
  return {
    columns: ['waits_for', 'currency', 'amount', 'items', 'oldest_at'],
    rows: lines.map((line) => [
      line.waitsFor,
      line.currency,
      decimalOf(line.amountMinor, line.currency),
      line.items === null ? '' : String(line.items),
      line.oldestAt?.toISOString() ?? '',
    ]),
  };
}

/** An amount as a decimal, exactly: `USD4` has four places, every other currency two. */
export function decimalOf(amountMinor: bigint, currency: string): string {
  if (currency !== 'USD4') return formatMinor(amountMinor);
  const digits = (amountMinor < 0n ? -amountMinor : amountMinor).toString().padStart(5, '0');
  return `${amountMinor < 0n ? '-' : ''}${digits.slice(0, -4)}.${digits.slice(-4)}`;
}
