/** The wallet as the specification lists it. */
import { z } from 'zod';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';

export const walletSchema = z
  .object({
    success: z.literal(true),
    data: z.object({
      balance: z.number().meta({ description: 'What can be spent now', example: 125.5 }),
      currency: z.enum(ACCOUNT_CURRENCIES),
      lastUpdated: z.string().meta({ description: 'ISO 8601', example: '2026-01-31T09:30:00.000Z' }),
    }),
  })
  .meta({ id: 'WalletBalance' });
