/** Every route there is. The router, the OpenAPI documents and the tests read this one list. */
import { catalogueRoutes, exchangeRateRoute } from '../../catalogue/http/routes.ts';
import { checkoutRoutes } from '../../payments/http/return-page-routes.ts';
import { docsRoutes } from '../http/docs/routes.ts';
import { esimRoutes, paymentRoutes } from '../../purchases/http/routes.ts';
import { opsRoutes } from './ops-routes.ts';
import { createRenderCache } from '../http/render-cache.ts';
import type { Route } from '../http/route.ts';
import { walletRoutes } from '../../ledger/http/routes.ts';
import { fundRoute } from '../../payments/http/funding-routes.ts';
import { EVENT_WORDS, eventBodySchema } from '../../webhooks/http/events.ts';
import { MERCHANT_WEBHOOK_ROUTES } from '../../webhooks/http/routes.ts';
import { WEBHOOK_EVENTS } from '../../webhooks/rules.ts';
import { webhookRoutes } from '../../payments/http/gateway-events-routes.ts';

export function createRouteTable(about: {
  readonly version: string;
  readonly brand: string;
}): readonly Route[] {
  const api = [
    ...catalogueRoutes(createRenderCache()),
    ...esimRoutes(),
    ...paymentRoutes(),
    ...walletRoutes(),
    fundRoute(),
    ...MERCHANT_WEBHOOK_ROUTES,
    exchangeRateRoute(),
  ];
  const events = WEBHOOK_EVENTS.map((event) => ({
    event,
    ...EVENT_WORDS[event],
    body: eventBodySchema(event),
  }));
  return [
    ...api,
    ...docsRoutes(api, events, about),
    ...checkoutRoutes(),
    ...webhookRoutes(),
    ...opsRoutes(about),
  ];
}
