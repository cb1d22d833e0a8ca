/** The wallet as the specification lists it, and money coming into it. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { isoTime, money, timeline } from '../../platform/http/answer-fields.ts';
import { amountField, choiceField } from '../../platform/http/fields.ts';
import { MAX_FUNDING_MINOR, MAX_LOW_BALANCE_MINOR, MIN_FUNDING_MINOR } from '../../platform/http/limits.ts';
import { paymentFields } from '../../payments/http/schema.ts';
import type { OutsideMethod } from '../../domain/states.ts';

export const walletSchema = z
  .object({
    success: z.literal(true),
    data: z.object({
      balance: z.number().meta({ description: 'What can be spent now', example: 125.5 }),
      currency: z.enum(ACCOUNT_CURRENCIES),
      lastUpdated: isoTime('ISO 8601'),
    }),
  })
  .meta({ id: 'WalletBalance' });

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

export const lowBalanceBody = z
  .object({
    amount: amountField({
      minMinor: 0n,
      maxMinor: MAX_LOW_BALANCE_MINOR,
      description: 'In the wallet’s currency, with at most two decimals; 0 or null: not any more',
      example: 250,
    })
      .nullable()
      .meta({ type: ['number', 'null'] }),
  })
  .meta({ id: 'LowBalanceRequest' });

export const lowBalanceSchema = z
  .object({
    amount: money('Below this the wallet counts as low; null: never').nullable(),
    currency: z.enum(ACCOUNT_CURRENCIES),
  })
  .meta({ id: 'LowBalance' });
