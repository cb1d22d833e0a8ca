/** Every route there is. The matcher, the OpenAPI document and the tests read this one list. */
import { catalogueRoutes } from '../../catalogue/http/routes.ts';
import { checkoutRoutes } from '../../payments/http/return-page-routes.ts';
import { docsRoutes } from '../http/docs/routes.ts';
import { esimRoutes } from '../../purchases/http/routes.ts';
import { opsRoutes } from './ops-routes.ts';
import { paymentRoutes } from '../../purchases/http/confirm-payment-routes.ts';
import { createRenderCache } from '../http/render-cache.ts';
import type { Route } from '../http/route.ts';
import { settingsRoutes } from '../../catalogue/http/settings-routes.ts';
import { walletRoutes } from '../../ledger/http/routes.ts';
import { webhookEndpointRoutes } from '../../webhooks/http/endpoints/routes.ts';
import { webhookMessageRoutes } from '../../webhooks/http/messages/routes.ts';
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
    ...webhookEndpointRoutes(),
    ...webhookMessageRoutes(),
    ...settingsRoutes(),
  ];
  return [...api, ...docsRoutes(api, about), ...checkoutRoutes(), ...webhookRoutes(), ...opsRoutes(about)];
}
