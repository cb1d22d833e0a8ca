/** The exchange rate as the specification lists it. */
import { z } from 'zod';

export const exchangeRateSchema = z
  .object({
    success: z.literal(true),
    message: z.string(),
    data: z.object({
      rate: z.number().meta({ description: '1 USD is this many NGN', example: 1534.25 }),
      baseCurrency: z.literal('USD'),
      currency: z.literal('NGN'),
    }),
  })
  .meta({ id: 'ExchangeRate' });
