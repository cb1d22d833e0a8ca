/**
 * The vendor's wire types and how they are read: leniently where the vendor's own pages disagree (numbers as text, booleans as text, the
 * error's category under either of two names, dates under either of two spellings), strictly where a wrong guess would cost money. Every
 * number arrives here as the text it was written as, so that ids of 64 bits and amounts lose nothing. Must not know our words for
 * anything.
 */
import {
  UnreadableAnswer,
  fieldsOf,
  isFields,
  parseWithNumbersAsText,
  requiredText,
  textOf,
  wholeOrNull,
  type Fields,
} from '../http/json.ts';

export type Envelope =
  | { readonly ok: true; readonly data: unknown; readonly meta: unknown }
  | {
      readonly ok: false;
      /** The machine-readable word, such as duplicate_reference; "" on older answers. */
      readonly code: string;
      /** validation_error, api_error or processor_error; "" on older answers. */
      readonly category: string;
      readonly message: string;
      readonly data: unknown;
    };

const CATEGORIES = new Set(['validation_error', 'api_error', 'processor_error']);

/** Reads an answer's body; throws UnreadableAnswer for anything that is not the vendor's envelope. */
export function parseEnvelope(body: string): Envelope {
  const fields = fieldsOf(parsed(body), 'the answer');
  const status = fields['status'];
  if (status === true || status === 'true') return { ok: true, data: fields['data'], meta: fields['meta'] };
  if (status !== false && status !== 'false') throw new UnreadableAnswer('no envelope: status is missing');
  const words = [textOf(fields, 'code'), textOf(fields, 'type')].filter((word) => word !== '');
  return {
    ok: false,
    code: words.find((word) => !CATEGORIES.has(word)) ?? '',
    category: words.find((word) => CATEGORIES.has(word)) ?? '',
    message: textOf(fields, 'message'),
    data: fields['data'],
  };
}

/** JSON with numbers as text; what is none, or is nested beyond reason, throws UnreadableAnswer. */
export function parsed(json: string): unknown {
  try {
    return parseWithNumbersAsText(json);
  } catch {
    throw new UnreadableAnswer('not JSON');
  }
}

/** An amount in minor units; null for what is no whole amount of at least 0. Trailing zero decimals are let pass. */
export function minorOrNull(value: unknown): bigint | null {
  const digits = typeof value === 'string' ? /^(\d{1,18})(?:\.0+)?$/.exec(value)?.[1] : undefined;
  return digits === undefined ? null : BigInt(digits);
}

function requiredMinor(fields: Fields, name: string): bigint {
  const minor = minorOrNull(fields[name]);
  if (minor === null) throw new UnreadableAnswer(`${name} is no whole amount`);
  return minor;
}

/** An upper-case ISO 4217 code; "" for anything else. */
export function currencyOf(fields: Fields): string {
  const currency = textOf(fields, 'currency').toUpperCase();
  return /^[A-Z]{3}$/.test(currency) ? currency : '';
}

function requiredCurrency(fields: Fields): string {
  const currency = currencyOf(fields);
  if (currency === '') throw new UnreadableAnswer('currency is missing');
  return currency;
}

const LARGEST_ID = 2n ** 64n - 1n;

/** Digits of an id of at most 64 bits; "" for anything else. */
function idText(value: unknown): string {
  return typeof value === 'string' && /^\d{1,20}$/.test(value) && BigInt(value) <= LARGEST_ID ? value : '';
}

/** The first of these fields that holds a time; null where none does. A time without a zone is UTC. */
function dateOf(fields: Fields, ...names: readonly string[]): Date | null {
  for (const name of names) {
    const text = textOf(fields, name).trim().replace(' ', 'T');
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text)) continue;
    const time = new Date(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
    if (!Number.isNaN(time.getTime())) return time;
  }
  return null;
}

/** The answer to initialize. */
export function readCheckout(data: unknown): { readonly reference: string; readonly url: string } {
  const fields = fieldsOf(data, 'data');
  const url = requiredText(fields, 'authorization_url');
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UnreadableAnswer('authorization_url is no web address');
  return { reference: requiredText(fields, 'reference'), url };
}

/** A charge as the charge endpoints tell it, with the account to transfer to where they tell one. */
export interface WireCharge {
  readonly reference: string;
  readonly status: string;
  /** Null where the answer does not repeat it. */
  readonly amount: bigint | null;
  readonly account: WireAccount | null;
}

export interface WireAccount {
  readonly name: string;
  readonly number: string;
  readonly bankName: string;
  readonly expiresAt: Date | null;
}

/** Reads `data` of charge and check-charge. */
export function readCharge(data: unknown): WireCharge {
  const fields = fieldsOf(data, 'data');
  const bank = fields['bank'];
  const account = {
    name: textOf(fields, 'account_name'),
    number: textOf(fields, 'account_number'),
    bankName: isFields(bank) ? textOf(bank, 'name') : '',
    expiresAt: dateOf(fields, 'account_expires_at'),
  };
  const told = account.name !== '' && account.number !== '' && account.bankName !== '';
  return {
    reference: requiredText(fields, 'reference'),
    status: requiredText(fields, 'status'),
    amount: minorOrNull(fields['amount']),
    account: told ? account : null,
  };
}

export interface WireTransaction {
  readonly id: string;
  /** test or live; "" where not told. */
  readonly domain: string;
  readonly status: string;
  readonly reference: string;
  readonly amount: bigint;
  readonly requestedAmount: bigint | null;
  readonly currency: string;
  readonly fees: bigint | null;
  readonly paidAt: Date | null;
  readonly createdAt: Date | null;
}

/** One transaction, of verify, fetch or a list. */
export function readTransaction(value: unknown): WireTransaction {
  const fields = fieldsOf(value, 'a transaction');
  return {
    id: idText(fields['id']),
    domain: textOf(fields, 'domain'),
    status: requiredText(fields, 'status'),
    reference: requiredText(fields, 'reference'),
    amount: requiredMinor(fields, 'amount'),
    requestedAmount: minorOrNull(fields['requested_amount']),
    currency: requiredCurrency(fields),
    fees: minorOrNull(fields['fees']),
    paidAt: dateOf(fields, 'paid_at', 'paidAt'),
    createdAt: dateOf(fields, 'created_at', 'createdAt', 'transaction_date'),
  };
}

export interface WireRefund {
  readonly id: string;
  readonly domain: string;
  readonly status: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly merchantNote: string;
  /** Lists name the refunded transaction by its id, the answer to a new refund by an object; "" what is not told. */
  readonly transactionId: string;
  readonly transactionReference: string;
  readonly refundedAt: Date | null;
  readonly createdAt: Date | null;
}

/** One refund, of create, fetch or a list. */
export function readRefund(value: unknown): WireRefund {
  const fields = fieldsOf(value, 'a refund');
  const transaction = fields['transaction'];
  const id = idText(fields['id']);
  if (id === '') throw new UnreadableAnswer('id is missing');
  return {
    id,
    domain: textOf(fields, 'domain'),
    status: requiredText(fields, 'status'),
    amount: requiredMinor(fields, 'amount'),
    currency: requiredCurrency(fields),
    merchantNote: textOf(fields, 'merchant_note'),
    transactionId: idText(isFields(transaction) ? transaction['id'] : transaction),
    transactionReference:
      (isFields(transaction) ? textOf(transaction, 'reference') : '') ||
      textOf(fields, 'transaction_reference'),
    refundedAt: dateOf(fields, 'refunded_at', 'refundedAt'),
    createdAt: dateOf(fields, 'created_at', 'createdAt'),
  };
}

export interface WireDispute {
  readonly id: string;
  readonly status: string;
  /** "" while it is open. */
  readonly resolution: string;
  /** Of the charge; "" where it is not told. */
  readonly reference: string;
  readonly createdAt: Date | null;
}

/** One dispute of a list. */
export function readDispute(value: unknown): WireDispute {
  const fields = fieldsOf(value, 'a dispute');
  const transaction = fields['transaction'];
  const id = idText(fields['id']);
  if (id === '') throw new UnreadableAnswer('id is missing');
  return {
    id,
    status: requiredText(fields, 'status'),
    resolution: textOf(fields, 'resolution'),
    reference:
      (isFields(transaction) ? textOf(transaction, 'reference') : '') ||
      textOf(fields, 'transaction_reference'),
    createdAt: dateOf(fields, 'created_at', 'createdAt'),
  };
}

/** One page of a list. */
export interface WirePage {
  readonly rows: readonly unknown[];
  /** How many pages there are; null where the vendor does not say. */
  readonly pageCount: number | null;
  /** How many rows all pages have; null where the vendor does not say. */
  readonly total: number | null;
}

export function readPage(data: unknown, meta: unknown): WirePage {
  if (!Array.isArray(data)) throw new UnreadableAnswer('data is no list');
  const numberOf = (name: string): number | null => (isFields(meta) ? wholeOrNull(meta[name]) : null);
  return { rows: data as unknown[], pageCount: numberOf('pageCount'), total: numberOf('total') };
}
