/** What the reports of the books say. */
import type { AccountClass, LedgerKind } from '../ledger/chart-of-accounts.ts';
import type { PackageType } from '../domain/states.ts';

export interface TrialBalanceLine {
  /** All wallets of a currency together: `wallet:NGN`. */
  readonly account: string;
  readonly kind: LedgerKind;
  readonly class: AccountClass;
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

/** What was earned: of one line, or of all lines in a currency. */
export interface Earned {
  readonly currency: string;
  readonly deliveries: number;
  readonly soldMinor: bigint;
  /** What was taken off, or put back on, after the sale. */
  readonly correctedMinor: bigint;
  /** Sold and corrected. */
  readonly revenueMinor: bigint;
  /** As the supplier was paid, US dollars × 10,000. */
  readonly costUsdE4: bigint;
  /** The same at the rates that the sales were made at, half up once a line; a total is the sum of its lines. */
  readonly costMinor: bigint;
  /** Revenue less cost; the gateway's fees are not in the ledger. */
  readonly marginMinor: bigint;
  /** The margin in hundredths of a percent of the revenue, half up; null without revenue. */
  readonly marginBps: number | null;
}

export interface DailyLine extends Earned {
  /** UTC, `2026-11-21`. */
  readonly day: string;
  /** Null: booked on revenue without a purchase. */
  readonly packageType: PackageType | null;
}

export interface Daily {
  readonly report: 'daily';
  readonly lines: readonly DailyLine[];
  /** By currency. */
  readonly totals: readonly Earned[];
}

export interface MerchantLine extends Earned {
  /** Null: booked on revenue for nobody's purchase or funding. */
  readonly accountId: string | null;
  readonly email: string | null;
  readonly packageType: PackageType | null;
}

export interface ByMerchant {
  readonly report: 'merchants';
  readonly lines: readonly MerchantLine[];
  /** By currency. */
  readonly totals: readonly Earned[];
}

/** What money waits for. */
export const WAITS_FOR = [
  'delivery',
  'refund',
  'dispute',
  'claim',
  'payout-by-gateway',
  'gateway-to-confirm',
] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

export interface WaitingLine {
  readonly waitsFor: WaitsFor;
  readonly currency: string;
  readonly amountMinor: bigint;
  /** Purchases and fundings; refunds by themselves. */
  readonly items: number;
  readonly oldestAt: Date;
}

export interface Waiting {
  readonly report: 'waiting';
  readonly lines: readonly WaitingLine[];
}

export type Report = TrialBalance | Daily | ByMerchant | Waiting;
