/**
 * When to read the gateway's list of charges, by the age of its ten-minute windows. docs/API.md states for
 * people what follows from it.
 */
import { HOUR_MS } from '../domain/clock.ts';
import type { PaymentTimings } from './rules.ts';

export const LIST_WINDOW_MS = 10 * 60_000;

/**
 * A charge is opened at the gateway some time after its row was written, and the clocks of two computers
 * differ.
 */
export const CLOCK_SKEW_MS = 15 * 60_000;

/** Money may come late for 72 hours after the last checkout is over; a checkout takes money for 24. */
export const MONITORED_FOR_MS = 96 * HOUR_MS;

/**
 * A hosted page is paid within minutes or not at all; two hours leave room for a gateway that reports late.
 */
export const PAYMENT_LIKELY_FOR_MS = 2 * HOUR_MS;

/** A transfer account lives 8 hours at most. */
const TRANSFERS_FOR_MS = 8 * HOUR_MS;

const CHECKOUTS_FOR_MS = 24 * HOUR_MS;

/** Closed payments are checked hourly. */
const LATE_MS = HOUR_MS;

/** How often windows are read, by their age. */
export type MonitorPace = ReturnType<typeof monitorPaceOf>;

/**
 * The first pause sets the pace: 10 s, 45 s, 4 min and 10 min at 5 s, so that what docs/API.md promises holds
 * with every event lost.
 */
export function monitorPaceOf({ pollFirstMs }: Pick<PaymentTimings, 'pollFirstMs'>) {
  return {
    /** While charges are still being opened in it. */
    youngMs: 2 * pollFirstMs,
    likelyMs: 9 * pollFirstMs,
    /** While it has a transfer account that may still be paid into. */
    transferMs: 48 * pollFirstMs,
    /** While a hosted page of it may still be paid. */
    checkoutMs: 120 * pollFirstMs,
    /** Once windows of the last two hours are read so much too late, payments are checked one by one. */
    behindMs: 12 * pollFirstMs,
  };
}

/** The start of the window that contains a time. */
export function windowOf(time: Date): Date {
  return new Date(Math.trunc(time.getTime() / LIST_WINDOW_MS) * LIST_WINDOW_MS);
}

/** How long after one reading a window is read again, by the age of its oldest charge. */
export function nextReadMs(ageMs: number, hasTransfers: boolean, pace: MonitorPace): number {
  // The youngest charge of a window is ten minutes younger.
  const isWithin = (forMs: number): boolean => ageMs < forMs + LIST_WINDOW_MS;
  if (isWithin(0)) return pace.youngMs;
  if (isWithin(PAYMENT_LIKELY_FOR_MS)) return pace.likelyMs;
  if (hasTransfers && isWithin(TRANSFERS_FOR_MS)) return pace.transferMs;
  return isWithin(CHECKOUTS_FOR_MS) ? pace.checkoutMs : LATE_MS;
}
