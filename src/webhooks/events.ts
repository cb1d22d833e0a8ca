/**
 * The events that merchants are sent, each described once. `data` gives the fields of a body, their order,
 * the facts it is made of, and the API reference.
 */
import { z } from 'zod';
import { MANDATE_ENDS_BY_ITSELF } from '../domain/mandates.ts';
import { ESIM_STATUSES, GATEWAY_METHODS, PAYMENT_PURPOSES, REFUND_TARGETS } from '../domain/states.ts';
import { EXPIRY_NOTICE_DAYS, PURCHASE_EVENT_STATUSES, USAGE_THRESHOLDS, writeBody } from './event-rules.ts';

/** ISO 8601, UTC, with milliseconds. */
const isoTime = (description: string) =>
  z.string().meta({ description, example: '2026-01-31T09:30:00.000Z' });

/** A number with two decimals. Its fact has `Minor` after the name: `amountMinor` for `amount`. */
const money = (description: string) => z.number().meta({ description, example: 12.5 }).brand<'money'>();

/** The fact may be null; the field is then an empty text. */
const nullAsEmpty = (field: z.ZodString) => field.brand<'nullAsEmpty'>();
const textOrEmpty = (description: string) =>
  nullAsEmpty(z.string().meta({ description: `${description}; empty if there is none` }));

const transactionId = z.string().meta({ example: 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11' });
const currency = z.string().meta({ example: 'NGN' });
const gatewayReference = z.string().meta({ description: 'The gateway’s reference of the payment' });
const own = {
  reference: textOrEmpty('Yours, of the purchase or funding'),
  metadata: z.record(z.string(), z.string()).meta({
    description: 'Yours, of the purchase or funding; `{}` if there is none',
    example: { order: '1001' },
  }),
};

const esim = {
  esimId: z.string().meta({ example: 'esim-0f8fad5bd9cb469fa16570867728950e' }),
  transactionId: transactionId.meta({ description: 'Of the purchase that made the eSIM' }),
  iccid: z.string().meta({ description: 'ICCID' }),
};

const mandateId = z.string().meta({
  description: 'Its top-ups carry it as `metadata.mandateId`',
  example: 'mandate-9b2e4c1d7f6a4a0c8e3d5b1f2a6c7d80',
});

const ofOnePackage = (description: string) =>
  nullAsEmpty(z.string().meta({ description: `${description}; empty in a message about many packages` }));
const packageFields = {
  packageCode: ofOnePackage('Its code'),
  packageName: ofOnePackage('Its name'),
  regionCode: ofOnePackage('Its region'),
};
const packages = z.number().int().meta({ description: 'How many packages the message is about', example: 1 });

interface EventDescription {
  readonly summary: string;
  /** When it is sent. */
  readonly when: string;
  readonly data: z.ZodObject;
}

/** A new event is an entry here, and a sample in event-samples.ts. */
export const EVENTS = {
  'esim.purchased': {
    summary: 'The status of a purchase or top-up changed',
    when:
      'On every change of a purchase: PROCESSING when it is paid and not delivered yet, then SUCCESS or FAILED. Opening one is not a change. ' +
      'The default event of an endpoint.',
    data: z.object({
      transactionId,
      status: z.enum(PURCHASE_EVENT_STATUSES),
      esimId: textOrEmpty('Of the eSIM order'),
      iccid: textOrEmpty('ICCID'),
      qrCodeUrl: textOrEmpty('URL of the QR code for installation'),
      ...own,
    }),
  },
  'esim.status_changed': {
    summary: 'The status of an eSIM changed',
    when: 'When the supplier says so, after the eSIM was delivered: it goes into use, is suspended, goes on, expires or is cancelled. The delivery itself is `esim.purchased`.',
    data: z.object({
      ...esim,
      from: z.enum(ESIM_STATUSES),
      to: z.enum(ESIM_STATUSES),
    }),
  },
  'esim.usage_threshold': {
    summary: 'An eSIM has used a part of its allowance',
    when: 'When 50, 80 and 90 percent are used, each once for an allowance. A jump over several sends all of them. After a top-up the larger allowance counts again.',
    data: z.object({
      ...esim,
      thresholdPercent: z.literal(USAGE_THRESHOLDS).meta({ description: 'Percent of the allowance' }),
      totalVolume: z.number().int().meta({ description: 'The allowance, in bytes' }),
      orderUsage: z.number().int().meta({ description: 'Bytes used' }),
      dataUsageRemain: z.number().int().meta({ description: 'Bytes left' }),
      usageAsOf: nullAsEmpty(isoTime('When this usage was true at the supplier')),
    }),
  },
  'esim.expiring': {
    summary: 'An eSIM expires soon',
    when: 'Three days and one day before `expiredTime`, each once, also for an eSIM that was never used. An end of validity that moves to later, such as by a top-up, counts again. Where less than a day is left at once, only the second one is sent; where the end has passed, none.',
    data: z.object({
      ...esim,
      daysBefore: z.literal(EXPIRY_NOTICE_DAYS).meta({ description: 'At most this many days are left' }),
      expiredTime: nullAsEmpty(isoTime('The end of validity')),
    }),
  },
  'esim.expired': {
    summary: 'An eSIM has expired',
    when: 'Together with `esim.status_changed` to EXPIRED, for endpoints that want nothing else.',
    data: z.object({
      ...esim,
      activateTime: textOrEmpty('ISO 8601; when it went into use'),
      expiredTime: textOrEmpty('ISO 8601; the end of validity'),
    }),
  },
  'esim.returned': {
    summary: 'An eSIM was returned',
    when: 'When the supplier has cancelled an unused eSIM that you returned, and its money is in the wallet, or on its way to where it was paid from: then `payment.refunded` follows.',
    data: z.object({
      returnId: z.string().meta({ example: 'return-9b2e4c1d7f6a4a0c8e3d5b1f2a6c7d80' }),
      ...esim,
      amount: money('What goes back, without the fee'),
      fee: money('What is kept of the price'),
      currency,
      refundedTo: z.enum(REFUND_TARGETS).meta({ description: 'Where it was paid from, or the wallet' }),
    }),
  },
  'esim.replaced': {
    summary: 'An eSIM was replaced',
    when: 'When the new eSIM is delivered and the old one is revoked: nobody can use the old one any more. The purchase of the new one sends `esim.purchased` as well.',
    data: z.object({
      replacementId: z.string().meta({ example: 'replacement-3c1f0e9d8b7a4c5d9e2f1a0b6c7d8e90' }),
      ...esim,
      replacedBy: z.string().meta({
        description: 'The new eSIM',
        example: 'esim-5b2e9a1c4d7f4e0ab8c3d6f1a2e4b790',
      }),
      newTransactionId: z.string().meta({
        description: 'Of the purchase that made the new eSIM',
        example: 'txn-1d4f7a0c3b6e4d9fa2c5e8b1d4f7a0c3',
      }),
      price: money('What you pay for the new eSIM; 0: nothing'),
      currency,
    }),
  },
  'mandate.ended': {
    summary: 'Automatic top-ups of an eSIM have ended by themselves',
    when: 'When the mandate expires, its limit is reached, its eSIM ends, or who agreed to it may not buy any more. Not when you, or the traveller, end it or agree to other terms.',
    data: z.object({ mandateId, ...esim, endReason: z.enum(MANDATE_ENDS_BY_ITSELF) }),
  },
  'mandate.refused': {
    summary: 'An automatic top-up was refused',
    when: 'When data is low and nothing could be bought, as with an empty wallet. At most once a day (UTC) for each mandate and error code; we try again every hour. A top-up that fails later sends `esim.purchased`.',
    data: z.object({
      mandateId,
      ...esim,
      refusal: z.string().meta({ description: 'The error code', example: 'INSUFFICIENT_BALANCE' }),
    }),
  },
  'payment.received': {
    summary: 'A payment arrived',
    when: 'When the payment gateway reports a payment that was not booked before, for a purchase or for the wallet.',
    data: z.object({
      transactionId,
      purpose: z.enum(PAYMENT_PURPOSES),
      paymentMethod: z.enum(GATEWAY_METHODS),
      gatewayReference,
      amount: money('The amount paid'),
      currency,
      ...own,
    }),
  },
  'payment.refunded': {
    summary: 'A payment was refunded',
    when: 'When a refund has been sent, or credited to the wallet because the gateway cannot send it.',
    data: z.object({
      transactionId,
      gatewayReference,
      amount: money('The amount refunded'),
      currency,
      refundedTo: z.enum(REFUND_TARGETS).meta({ description: 'Where it was paid from, or the wallet' }),
      ...own,
    }),
  },
  'wallet.low_balance': {
    summary: 'The wallet balance fell below its threshold',
    when: 'When the balance falls below the threshold of `PUT /api/wallet/low-balance`, or is below it when it is set. Once, until the balance has been at or above it again.',
    data: z.object({
      balance: money('The available balance'),
      threshold: money('The threshold'),
      currency,
    }),
  },
  'endpoint.disabled': {
    summary: 'Another endpoint of yours was disabled',
    when: 'When an endpoint answered 410, or failed for five days. Sent to your other endpoints.',
    data: z.object({
      endpointId: z.string(),
      url: z.string(),
      reason: z.enum(['GONE', 'FAILING']),
      messageId: z
        .string()
        .nullable()
        .meta({ description: 'The message that failed last there; null: it is not kept any more' }),
    }),
  },
  'batch.completed': {
    summary: 'Every row of a batch has ended',
    when: 'Once for each batch, when it is completed or cancelled. Each purchase sends its own event as well.',
    data: z.object({
      batchId: z.string(),
      rows: z.number().int().meta({ description: 'In the batch' }),
      succeeded: z.number().int(),
      failed: z.number().int(),
    }),
  },
  'package.changed': {
    summary: 'A package changed',
    when:
      'When the supplier changed a BASE package that is on sale, or it is on sale again. Says what changed, without prices, which are those of your account: read the ' +
      'package or the list of changes. If more than 100 packages changed at once, one message about all of them.',
    data: z.object({
      ...packageFields,
      changedFields: nullAsEmpty(
        z.string().meta({
          description: 'Separated by commas; the values are those of the list of changes',
          example: 'price,speed',
        }),
      ),
      packages,
    }),
  },
  'package.withdrawn': {
    summary: 'A package is not sold any more',
    when: 'When the supplier withdrew a BASE package. It cannot be bought from then on. If more than 100 packages were withdrawn at once, one message about all of them.',
    data: z.object({ ...packageFields, packages }),
  },
} as const satisfies Readonly<Record<string, EventDescription>>;

export type WebhookEvent = keyof typeof EVENTS;

export const WEBHOOK_EVENTS = Object.keys(EVENTS) as readonly WebhookEvent[];

type FactName<Name extends string, Value> = Value extends z.core.$brand<'money'> ? `${Name}Minor` : Name;
type Fact<Value> =
  Value extends z.core.$brand<'money'>
    ? bigint
    : Value extends z.core.$brand<'nullAsEmpty'>
      ? string | null
      : Value;
type FactsOf<Data> = {
  readonly [Name in keyof Data & string as FactName<Name, Data[Name]>]: Fact<Data[Name]>;
};

/** What the body of each event is made of. */
export type WebhookFacts = {
  readonly [Event in WebhookEvent]: FactsOf<z.output<(typeof EVENTS)[Event]['data']>>;
};

export const PURCHASE_EVENT = 'esim.purchased' satisfies WebhookEvent;

/** Sent to endpoints that name no events: the event that existed first. */
export const DEFAULT_EVENTS: readonly WebhookEvent[] = [PURCHASE_EVENT];

export function isWebhookEvent(text: string): text is WebhookEvent {
  return Object.hasOwn(EVENTS, text);
}

const FIELDS = new Map(WEBHOOK_EVENTS.map((event) => [event, Object.keys(EVENTS[event].data.shape)]));

/** The names of the fields of `data`, in the order of the body. */
export function fieldsOf(event: WebhookEvent): readonly string[] {
  return FIELDS.get(event) ?? [];
}

/** The body of a message as it is stored. */
export function webhookBody<Event extends WebhookEvent>(
  event: Event,
  facts: WebhookFacts[Event],
  at: Date,
): string {
  return writeBody({ event, fields: fieldsOf(event), at }, facts);
}

/** The whole body, for the API reference. */
export function eventBodySchema(event: WebhookEvent): z.ZodObject {
  return z.object({
    event: z.literal(event),
    data: EVENTS[event].data,
    timestamp: isoTime('When it happened'),
  });
}
