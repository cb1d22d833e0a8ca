/**
 * Reading a request's parameters with the vendor's error codes: 000105 absent, 000106 null, 000107 wrong
 * length, 200008 wrong type. Where a parameter is optional, null and an empty string count as absent, as
 * clients send them.
 */
import { z } from 'zod';
import { SupplierError } from './errors.ts';

export type Params = Record<string, unknown>;

const INTEGER = z.union(
  [
    z.int().min(0),
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
  ],
  'a whole number',
);

function optional<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (value === null || value === '' ? undefined : value), schema.optional());
}

/** A mandatory text of 1 to `longest` characters. */
export const text = (longest: number) => z.string('a string').min(1).max(longest);
export const TEXT = optional(z.string('a string').max(200));
/** A whole number, as a number or as digits in a string. */
export const WHOLE = optional(INTEGER);
/** A mandatory whole number within bounds. */
export const whole = (least: number, most: number) => INTEGER.pipe(z.number().min(least).max(most));
/** A time with its offset, in milliseconds. */
export const TIME_MS = optional(
  z
    .string('a string')
    .max(200)
    .transform((given, context) => {
      const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)$/.test(given);
      const atMs = isTime ? Date.parse(given.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')) : Number.NaN;
      if (Number.isNaN(atMs)) context.addIssue({ code: 'custom', message: 'an ISO time with offset' });
      return atMs;
    }),
);

/** What every call may name an eSIM by. */
export const ESIM = { esimTranNo: TEXT, iccid: TEXT };

/** The parameters of the schema, or the vendor's error about the first that is wrong. */
export function read<Schema extends z.ZodObject>(schema: Schema, params: Params): z.output<Schema> {
  const result = schema.safeParse(params, { reportInput: true });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const name = `parameter [${issue?.path.join('.')}]`;
  if (issue?.input === undefined) throw new SupplierError('000105', `${name} is absent`);
  if (issue.input === null) throw new SupplierError('000106', `${name} is null`);
  if (issue.code === 'too_small' || issue.code === 'too_big') {
    throw new SupplierError('000107', `${name} has a wrong length`);
  }
  throw new SupplierError('200008', `${name} must be ${issue.message}`);
}
