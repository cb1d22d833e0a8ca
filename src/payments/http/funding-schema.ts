import type { OutsideMethod } from '../../domain/states.ts';
import { z } from 'zod';
import { amountField, choiceField } from '../../platform/http/fields.ts';
import { MIN_FUNDING_MINOR, MAX_FUNDING_MINOR } from '../../platform/http/limits.ts';
import { money, timeline } from '../../platform/http/answer-fields.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { paymentFields } from './schema.ts';

const FUNDING_METHODS = [
  'CARD',
  'BANK_TRANSFER',
  'MOBILE_MONEY',
  'APPLE_PAY',
] as const satisfies readonly OutsideMethod[];

export const fundBody = z
  .object({
    amount: amountField({
      minMinor: MIN_FUNDING_MINOR,
      maxMinor: MAX_FUNDING_MINOR,
      description: 'What the wallet is to get, in its own currency, with at most two decimals',
      example: 5000.5,
    }),
    paymentMethod: choiceField(FUNDING_METHODS, { description: 'How to pay', example: 'CARD' }),
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

export const fundingStandingSchema = z.object({ ...funding, timeline }).meta({ id: 'FundingStanding' });
