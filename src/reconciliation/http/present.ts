import { amountJson, type Data } from '../../platform/http/answer-fields.ts';
import type { Daily, ByMerchant, Earned, TrialBalance, Waiting } from '../books.ts';
import type { ListedDifference } from '../reconcile.ts';
import type {
  dailySchema,
  differencePageSchema,
  merchantsSchema,
  trialBalanceSchema,
  waitingSchema,
} from './schema.ts';

export function presentDifference({
  amountMinor,
  ...difference
}: ListedDifference): Data<typeof differencePageSchema>['items'][number] {
  return {
    ...difference,
    id: String(difference.id),
    amount: amountJson({ amountMinor, currency: difference.currency }),
  };
}

export function presentTrialBalance({ lines, totals }: TrialBalance): Data<typeof trialBalanceSchema> {
  return { lines: lines.map(withSides), totals: totals.map(withSides) };
}

function withSides<Line extends TrialBalance['totals' | 'lines'][number]>({
  debitMinor,
  creditMinor,
  ...line
}: Line) {
  const { currency } = line;
  return {
    ...line,
    debit: amountJson({ amountMinor: debitMinor, currency }),
    credit: amountJson({ amountMinor: creditMinor, currency }),
  };
}

const presentLines = <Line extends Earned, Total extends Earned>(report: {
  readonly lines: readonly Line[];
  readonly totals: readonly Total[];
}) => ({ lines: report.lines.map(presentEarned), totals: report.totals.map(presentEarned) });

export const presentDaily: (report: Daily) => Data<typeof dailySchema> = presentLines;
export const presentByMerchant: (report: ByMerchant) => Data<typeof merchantsSchema> = presentLines;

function presentEarned<Line extends Earned>({
  soldMinor,
  correctedMinor,
  revenueMinor,
  costUsdE4,
  costMinor,
  marginMinor,
  marginBps,
  ...line
}: Line) {
  const inCurrency = (amountMinor: bigint) => amountJson({ amountMinor, currency: line.currency });
  return {
    ...line,
    sold: inCurrency(soldMinor),
    corrected: inCurrency(correctedMinor),
    revenue: inCurrency(revenueMinor),
    costUsd: amountJson({ amountMinor: costUsdE4, currency: 'USD4' }),
    cost: inCurrency(costMinor),
    margin: inCurrency(marginMinor),
    // Hundredths of a percent have two decimals, as minor units do.
    marginPercent: marginBps === null ? null : inCurrency(BigInt(marginBps)),
  };
}

export function presentWaiting({ lines }: Waiting): Data<typeof waitingSchema> {
  return {
    lines: lines.map(({ amountMinor, ...line }) => ({
      ...line,
      amount: amountJson({ amountMinor, currency: line.currency }),
    })),
  };
}
