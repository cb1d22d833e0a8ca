import { z } from 'zod';

/** Code → the vendor's meaning: the part of its error table that the simulator uses. */
const ERROR_MESSAGES = {
  '000001': 'server error',
  '000101': 'mandatory request header is null',
  '000102': 'request header format is wrong',
  '000103': 'HTTP request method is not supported',
  '000104': 'request body is not valid JSON',
  '000105': 'mandatory request parameter is absent',
  '000106': 'mandatory request parameter is null',
  '000107': 'length of a request parameter is wrong',
  '101001': 'request timestamp expired',
  '101003': 'request signature does not match',
  '200002': 'operation is not allowed in the present order status',
  '200005': 'package price is wrong',
  '200006': 'order total is wrong',
  '200007': 'account balance is insufficient',
  '200008': 'order parameters are wrong',
  '200010': 'profiles are still being allocated',
  '200011': 'not enough profiles in stock',
  '310211': 'location does not exist',
  '310241': 'packageCode does not exist',
  '310243': 'package does not exist',
  '310272': 'orderNo does not exist',
  '310403': 'ICCID is not in the order',
  '900001': 'system busy, please try again later',
} as const;

/** In no table of the vendor: callers must not take an unknown code for a refusal. */
export const UNSEEN_CODE = '209999';

export type ErrorCode = keyof typeof ERROR_MESSAGES | typeof UNSEEN_CODE;

/** A refusal by the supplier. Its message must hold no secrets or activation codes. */
export class SupplierError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, detail?: string) {
    super(detail ?? (code === UNSEEN_CODE ? 'reason unknown' : ERROR_MESSAGES[code]));
    this.name = 'SupplierError';
    this.code = code;
  }
}

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

export const text = (longest: number) => z.string('a string').min(1).max(longest);
export const TEXT = optional(z.string('a string').max(200));
export const WHOLE = optional(INTEGER);
export const whole = (least: number, most: number) => INTEGER.pipe(z.number().min(least).max(most));
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
