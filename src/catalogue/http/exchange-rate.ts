/** The exchange rate, without a key. */
import { z } from 'zod';
import { answer, namedObject } from '../../platform/http/answer-fields.ts';
import { routesWith } from '../../platform/http/define-routes.ts';
import { decimalJson } from '../../platform/http/json.ts';
import { presenter } from '../../platform/http/present.ts';
import type { Route } from '../../platform/http/route.ts';
import type { CatalogueCases } from '../use-cases.ts';

const exchangeRateSchema = namedObject('ExchangeRate', {
  success: z.literal(true),
  message: z.string(),
  data: z.object({
    rate: z.number().meta({ description: '1 USD is this many NGN', example: 1534.25 }),
    baseCurrency: z.literal('USD'),
    currency: z.literal('NGN'),
  }),
});

const routes = routesWith<CatalogueCases, 'public'>('public', 'Settings');

export const exchangeRateRoutes: readonly Route<CatalogueCases>[] = [
  routes.get('/api/settings/exchange-rate', {
    errors: ['EXCHANGE_RATE_UNAVAILABLE'],
    answer: { 200: { description: 'The rate', schema: exchangeRateSchema } },
    operationId: 'getExchangeRate',
    summary: 'Read the USD to NGN exchange rate',
    description:
      'Needs no key. The rate is updated periodically and can change between reading and purchase.',
    async handle({ cases }) {
      const rate = decimalJson(await cases.getExchangeRate());
      const data = { rate, baseCurrency: 'USD', currency: 'NGN' } as const;
      return answer(presenter(exchangeRateSchema)({ success: true, message: 'Current exchange rate', data }));
    },
  }),
];
