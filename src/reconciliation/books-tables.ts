/** Reports of the books as text: what a terminal or a file shows. */
import { formatAmount, formatMinor } from '../domain/money.ts';
import type { ByMerchant, Daily, Earned, Report, TrialBalance, Waiting } from './books-rules.ts';

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
