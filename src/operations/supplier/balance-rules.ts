/** How long the balance at a supplier lasts, by what is sold. Pure. */
import { DAY_MS, HOUR_MS } from '../../domain/clock.ts';

/** What was used of a balance between two moments. Payments into it are not in here. */
export interface Spent {
  readonly from: Date;
  readonly to: Date;
  readonly usdE4: bigint;
}

export interface BalanceLimits {
  /** Warned below these hours: money takes one or two bank days to arrive, and a weekend lies between. */
  readonly lowHours: number;
  /** Critical below these hours. */
  readonly criticalHours: number;
  /** Warned below this in any case, US dollars × 10,000. */
  readonly minimumUsdE4: bigint;
}

export const BALANCE_LEVELS = ['ok', 'low', 'critical'] as const;
export type BalanceLevel = (typeof BALANCE_LEVELS)[number];

/** The last day sees a steep rise, the last week a weekday that sells more. */
export const RATE_WINDOWS_MS = [DAY_MS, 7 * DAY_MS] as const;

/** US dollars × 10,000 an hour: of the last day or of the last seven, whichever is more. */
export function spentPerHour(spent: readonly Spent[], now: Date): number {
  return Math.max(0, ...RATE_WINDOWS_MS.map((windowMs) => perHourIn(spent, now.getTime(), windowMs)));
}

function perHourIn(spent: readonly Spent[], nowMs: number, windowMs: number): number {
  const firstMs = spent[0]?.from.getTime() ?? nowMs;
  const fromMs = Math.max(nowMs - windowMs, firstMs);
  // In the first hour a single sale would look like a steep rate.
  const hours = Math.max(nowMs - fromMs, HOUR_MS) / HOUR_MS;
  return spent.reduce((sum, one) => sum + Number(one.usdE4) * shareSince(one, fromMs), 0) / hours;
}

/** How much of it is after the moment, if it was spent evenly. */
function shareSince({ from, to }: Spent, sinceMs: number): number {
  const [fromMs, toMs] = [from.getTime(), to.getTime()];
  if (fromMs >= sinceMs) return 1;
  return toMs <= sinceMs ? 0 : (toMs - sinceMs) / (toMs - fromMs);
}

/** null: nothing is sold, so it lasts. 0: nothing is left. */
export function hoursLeft(availableUsdE4: bigint, perHour: number): number | null {
  if (availableUsdE4 <= 0n) return 0;
  return perHour > 0 ? Number(availableUsdE4) / perHour : null;
}

/** How much more it takes to end an alert than to raise it, so that it does not flutter at the limit. */
const MARGIN = 1.1;

/** `before`: the level until now, which is left only with a margin. */
export function balanceLevel(
  availableUsdE4: bigint,
  hours: number | null,
  { lowHours, criticalHours, minimumUsdE4 }: BalanceLimits,
  before: BalanceLevel = 'ok',
): BalanceLevel {
  const left = hours ?? Infinity;
  const margin = (level: BalanceLevel): number =>
    BALANCE_LEVELS.indexOf(before) >= BALANCE_LEVELS.indexOf(level) ? MARGIN : 1;
  if (availableUsdE4 <= 0n || left < criticalHours * margin('critical')) return 'critical';
  const isBelowMinimum = Number(availableUsdE4) < Number(minimumUsdE4) * margin('low');
  return left < lowHours * margin('low') || isBelowMinimum ? 'low' : 'ok';
}

/** A day's sales: a balance is read at least every five minutes, and no five minutes sell that much. */
const TIGHT_HOURS = 24;
/** While no rate is known: more than is sold between two reads. */
const TIGHT_PACKAGES = 200n;

/** Below this, each opening counts what is left, so that nothing is sold that will be refused. */
export function tightBelow(perHour: number, dearestUsdE4: bigint): bigint {
  const day = BigInt(Math.trunc(perHour * TIGHT_HOURS));
  const packages = dearestUsdE4 * TIGHT_PACKAGES;
  return day > packages ? day : packages;
}
