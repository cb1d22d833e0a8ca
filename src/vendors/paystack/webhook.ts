/**
 * The vendor's events: verified over the raw bytes, then reduced to what they are a reason to look at. Guarantee: fails closed, so that
 * whatever is not signed with one of our keys, is too long, of the other mode or no event at all is undefined; never throws. There is
 * no protection against replays on this wire: an event must never count as proof, and its key lets a repeat be noticed.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { GatewayAmount, GatewayEvent } from '../../payments/port.ts';
import { fieldsOf, isFields, textOf, type Fields } from '../http/json.ts';
import { isOtherMode, type Mode } from './context.ts';
import { currencyOf, minorOrNull, parsed } from './wire.ts';

/** Real ones are under 10 KB. */
const MAX_BODY_BYTES = 1024 * 1024;
const SIGNATURE_HEADER = 'x-paystack-signature';
const SIGNATURE = /^[0-9a-f]{128}$/;
const EVENT_TYPE = /^[a-z][\w.-]{0,99}$/i;
/** Longer than any reference or address; what goes beyond is nobody's. */
const MAX_TEXT = 320;

export interface WebhookOptions {
  /** Keys that may have signed: the secret key in use, and one that is being replaced. None may be empty. */
  readonly secretKeys: readonly string[];
  readonly mode: Mode;
}

/** The event that these bytes certainly are; undefined otherwise. */
export function verifyEvent(
  { secretKeys, mode }: WebhookOptions,
  rawBody: Uint8Array,
  headers: Readonly<Record<string, string | undefined>>,
): GatewayEvent | undefined {
  if (rawBody.byteLength === 0 || rawBody.byteLength > MAX_BODY_BYTES) return undefined;
  if (!isSigned(rawBody, headers[SIGNATURE_HEADER], secretKeys)) return undefined;
  try {
    const eventKey = createHash('sha256').update(rawBody).digest('hex');
    return readEvent(new TextDecoder().decode(rawBody), eventKey, mode);
  } catch {
    return undefined;
  }
}

/** Compares with every key, in a time that tells nothing about how much of a signature was right. */
function isSigned(rawBody: Uint8Array, signature: unknown, secretKeys: readonly string[]): boolean {
  if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return false;
  const given = Buffer.from(signature, 'hex');
  const matches = secretKeys.map((key) => {
    const expected = createHmac('sha512', key).update(rawBody).digest();
    return key !== '' && timingSafeEqual(expected, given);
  });
  return matches.includes(true);
}

function readEvent(text: string, eventKey: string, mode: Mode): GatewayEvent | undefined {
  const fields = fieldsOf(parsed(text), 'the event');
  const type = textOf(fields, 'event');
  if (!EVENT_TYPE.test(type)) return undefined;
  // Some events carry a list; none of those is about a payment.
  const data = objectAt(fields, 'data');
  const customer = objectAt(data, 'customer');
  const transaction = objectAt(data, 'transaction');
  const domains = [data, customer, transaction].map((part) => textOf(part, 'domain'));
  if (domains.some((domain) => isOtherMode(domain, mode))) return undefined;
  const about = aboutOf(type);
  return {
    eventKey,
    type,
    about,
    reference: orNull(referenceOf(about, data, transaction)),
    email: orNull(textOf(customer, 'email')),
    amount: amountOf(about, data),
  };
}

function aboutOf(type: string): GatewayEvent['about'] {
  if (type.startsWith('charge.dispute.')) return 'dispute';
  if (type.startsWith('charge.')) return 'charge';
  if (type.startsWith('refund.')) return 'refund';
  return type === 'bank.transfer.rejected' ? 'transfer-rejected' : 'other';
}

function referenceOf(about: GatewayEvent['about'], data: Fields, transaction: Fields): string {
  if (about === 'charge' || about === 'transfer-rejected') return textOf(data, 'reference');
  if (about === 'other') return '';
  return textOf(data, 'transaction_reference') || textOf(transaction, 'reference');
}

/** A rejected transfer's amount is left out: the vendor does not say in which unit it is. */
function amountOf(about: GatewayEvent['about'], data: Fields): GatewayAmount | null {
  if (about === 'other' || about === 'transfer-rejected') return null;
  const amountMinor = minorOrNull(data[about === 'dispute' ? 'refund_amount' : 'amount']);
  const currency = currencyOf(data);
  return amountMinor === null || currency === '' ? null : { amountMinor, currency };
}

const NOTHING: Fields = {};

function objectAt(fields: Fields, name: string): Fields {
  const value = fields[name];
  return isFields(value) ? value : NOTHING;
}

function orNull(text: string): string | null {
  return text === '' || text.length > MAX_TEXT ? null : text;
}
