import { toJson } from '../../platform/http/json.ts';
import { routesFor, type Route } from '../../platform/http/route.ts';
import { presentExchangeRate } from './present.ts';
import { exchangeRateSchema } from './schema.ts';
import type { CatalogueCases } from '../use-cases.ts';

const defineRoute = routesFor<CatalogueCases>();

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
  async handle({ cases }) {
    return { status: 200, body: toJson(presentExchangeRate(await cases.getExchangeRate())) };
  },
});

export const exchangeRateRoutes: readonly Route<CatalogueCases>[] = [exchangeRateRoute];
