/**
 * What the values of options look like: `12.50`, `2h`, `25%`. Each schema says what it wants in its message.
 */
import { z } from 'zod';
import { parseRateMicros } from '../catalogue/pricing.ts';
import { parseMinor } from '../domain/money.ts';
import { MAX_REASON_CHARACTERS, MIN_REASON_CHARACTERS } from '../domain/reasons.ts';
import { option, toggle, UsageMistake } from '../platform/command.ts';

/** Far above any payment or balance, and well within the column's type. */
const MAX_AMOUNT_MINOR = 10n ** 15n;

export const text = (max: number) => z.string().trim().min(1).max(max);

export const BY = option(text(200), 'your name', 'person');
export const REASON = option(
  z
    .string()
    .trim()
    .refine(({ length }) => length >= MIN_REASON_CHARACTERS && length <= MAX_REASON_CHARACTERS, {
      message: `${MIN_REASON_CHARACTERS} to ${MAX_REASON_CHARACTERS} characters are needed`,
    }),
  'why, for the record',
  'text',
);
export const DRY_RUN = toggle('only shows what would be done');
export const YES = toggle('does not ask first');
export const CSV = toggle('prints CSV for a spreadsheet');

/** `read` answers undefined where the text is no such value. */
function parsed<T>(read: (value: string) => T | undefined, message: string) {
  return z.string().transform((value, context): T => {
    const result = read(value);
    if (result !== undefined) return result;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

/** In minor units. */
export const amount = parsed((value) => {
  const minor = parseMinor(value);
  return minor !== undefined && minor > 0n && minor <= MAX_AMOUNT_MINOR ? minor : undefined;
}, 'must be an amount such as 1250.00');

export const currency = z.string().regex(/^[A-Z]{3}$/, 'must be a code such as NGN');

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** In seconds. */
export const duration = parsed((value) => {
  const [, digits = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(value) ?? [];
  return digits === '' ? undefined : Number(digits) * (SECONDS[unit] ?? 0);
}, 'must be a duration such as 90s, 30m, 2h or 3d');

/** Some of the known values, separated by commas. */
export const listOf = <T extends string>(known: readonly T[]) =>
  parsed(
    (value) => {
      const found = value.split(',').map((item) => known.find((one) => one === item.trim()));
      return found.includes(undefined) ? undefined : found.filter((one) => one !== undefined);
    },
    `must be one or more of ${known.join(', ')}, separated by commas`,
  );

export const percentage = parsed((value) => {
  const percent = value.replace(/%$/, '');
  const bps = parseMinor(percent);
  return bps !== undefined && bps >= 0n && bps <= 100_000n ? Number(percent) : undefined;
}, 'must be a percentage such as 25 or 2.5, at most 1000');

/** Units of the currency for one US dollar; `config` is null. */
export const rate = parsed<number | null>(
  (value) => (value === 'config' ? null : parseRateMicros(value) === undefined ? undefined : Number(value)),
  'must be a rate such as 1620.50, or config',
);

/** UTC. */
export const day = z.iso.date('must be a day such as 2026-11-21');

/** A day begins at midnight UTC. */
export const time = z
  .union(
    [z.iso.date(), z.iso.datetime({ offset: true })],
    'must be a day such as 2026-11-21, or an ISO 8601 time',
  )
  .transform((value) => new Date(value));

export const count = (max: number, byDefault: number) =>
  z.coerce.number('must be a whole number').int().min(1).max(max).default(byDefault);

/** Of something that a list numbers, as an argument. */
export function rowNumber(value: string): string {
  if (/^\d{1,18}$/.test(value)) return value;
  throw new UsageMistake(`Not a number: ${value}`);
}
