/** For the API reference. The bodies that are sent are made in rules.ts; a test compares the two. */
import { z } from 'zod';
import { PURCHASE_EVENT_STATUSES, type WebhookEvent } from '../rules.ts';
import { isoTime, money } from '../../platform/http/answer-fields.ts';

const later = (description: string) =>
  z.string().meta({ description: `${description}; empty if there is none` });
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
    summary: 'The status of a purchase or top-up changed',
    when:
      'On every change of a purchase: PROCESSING when it is paid and not delivered yet, then SUCCESS or FAILED. Opening one is not a change. ' +
      'The default event of an endpoint.',
    data: z.object({
      transactionId,
      status: z.enum(PURCHASE_EVENT_STATUSES),
      esimId: later('Of the eSIM order'),
      iccid: later('ICCID'),
      qrCodeUrl: later('URL of the QR code for installation'),
    }),
  },
  'payment.received': {
    summary: 'A payment arrived',
    when: 'When the payment gateway reports a payment that was not booked before, for a purchase or for the wallet.',
    data: z.object({
      transactionId,
      purpose: z.enum(['purchase', 'funding']),
      paymentMethod: z.enum(['CARD', 'BANK_TRANSFER', 'MOBILE_MONEY', 'APPLE_PAY']),
      reference,
      amount: money('The amount paid'),
      currency,
    }),
  },
  'payment.refunded': {
    summary: 'A payment was refunded',
    when: 'When a refund has been sent, or credited to the wallet because the gateway cannot send it.',
    data: z.object({
      transactionId,
      reference,
      amount: money('The amount refunded'),
      currency,
      refundedTo: z.enum(['SOURCE', 'WALLET']).meta({ description: 'Where it was paid from, or the wallet' }),
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
