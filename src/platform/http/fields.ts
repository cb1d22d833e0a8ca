/**
 * Building blocks of request schemas. Each makes a zod schema with messages a caller can act on and the
 * matching OpenAPI words, from the same numbers, so that reference and behaviour cannot differ. Messages
 * never repeat what the caller sent.
 */
import { deceivingCharacter, searchText } from 'simway-client/search-text.ts';
import { z } from 'zod';
import type { ErrorCode } from '../../domain/errors.ts';
import { isId, makeId, type IdKind } from '../../domain/ids.ts';
import { formatMinor, parseMinor } from '../../domain/money.ts';
import { MAX_REASON_CHARACTERS, MIN_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { isJsonNumber, type JsonNumber } from './json.ts';
import type { PathParameter } from './route.ts';

// C0, DEL and C1. Postgres refuses NUL, and none of our values needs the others.
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;

/** Whether a text is whole Unicode without control characters, and so may travel to SQL and into logs. */
export function isCleanText(text: string): boolean {
  return !CONTROL_CHARACTERS.test(text) && text.isWellFormed();
}

export function missingOr(message: string): (issue: { readonly input?: unknown }) => string {
  return (issue) => (issue.input === undefined ? 'is required' : message);
}

/** A text of 1 to `max` UTF-16 units. */
export function textField(options: {
  readonly max: number;
  readonly description: string;
  readonly example?: string | undefined;
}) {
  const { max, ...words } = options;
  return z
    .string({ error: missingOr('must be a string') })
    .min(1, 'must not be empty')
    .max(max, `must be at most ${max} characters long`)
    .refine(isCleanText, 'must not contain control characters or broken Unicode')
    .meta(words);
}

/** A name or a reference, which people compare by eye: no character in it is hidden or broken. */
export const nameTextField = (options: Parameters<typeof textField>[0]) =>
  textField(options).refine(
    (text) => deceivingCharacter(text) === undefined,
    'must not contain invisible or direction-changing characters, or U+FFFD',
  );

/** What is searched for: a text, as `searchText` cleans what people paste. */
export const soughtField = (options: Parameters<typeof textField>[0]) =>
  textField(options)
    .transform(searchText)
    .refine((text) => text !== '', 'must not be empty');

const TOO_SHORT_A_REASON = `must have at least ${MIN_REASON_CHARACTERS} characters`;

/** Why somebody did something. */
export const reasonField = (example?: string, description = 'Why: kept on record') =>
  textField({ max: MAX_REASON_CHARACTERS, description, example })
    .min(MIN_REASON_CHARACTERS, TOO_SHORT_A_REASON)
    // Blanks say nothing.
    .refine((text) => text.trim().length >= MIN_REASON_CHARACTERS, TOO_SHORT_A_REASON);

/** One of a few words, exactly as written. */
export function choiceField<const Values extends readonly [string, ...string[]]>(
  values: Values,
  words: { readonly description: string; readonly example?: Values[number] },
) {
  return z.enum(values, { error: missingOr(`must be one of ${values.join(', ')}`) }).meta(words);
}

/** A whole number in a query string: digits only, within bounds. */
export function wholeNumberField(options: {
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
  readonly description: string;
}) {
  const { min, max, fallback, description } = options;
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string(message)
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .default(fallback)
    .meta({ type: 'integer', minimum: min, maximum: max, default: fallback, description });
}

/** A moment: ISO 8601 with a zone, in years that any database can keep. */
export function timeField(words: { readonly description: string }) {
  return z.iso
    .datetime({ offset: true, error: missingOr('must be a time such as 2026-01-31T09:30:00Z') })
    .transform((text) => new Date(text))
    .refine(
      (time) => time.getUTCFullYear() >= 2000 && time.getUTCFullYear() <= 9999,
      'must be in the years 2000 to 9999',
    )
    .meta({ ...words, type: 'string', format: 'date-time', example: '2026-01-31T09:30:00Z' });
}

/** A calendar day, kept as its text. */
export function dayField(words: { readonly description: string }) {
  const message = 'must be a day such as 2026-01-31, in the years 2000 to 9999';
  return z.iso
    .date({ error: missingOr(message) })
    .refine((day) => day >= '2000-01-01', message)
    .meta({ ...words, type: 'string', format: 'date', example: '2026-01-31' });
}

/**
 * An amount with at most two decimals, in minor units from its own digits; `1e1` and `10.000` are no amounts.
 */
export function amountField(options: {
  readonly minMinor: bigint;
  readonly maxMinor: bigint;
  readonly description: string;
  readonly example: number;
}) {
  const { minMinor, maxMinor, ...words } = options;
  const [min, max] = [formatMinor(minMinor), formatMinor(maxMinor)];
  const message = `must be a number from ${min} to ${max} with at most two decimals`;
  return z
    .custom<JsonNumber>(isJsonNumber, { error: missingOr(message) })
    .transform((literal, check) => {
      const amountMinor = parseMinor(literal.rawJSON);
      if (amountMinor !== undefined && amountMinor >= minMinor && amountMinor <= maxMinor) return amountMinor;
      check.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ type: 'number', minimum: Number(min), maximum: Number(max), ...words });
}

/** A whole number in a JSON body, written in digits only. */
export function countField(options: {
  readonly min: number;
  readonly max: number;
  readonly description: string;
  readonly example: number;
}) {
  const { min, max, ...words } = options;
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .custom<JsonNumber>(isJsonNumber, { error: missingOr(message) })
    .transform((literal, check) => {
      const count = /^\d{1,15}$/.test(literal.rawJSON) ? Number(literal.rawJSON) : Number.NaN;
      if (count >= min && count <= max) return count;
      check.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ type: 'integer', minimum: min, maximum: max, ...words });
}

/** An ISO 4217 code as callers write it; whether we hold a rate for it is decided later. */
export function currencyField(words: { readonly description: string }) {
  return z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters')
    .default('USD')
    .meta({ ...words, example: 'NGN', pattern: '^[A-Z]{3}$' });
}

/** One of our ids, in a path. */
export const idParameter = (
  kind: IdKind,
  description: string,
  message: string,
  code: ErrorCode = 'NOT_FOUND',
  exampleHex = '6f9619ff8b864d0191f1c2d3e4f5a6b7',
): PathParameter => ({
  description,
  example: makeId(kind, exampleHex),
  isPossible: (text) => isId(kind, text),
  notFound: { code, message },
});

/** The fields of a thing that a request may change: one of them at least. */
export const changesBody = <Shape extends z.ZodRawShape>(id: string, shape: Shape) => {
  const names = Object.keys(shape);
  return z
    .object(shape)
    .refine((body) => Object.values<unknown>(body).some((value) => value !== undefined), {
      message: `must hold ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`,
    })
    .meta({ id });
};
