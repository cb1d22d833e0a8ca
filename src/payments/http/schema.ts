/** How to pay from outside the wallet, as the specification's purchase result lists it, and how a payment is named when asked about. */
import { z } from 'zod';
import { isoTime, money } from '../../platform/http/answer-fields.ts';

const bankAccount = z.object({
  bankName: z.string(),
  accountNumber: z.string(),
  accountName: z.string(),
  expiryDate: isoTime('Until when the account takes money'),
});

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

// Whether a text can be one of ours is no matter of form: an impossible one is simply not found.
export const confirmBody = z
  .object({
    transactionId: oneName('What buy or fund answered'),
    gatewayReference: oneName('Of a hosted checkout'),
    trackingReference: oneName('Of a bank transfer'),
  })
  .refine((body) => NAMES.filter((name) => body[name] !== undefined).length === 1, {
    message: `exactly one of ${NAMES.join(', ')} must be given`,
  })
  .meta({ id: 'ConfirmPaymentRequest', description: 'Exactly one of the three' });
