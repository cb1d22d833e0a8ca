/**
 * How the gateway's list is watched for money that no event told of: by windows of ten minutes, after the time that their charges were opened at.
 * The younger a window, the more often it is read. Pure; docs/OPERATIONS.md says what it costs.
 */
import type { PaymentTimings } from './rules.ts';

export const WINDOW_MS = 10 * 60_000;

/** A charge is opened at the gateway some time after its row was written, while the opening is tried, and the clocks of two computers differ. */
export const CLOCK_SKEW_MS = 15 * 60_000;
const HOUR_MS = 3_600_000;
/** decisions.md: money may come late for 72 hours after the last checkout is over, which takes money for 24. */
export const MONITORED_FOR_MS = 96 * HOUR_MS;
/** A hosted page is paid within minutes or not at all, nearly always. */
export const LIKELY_FOR_MS = 2 * HOUR_MS;
/** A transfer account lives 8 hours at most. */
const TRANSFERS_FOR_MS = 8 * HOUR_MS;
const CHECKOUTS_FOR_MS = 24 * HOUR_MS;
/** decisions.md: what is closed is asked about hourly. */
const LATE_MS = HOUR_MS;

/** How often windows are read, by their age. */
export interface MonitorPace {
  /** While charges are still being opened in it. */
  readonly youngMs: number;
  readonly likelyMs: number;
  /** While it has a transfer account that may still be paid into. */
  readonly transferMs: number;
  /** While a hosted page of it may still be paid. */
  readonly checkoutMs: number;
  /** The list is away, or too slow, once windows of the last two hours are read so much too late: payments are then looked at one by one. */
  readonly behindMs: number;
}

/** The first pause sets the pace: 10 s, 45 s, 4 min and 10 min at 5 s, so that what docs/API.md promises holds with every event lost. */
export function monitorPaceOf({ pollFirstMs }: Pick<PaymentTimings, 'pollFirstMs'>): MonitorPace {
  return {
    youngMs: 2 * pollFirstMs,
    likelyMs: 9 * pollFirstMs,
    transferMs: 48 * pollFirstMs,
    checkoutMs: 120 * pollFirstMs,
    behindMs: 12 * pollFirstMs,
  };
}

/** The start of the window that a time falls into. */
export function windowOf(time: Date): Date {
  return new Date(Math.trunc(time.getTime() / WINDOW_MS) * WINDOW_MS);
}

/** How long after one reading a window is read again, by the age of its oldest charge. */
export function nextReadMs(ageMs: number, hasTransfers: boolean, pace: MonitorPace): number {
  // The youngest charge of a window is ten minutes younger.
  const isWithin = (forMs: number): boolean => ageMs < forMs + WINDOW_MS;
  if (isWithin(0)) return pace.youngMs;
  if (isWithin(LIKELY_FOR_MS)) return pace.likelyMs;
  if (hasTransfers && isWithin(TRANSFERS_FOR_MS)) return pace.transferMs;
  return isWithin(CHECKOUTS_FOR_MS) ? pace.checkoutMs : LATE_MS;
}
