import type { z } from 'zod';
import { amountJson } from '../../platform/http/answer-fields.ts';
import type { Wire } from '../../platform/http/json.ts';
import type { Daily, ByMerchant, Earned, LedgerView, TrialBalance, Waiting } from '../books.ts';
import type { ListedDifference } from '../reconcile.ts';
import type { LedgerLine } from '../store/ledger.ts';
import type {
  dailySchema,
  differencePageSchema,
  ledgerSchema,
  merchantsSchema,
  trialBalanceSchema,
  waitingSchema,
} from './schema.ts';

type Data<Schema extends z.ZodType<{ data: unknown }>> = Wire<z.output<Schema>>['data'];

export function presentDifference({
  amountMinor,
  ...difference
}: ListedDifference): Data<typeof differencePageSchema>['items'][number] {
  return {
    ...difference,
    id: String(difference.id),
    amount: amountJson({ amountMinor, currency: difference.currency }),
    firstSeenAt: difference.firstSeenAt.toISOString(),
    lastSeenAt: difference.lastSeenAt.toISOString(),
    closedAt: difference.closedAt?.toISOString() ?? null,
  };
}

export function presentTrialBalance({ lines, totals }: TrialBalance): Data<typeof trialBalanceSchema> {
  return { lines: lines.map(withSides), totals: totals.map(withSides) };
}

function withSides<Line extends Pick<LedgerLine, 'currency' | 'debitMinor' | 'creditMinor'>>({
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

export const presentLedger = ({ lines, ...view }: LedgerView): Data<typeof ledgerSchema> => ({
  ...view,
  accounts: [...view.accounts],
  lines: lines.map(({ at, balanceMinor, ...line }) => ({
    ...withSides(line),
    at: at.toISOString(),
    balance:
      balanceMinor === null ? null : amountJson({ amountMinor: balanceMinor, currency: line.currency }),
  })),
});

export function presentDaily({ lines, totals }: Daily): Data<typeof dailySchema> {
  return { lines: lines.map(presentEarned), totals: totals.map(presentEarned) };
}

export function presentByMerchant({ lines, totals }: ByMerchant): Data<typeof merchantsSchema> {
  return { lines: lines.map(presentEarned), totals: totals.map(presentEarned) };
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
    // Hundredths of a percent have two decimals, as minor units do.
    marginPercent: marginBps === null ? null : inCurrency(BigInt(marginBps)),
  };
}

export function presentWaiting({ lines }: Waiting): Data<typeof waitingSchema> {
  return {
    lines: lines.map(({ amountMinor, oldestAt, ...line }) => ({
      ...line,
      amount: amountJson({ amountMinor, currency: line.currency }),
      oldestAt: oldestAt.toISOString(),
    })),
  };
}
