/** Differences and the books → the documented shapes. Pure; amounts become decimals only as text. */
import type { z } from 'zod';
import type { ByMerchant, Daily, Earned, TrialBalance, Waiting } from '../books-rules.ts';
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

type DifferenceJson = Wire<z.output<typeof differencePageSchema>>['data']['items'][number];

export function presentDifference(difference: OpenDifference): DifferenceJson {
  const { amountMinor, currency } = difference;
  return {
    id: String(difference.id),
    kind: difference.kind,
    subject: difference.subject,
    transactionId: difference.transactionId,
    amount: amountJson({ amountMinor, currency }),
    currency,
    ours: difference.ours,
    theirs: difference.theirs,
    firstSeenAt: difference.firstSeenAt.toISOString(),
    lastSeenAt: difference.lastSeenAt.toISOString(),
  };
}

export function presentReconciled(summary: ReconcileSummary | null): Wire<z.output<typeof reconciledSchema>> {
  if (summary === null) return { success: true, data: { status: 'nothing-to-compare', run: null } };
  const { runId, from, to, compared, opened, closed, open } = summary;
  const kinds = open.map(({ kind, count }) => ({ kind, count }));
  const run = { runId, from, to, compared, opened, closed, open: kinds };
  return { success: true, data: { status: 'done', run } };
}

export function presentTrialBalance({
  lines,
  totals,
}: TrialBalance): Wire<z.output<typeof trialBalanceSchema>> {
  return {
    success: true,
    data: {
      lines: lines.map((line) => ({
        account: line.account,
        kind: line.kind,
        class: line.class,
        currency: line.currency,
        accounts: line.accounts,
        ...bothSides(line),
      })),
      totals: totals.map((total) => ({
        currency: total.currency,
        ...bothSides(total),
        isBalanced: total.isBalanced,
      })),
    },
  };
}

function bothSides({
  currency,
  debitMinor,
  creditMinor,
}: {
  readonly currency: string;
  readonly debitMinor: bigint;
  readonly creditMinor: bigint;
}) {
  return {
    debit: amountJson({ amountMinor: debitMinor, currency }),
    credit: amountJson({ amountMinor: creditMinor, currency }),
  };
}

export function presentDaily({ lines, totals }: Daily): Wire<z.output<typeof dailySchema>> {
  return {
    success: true,
    data: {
      lines: lines.map((line) => ({ day: line.day, packageType: line.packageType, ...earned(line) })),
      totals: totals.map(earned),
    },
  };
}

export function presentByMerchant({ lines, totals }: ByMerchant): Wire<z.output<typeof merchantsSchema>> {
  return {
    success: true,
    data: {
      lines: lines.map((line) => ({
        accountId: line.accountId,
        email: line.email,
        packageType: line.packageType,
        ...earned(line),
      })),
      totals: totals.map(earned),
    },
  };
}

function earned(line: Earned) {
  const inCurrency = (amountMinor: bigint) => amountJson({ amountMinor, currency: line.currency });
  return {
    currency: line.currency,
    deliveries: line.deliveries,
    sold: inCurrency(line.soldMinor),
    corrected: inCurrency(line.correctedMinor),
    revenue: inCurrency(line.revenueMinor),
    costUsd: amountJson({ amountMinor: line.costUsdE4, currency: 'USD4' }),
    cost: inCurrency(line.costMinor),
    margin: inCurrency(line.marginMinor),
    // Hundredths of a percent are two decimals, as minor units are.
    marginPercent: line.marginBps === null ? null : inCurrency(BigInt(line.marginBps)),
  };
}

export function presentWaiting({ lines }: Waiting): Wire<z.output<typeof waitingSchema>> {
  return {
    success: true,
    data: {
      lines: lines.map(({ waitsFor, amountMinor, currency, items, oldestAt }) => ({
        waitsFor,
        amount: amountJson({ amountMinor, currency }),
        currency,
        items,
        oldestAt: oldestAt.toISOString(),
      })),
    },
  };
}
