/**
 * The vendor's events, verified over the raw bytes. Fails closed, never throws. This wire has no protection
 * against replays: an event must never count as proof, and its key lets us notice a repeat.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Money } from '../../domain/money.ts';
import type { GatewayEvent } from '../../payments/port.ts';
import { isOtherMode, type Mode } from './answers.ts';
import { currencyOrBlank, lenient, minorOrNull, parseJson, read, text } from './wire.ts';

/** Real ones are under 10 KB. */
const MAX_BODY_BYTES = 1024 * 1024;
const SIGNATURE_HEADER = 'x-paystack-signature';
const SIGNATURE = /^[0-9a-f]{128}$/;
const EVENT_TYPE = /^[a-z][\w.-]{0,99}$/i;
/** Longer than any reference or address of ours. */
const MAX_TEXT = 320;

/** Some events carry a list as `data`; none of those is about a payment. */
const eventSchema = z.object({
  event: text.refine((word) => EVENT_TYPE.test(word)),
  data: lenient({
    domain: text,
    reference: text,
    transaction_reference: text,
    amount: minorOrNull,
    refund_amount: minorOrNull,
    currency: currencyOrBlank,
    customer: lenient({ domain: text, email: text }),
    transaction: lenient({ domain: text, reference: text }),
  }),
});
type EventData = z.output<typeof eventSchema>['data'];

export function mayBeEvent(headers: Readonly<Record<string, string | undefined>>): boolean {
  return SIGNATURE.test(headers[SIGNATURE_HEADER] ?? '');
}

/** The event that these bytes certainly are; undefined otherwise. */
export function verifyEvent(
  /** Keys that may have signed: the secret key in use, and those being replaced. None may be empty. */
  { secretKeys, mode }: { readonly secretKeys: readonly string[]; readonly mode: Mode },
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

/** Compares with every key, in constant time. */
function isSigned(rawBody: Uint8Array, signature: unknown, secretKeys: readonly string[]): boolean {
  if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return false;
  const given = Buffer.from(signature, 'hex');
  const matches = secretKeys.map((key) => {
    const expected = createHmac('sha512', key).update(rawBody).digest();
    return key !== '' && timingSafeEqual(expected, given);
  });
  return matches.includes(true);
}

function readEvent(body: string, eventKey: string, mode: Mode): GatewayEvent | undefined {
  const { event: type, data } = read(eventSchema, parseJson(body));
  const { customer, transaction } = data;
  if ([data, customer, transaction].some(({ domain }) => isOtherMode(domain, mode))) return undefined;
  const about = aboutOf(type);
  const reference = referenceOf(about, data);
  const amount = amountOf(about, data);
  return { eventKey, type, about, reference: orNull(reference), email: orNull(customer.email), amount };
}

function aboutOf(type: string): GatewayEvent['about'] {
  if (type.startsWith('charge.dispute.')) return 'dispute';
  if (type.startsWith('charge.')) return 'charge';
  if (type.startsWith('refund.')) return 'refund';
  return type === 'bank.transfer.rejected' ? 'transfer-rejected' : 'other';
}

function referenceOf(about: GatewayEvent['about'], data: EventData): string {
  if (about === 'charge' || about === 'transfer-rejected') return data.reference;
  return about === 'other' ? '' : data.transaction_reference || data.transaction.reference;
}

/** A rejected transfer's amount is left out: the vendor does not say in which unit it is. */
function amountOf(about: GatewayEvent['about'], data: EventData): Money | null {
  if (about === 'other' || about === 'transfer-rejected') return null;
  const { [about === 'dispute' ? 'refund_amount' : 'amount']: amountMinor, currency } = data;
  return amountMinor === null || currency === '' ? null : { amountMinor, currency };
}

function orNull(text: string): string | null {
  return text === '' || text.length > MAX_TEXT ? null : text;
}
