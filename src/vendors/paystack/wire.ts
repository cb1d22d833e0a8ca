/**
 * The vendor's answers: leniently read where its own pages disagree, strictly where a wrong guess would cost
 * money. Every number arrives as the text it was written as, so that ids of 64 bits and amounts lose nothing.
 */
import { z } from 'zod';
import { parseWithNumbersAsText, readAs, UnreadableAnswer } from '../http/transport.ts';

/** Reads a value; throws UnreadableAnswer with the first field that is not as the schema wants it. */
export function read<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  return readAs(schema, value, { what: 'the answer', error: faultOf });
}

function faultOf({ code, input, expected }: { code: string; input?: unknown; expected?: unknown }) {
  if (input === undefined) return 'is missing';
  return code === 'invalid_type' ? `is no ${String(expected)}` : undefined;
}

/**
 * JSON with numbers as text. Throws UnreadableAnswer for other text, and for JSON that is nested too deep.
 */
export function parseJson(json: string): unknown {
  try {
    return parseWithNumbersAsText(json);
  } catch {
    throw new UnreadableAnswer('not JSON');
  }
}

/** "" where there is none. */
export const text = z.string().or(z.boolean().transform(String)).catch('');
const requiredText = text.refine((value) => value !== '', 'is missing');

/** Minor units, at least 0. Zero decimals are accepted. */
const minor = z
  .string()
  .regex(/^\d{1,18}(?:\.0+)?$/, 'is no whole amount')
  .transform((digits) => BigInt(digits.replace(/\.0+$/, '')));
export const minorOrNull = minor.nullable().catch(null);

/** ISO 4217, in capitals. */
const currency = z
  .string()
  .toUpperCase()
  .regex(/^[A-Z]{3}$/, 'is no currency');
export const currencyOrBlank = currency.catch('');

const LARGEST_ID = 2n ** 64n - 1n;
const id = z
  .string()
  .refine((digits) => /^\d{1,20}$/.test(digits) && BigInt(digits) <= LARGEST_ID, 'is no id');
const idOrBlank = id.catch('');

/** Null where there is none. A time without a zone is UTC. */
const date = z
  .string()
  .transform((value) => {
    const time = value.trim().replace(' ', 'T');
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(time)) return null;
    const parsed = new Date(/(?:Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`);
    return Number.isNaN(parsed.getTime()) ? null : parsed;
  })
  .catch(null);

const count = z
  .string()
  .regex(/^-?\d{1,16}$/)
  .transform(Number)
  .refine(Number.isSafeInteger)
  .nullable()
  .catch(null);

/** An object whose fields may all be absent; any other value is read as {}. */
export function lenient<Shape extends z.ZodRawShape>(shape: Shape) {
  const object = z.object(shape);
  return object.catch(() => object.parse({}));
}

const CATEGORIES = new Set(['validation_error', 'api_error', 'processor_error']);

/**
 * Every answer. A refusal has a `code` such as duplicate_reference, and a `category`; older refusals have
 * neither: "".
 */
export const envelope = z
  .object({
    status: z.boolean().or(z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' })),
    code: text,
    type: text,
    message: text,
    data: z.unknown().optional(),
    meta: z.unknown().optional(),
  })
  .transform(({ code, type, ...rest }) => {
    const words = [code, type].filter((word) => word !== '');
    return {
      ...rest,
      code: words.find((word) => !CATEGORIES.has(word)) ?? '',
      category: words.find((word) => CATEGORIES.has(word)) ?? '',
    };
  });

/** Of initialize. */
export const checkout = z.object({
  authorization_url: text.refine(
    (url) => /^https?:$/.test(URL.parse(url)?.protocol ?? ''),
    'is no web address',
  ),
  reference: requiredText,
});

/** Of charge and check-charge: the account to transfer to, where the answer names one. */
export const charge = z
  .object({
    reference: requiredText,
    status: requiredText,
    amount: minorOrNull,
    account_name: text,
    account_number: text,
    account_expires_at: date,
    bank: lenient({ name: text }),
  })
  .transform(({ reference, status, amount, account_name, account_number, account_expires_at, bank }) => {
    const account = {
      bankName: bank.name,
      accountNumber: account_number,
      accountName: account_name,
      expiresAt: account_expires_at,
    };
    return { reference, status, amount, account: Object.values(account).includes('') ? null : account };
  });
export type WireCharge = z.output<typeof charge>;

/** Of verify, fetch and lists. `domain` is test or live. */
export const transaction = z
  .object({
    id: idOrBlank,
    domain: text,
    status: requiredText,
    reference: requiredText,
    amount: minor,
    requested_amount: minorOrNull,
    currency,
    fees: minorOrNull,
    paid_at: date,
    paidAt: date,
    created_at: date,
    createdAt: date,
    transaction_date: date,
  })
  .transform((row) => ({
    ...row,
    paid_at: row.paid_at ?? row.paidAt,
    created_at: row.created_at ?? row.createdAt ?? row.transaction_date,
  }));
export type WireTransaction = z.output<typeof transaction>;

/** A refund or a dispute. Lists may name its transaction by the id alone. */
const aboutTransaction = z.object({
  id,
  status: requiredText,
  transaction: z
    .preprocess(
      (value) => (typeof value === 'object' ? value : { id: value }),
      lenient({ id: idOrBlank, reference: text }),
    )
    .prefault({}),
  transaction_reference: text,
  created_at: date,
  createdAt: date,
});

const withReference = <Row extends z.output<typeof aboutTransaction>>(row: Row) => ({
  ...row,
  reference: row.transaction.reference || row.transaction_reference,
  created_at: row.created_at ?? row.createdAt,
});

/** Of create and lists. */
export const refund = aboutTransaction
  .extend({ domain: text, amount: minor, currency, merchant_note: text, refunded_at: date, refundedAt: date })
  .transform((row) => ({ ...withReference(row), refunded_at: row.refunded_at ?? row.refundedAt }));
export type WireRefund = z.output<typeof refund>;

/** Of lists. `resolution` is "" while it is open. */
export const dispute = aboutTransaction
  .extend({ resolution: text, refund_amount: minorOrNull, currency: currencyOrBlank })
  .transform(withReference);

/** One page of a list. Counts of all pages together; null where the vendor does not say. */
export const page = z.object({
  data: z.array(z.unknown()),
  meta: lenient({ pageCount: count, total: count }),
});
