/** How to pay through the gateway, how a caller names a payment, and wallets being funded. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { GATEWAY_METHODS } from '../../domain/states.ts';
import { isoTime, money, timeline } from '../../platform/http/answer-fields.ts';
import { amountField, choiceField } from '../../platform/http/fields.ts';
import { MAX_FUNDING_MINOR, MIN_FUNDING_MINOR } from '../../platform/http/limits.ts';

const bankAccount = z.object({
  bankName: z.string(),
  accountNumber: z.string(),
  accountName: z.string(),
  expiryDate: isoTime('Until when the account takes money'),
});

/** What opening a payment may be refused with. */
export const PAYMENT_ERRORS = [
  'PAYMENT_METHOD_UNAVAILABLE',
  'PAYMENT_FAILED',
  'TOO_MANY_UNPAID_PAYMENTS',
  'EXCHANGE_RATE_UNAVAILABLE',
] as const;

/** Part of every answer about something that may still wait for its money. */
export const paymentFields = {
  paymentUrl: z.string().optional().meta({
    description: 'CARD, APPLE_PAY, MOBILE_MONEY, while PENDING: send the buyer there',
    example: 'https://checkout.example.com/3ni8kdavz62431k',
  }),
  gatewayReference: z
    .string()
    .optional()
    .meta({ description: 'CARD, APPLE_PAY, MOBILE_MONEY, while PENDING: names the payment' }),
  bankAccounts: z
    .array(bankAccount)
    .optional()
    .meta({ description: 'BANK_TRANSFER, while PENDING: where to transfer to' }),
  trackingReference: z
    .string()
    .optional()
    .meta({ description: 'BANK_TRANSFER, while PENDING: names the payment' }),
  charge: z
    .object({ amount: money('What to pay'), currency: z.string() })
    .optional()
    .meta({
      description: 'While PENDING, where the payment is asked for in another currency than the price',
    }),
};

const NAMES = ['transactionId', 'gatewayReference', 'trackingReference'] as const;

const oneName = (description: string) =>
  z
    .string('must be a string')
    .nullish()
    .transform((text) => text ?? undefined)
    .meta({ description });

// An id that cannot exist is well-formed here and simply not found.
export const confirmBody = z
  .object({
    transactionId: oneName('The `transactionId` that buy or fund returned'),
    gatewayReference: oneName('Of a hosted checkout'),
    trackingReference: oneName('Of a bank transfer'),
  })
  .refine((body) => NAMES.filter((name) => body[name] !== undefined).length === 1, {
    message: `exactly one of ${NAMES.join(', ')} must be given`,
  })
  .meta({ id: 'ConfirmPaymentRequest', description: 'Exactly one of the three' });

export const fundBody = z
  .object({
    amount: amountField({
      minMinor: MIN_FUNDING_MINOR,
      maxMinor: MAX_FUNDING_MINOR,
      description: 'What the wallet is to get, in its own currency, with at most two decimals',
      example: 5000.5,
    }),
    paymentMethod: choiceField(GATEWAY_METHODS, { description: 'How to pay', example: 'CARD' }),
  })
  .meta({ id: 'FundRequest' });

const funding = {
  transactionId: z.string().meta({ example: 'txn-7c9e6679f4a84ba3a2c1f0d3b5e60a11' }),
  status: z.enum(['PENDING', 'SUCCESS', 'FAILED']).meta({
    description: 'PENDING: waits for money. SUCCESS: in the wallet. FAILED: ended without.',
  }),
  amount: money('What the wallet is to get'),
  currency: z.enum(ACCOUNT_CURRENCIES),
  ...paymentFields,
  reason: z.string().optional().meta({ description: 'Why, when FAILED', example: 'PAYMENT_EXPIRED' }),
};

export const fundingSchema = z.object(funding).meta({ id: 'Funding' });

export const fundingStatusSchema = z.object({ ...funding, timeline }).meta({ id: 'FundingStatus' });
