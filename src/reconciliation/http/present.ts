import type { z } from 'zod';
import type { Daily, ByMerchant, Earned, TrialBalance, Waiting } from '../books-rules.ts';
import type { OpenDifference } from '../reconcile.ts';
import type { ReconcileSummary } from '../payment-rules.ts';
import type { Wire } from '../../platform/http/json.ts';
import type {
  dailySchema,
  differencePageSchema,
  merchantsSchema,
  reconciledSchema,
  trialBalanceSchema,
  waitingSchema,
} from './schema.ts';
import { amountJson } from '../../platform/http/answer-fields.ts';

type Json<Schema extends z.ZodType> = Wire<z.output<Schema>>;

export function presentDifference({
  id,
  amountMinor,
  firstSeenAt,
  lastSeenAt,
  ...rest
}: OpenDifference): Json<typeof differencePageSchema>['data']['items'][number] {
  return {
    ...rest,
    id: String(id),
    amount: amountJson({ amountMinor, currency: rest.currency }),
    firstSeenAt: firstSeenAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
  };
}

export function presentReconciled(run: ReconcileSummary | null): Json<typeof reconciledSchema> {
  return { success: true, data: { status: run === null ? 'nothing-to-compare' : 'done', run } };
}

export function presentTrialBalance({ lines, totals }: TrialBalance): Json<typeof trialBalanceSchema> {
  return { success: true, data: { lines: lines.map(withSides), totals: totals.map(withSides) } };
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

export function presentDaily({ lines, totals }: Daily): Json<typeof dailySchema> {
  return { success: true, data: { lines: lines.map(presentEarned), totals: totals.map(presentEarned) } };
}

export function presentByMerchant({ lines, totals }: ByMerchant): Json<typeof merchantsSchema> {
  return { success: true, data: { lines: lines.map(presentEarned), totals: totals.map(presentEarned) } };
}

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
    // Hundredths of a percent are two decimals, as minor units are.
    marginPercent: marginBps === null ? null : inCurrency(BigInt(marginBps)),
  };
}

export function presentWaiting({ lines }: Waiting): Json<typeof waitingSchema> {
  return {
    success: true,
    data: {
      lines: lines.map(({ amountMinor, oldestAt, ...line }) => ({
        ...line,
        amount: amountJson({ amountMinor, currency: line.currency }),
        oldestAt: oldestAt.toISOString(),
      })),
    },
  };
}
