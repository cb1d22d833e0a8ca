/** For the API reference. The bodies that are sent are made in rules.ts; a test compares the two. */
import { z } from 'zod';
import { PURCHASE_EVENT_STATUSES, type WebhookEvent } from '../rules.ts';
import { isoTime, money } from '../../platform/http/answer-fields.ts';

const later = (description: string) =>
  z.string().meta({ description: `${description}; empty while there is none` });
const transactionId = z.string().meta({ example: 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11' });
const currency = z.string().meta({ example: 'NGN' });
const reference = z.string().meta({ description: 'The gateway’s reference of the payment' });

interface EventWords {
  readonly summary: string;
  readonly when: string;
  readonly data: z.ZodObject;
}

export const EVENT_WORDS: { readonly [Event in WebhookEvent]: EventWords } = {
  'esim.purchased': {
    summary: 'A purchase or top-up has moved',
    when:
      'On every change of a purchase: PROCESSING when it is paid and not delivered yet, then SUCCESS or FAILED. Opening one is no change. ' +
      'Sent to every endpoint that names no events.',
    data: z.object({
      transactionId,
      status: z.enum(PURCHASE_EVENT_STATUSES),
      esimId: later('Of the eSIM order'),
      iccid: later('ICCID'),
      qrCodeUrl: later('URL of the QR code for installation'),
    }),
  },
  'payment.received': {
    summary: 'Money has come in from outside',
    when: 'When the payment gateway reports money that was not booked before, for a purchase or for the wallet.',
    data: z.object({
      transactionId,
      purpose: z.enum(['purchase', 'funding']),
      paymentMethod: z.enum(['CARD', 'BANK_TRANSFER', 'MOBILE_MONEY', 'APPLE_PAY']),
      reference,
      amount: money('What came in'),
      currency,
    }),
  },
  'payment.refunded': {
    summary: 'Money has gone back',
    when: 'When a refund has been sent, or credited to the wallet because the gateway cannot send it.',
    data: z.object({
      transactionId,
      reference,
      amount: money('What went back'),
      currency,
      refundedTo: z.enum(['SOURCE', 'WALLET']).meta({ description: 'Where it was paid from, or the wallet' }),
    }),
  },
  'wallet.low_balance': {
    summary: 'The wallet has fallen below its threshold',
    when: 'When the balance falls below the amount set with `PUT /api/wallet/low-balance`, or is below it as it is set: once, until it has been at it or above again.',
    data: z.object({
      balance: money('What can be spent now'),
      threshold: money('The amount that was set'),
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
    }),
  },
};

export function eventBodySchema(event: WebhookEvent): z.ZodObject {
  return z.object({
    event: z.literal(event),
    data: EVENT_WORDS[event].data,
    timestamp: isoTime('When it happened'),
  });
}
