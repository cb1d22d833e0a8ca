/** The UTC days that figures are asked about. Pure. */
import { DAY_MS } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Days } from '../store/statistics.ts';

const DEFAULT_DAYS = 30;

/** The UTC day: `2026-01-31`. */
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** So many days before, where 0 is the day itself. */
export const dayBefore = (day: Date, days: number): string => dayOf(new Date(day.getTime() - days * DAY_MS));

/**
 * Both ends included; the last 30 days without any. Throws VALIDATION_ERROR for more than `most`, or for
 * `from` after `to`.
 */
export function daysOf({ from, to }: Partial<Days>, now: Date, most: number): Days {
  const end = to ?? (from === undefined ? dayOf(now) : laterDay(from, dayOf(now)));
  const start = from ?? dayBefore(new Date(end), DEFAULT_DAYS - 1);
  const count = (Date.parse(end) - Date.parse(start)) / DAY_MS + 1;
  if (count < 1) throw badDays('from: must not be after to');
  if (count > most) throw badDays(`from: must be at most ${most - 1} days before to`);
  return { from: start, to: end };
}

/** Every day of them, oldest first. */
export function daysBetween({ from, to }: Days): string[] {
  const count = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  return Array.from({ length: count }, (_, index) => dayBefore(new Date(from), -index));
}

const laterDay = (a: string, b: string): string => (a > b ? a : b);

function badDays(problem: string): DomainError {
  return new DomainError('VALIDATION_ERROR', 'Invalid request', { details: problem });
}
