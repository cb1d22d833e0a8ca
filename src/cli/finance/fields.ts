/** The shapes that flags of finance commands come in. Money is typed as a decimal, a share as a percentage, a time in words. */
import { z } from 'zod';
import { parseMinor } from '../../domain/money.ts';
import { parseRateMicros } from '../../catalogue/pricing.ts';
import { STUCK_CLASSES, type StuckClass } from '../../operations/stuck-rules.ts';

/** Far more than any payment is, and well within what a column takes. */
const MOST_MINOR = 10n ** 15n;

export const text = (max: number) => z.string().trim().min(1).max(max);

/** On every move: who, and why. */
export const WHO = { by: text(200), reason: z.string().trim().min(3).max(500) };

/** `12.50` → minor units. */
export const amount = z.string().transform((value, context) => {
  const minor = parseMinor(value);
  if (minor === undefined || minor <= 0n || minor > MOST_MINOR) {
    context.addIssue({ code: 'custom', message: 'takes an amount such as 1250.00' });
    return z.NEVER;
  }
  return minor;
});

export const currency = z.string().regex(/^[A-Z]{3}$/, 'takes a code such as NGN');

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `90s`, `30m`, `2h`, `3d` → seconds. */
export const duration = z.string().transform((value, context) => {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(value) ?? [];
  const seconds = Number(count) * (SECONDS[unit] ?? Number.NaN);
  if (count === '' || !Number.isSafeInteger(seconds)) {
    context.addIssue({ code: 'custom', message: 'takes a time such as 90s, 30m, 2h or 3d' });
    return z.NEVER;
  }
  return seconds;
});

/** One class, or several by commas. */
export const classes = z.string().transform((value, context): StuckClass[] => {
  const named = value.split(',').map((name) => name.trim());
  const known = named.map((name) => STUCK_CLASSES.find((one) => one === name));
  if (known.includes(undefined)) {
    context.addIssue({ code: 'custom', message: `takes ${STUCK_CLASSES.join(', ')}` });
    return z.NEVER;
  }
  return known.filter((one) => one !== undefined);
});

/** `25` or `25.5%` → hundredths of a percent. */
export const percentage = z.string().transform((value, context) => {
  const bps = parseMinor(value.replace(/%$/, ''));
  if (bps === undefined || bps < 0n || bps > 100_000n) {
    context.addIssue({ code: 'custom', message: 'takes a percentage such as 25 or 2.5, at most 1000' });
    return z.NEVER;
  }
  return Number(bps);
});

/** `1620.50` → units of the currency for a dollar × 1,000,000; `config` → null. */
export const rate = z.string().transform((value, context) => {
  if (value === 'config') return null;
  const micros = parseRateMicros(value);
  if (micros === undefined) {
    context.addIssue({ code: 'custom', message: 'takes a rate such as 1620.50, or config' });
    return z.NEVER;
  }
  return micros;
});

/** A day or a moment; days begin at midnight UTC. */
export const time = z
  .union(
    [z.iso.date(), z.iso.datetime({ offset: true })],
    'takes a day such as 2026-11-21, or an ISO 8601 time',
  )
  .transform((value) => new Date(value));

export const count = (most: number, fallback: number) =>
  z.coerce.number('takes a whole number').int().min(1).max(most).default(fallback);

/** An id in a list of the database's own making. */
export const rowId = z
  .string()
  .regex(/^\d{1,18}$/, 'takes a number')
  .transform((value) => BigInt(value));
