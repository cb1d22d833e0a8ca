/**
 * When a webhook that was not answered with 200 is sent again. Guarantee: pure.
 */

/**
 * `test`: hourly for 10 hours, as the documentation says of test mode; `test-72h`: hourly for 72 hours, as one description of it has it;
 * `live`: four tries three minutes apart, then hourly for 72 hours.
 */
export const RETRY_SCHEDULES = ['test', 'test-72h', 'live'] as const;
export type RetrySchedule = (typeof RETRY_SCHEDULES)[number];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const QUICK_TRIES = 4;

/** How long after the try number `tries` (from 1) the next one follows; null: that was the last. */
export function retryDelayMs(schedule: RetrySchedule, tries: number): number | null {
  if (schedule === 'live' && tries < QUICK_TRIES) return 3 * MINUTE_MS;
  const hourlyTries = schedule === 'live' ? tries - QUICK_TRIES + 1 : tries;
  return hourlyTries <= (schedule === 'test' ? 10 : 72) ? HOUR_MS : null;
}
