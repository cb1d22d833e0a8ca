/** The exchange rate, without a key. */
import { z } from 'zod';
import { decimalJson } from '../../platform/http/json.ts';
import type { View } from '../../platform/http/present.ts';
import { type Route, routesFor } from '../../platform/http/route.ts';
import type { CatalogueCases } from '../use-cases.ts';
import { answer } from '../../platform/http/answer-fields.ts';

const defineRoute = routesFor<CatalogueCases>();

const exchangeRateSchema = z
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

function presentExchangeRate(rate: string): View<z.output<typeof exchangeRateSchema>> {
  return {
    success: true,
    message: 'Current exchange rate',
    data: { rate: decimalJson(rate), baseCurrency: 'USD', currency: 'NGN' },
  };
}

const exchangeRateRoute = defineRoute({
  method: 'GET',
  path: '/api/settings/exchange-rate',
  key: 'public',
  scope: undefined,
  errors: ['EXCHANGE_RATE_UNAVAILABLE'],
  responses: { 200: { description: 'The rate', schema: exchangeRateSchema } },
  docs: {
    operationId: 'getExchangeRate',
    tag: 'Settings',
    summary: 'Read the USD to NGN exchange rate',
    description:
      'Needs no key. The rate is updated periodically and can change between reading and purchase.',
  },
  handle: async ({ cases }) => answer(presentExchangeRate(await cases.getExchangeRate())),
});

export const exchangeRateRoutes: readonly Route<CatalogueCases>[] = [exchangeRateRoute];
