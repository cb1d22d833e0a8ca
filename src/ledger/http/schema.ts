import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { isoTime, money, dataSchema } from '../../platform/http/answer-fields.ts';
import { amountField } from '../../platform/http/fields.ts';
import { MAX_LOW_BALANCE_MINOR } from '../../platform/http/limits.ts';

export const walletSchema = dataSchema(
  z.object({
    balance: z.number().meta({ description: 'What can be spent now', example: 125.5 }),
    currency: z.enum(ACCOUNT_CURRENCIES),
    onHold: z
      .number()
      .meta({ description: 'Taken from the balance for purchases that are open', example: 12.5 }),
    owed: z.number().meta({
      description:
        'Taken back by a bank after it was spent. The next money that comes into the wallet pays it',
      example: 0,
    }),
    lastUpdated: isoTime('ISO 8601'),
  }),
  'WalletBalance',
);

export const lowBalanceBody = z
  .object({
    amount: amountField({
      minMinor: 0n,
      maxMinor: MAX_LOW_BALANCE_MINOR,
      description: 'In the wallet’s currency, with at most two decimals; 0 or null switches the alert off',
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
