/** Every route there is. The matcher, the OpenAPI document and the tests read this one list. */
import { catalogueRoutes } from './catalogue/routes.ts';
import { checkoutRoutes } from './checkout/routes.ts';
import { docsRoutes } from './docs/routes.ts';
import { esimRoutes } from './esim/routes.ts';
import { opsRoutes } from './ops/routes.ts';
import { paymentRoutes } from './payment/routes.ts';
import { createRenderCache } from './render-cache.ts';
import type { Route } from './route.ts';
import { settingsRoutes } from './settings/routes.ts';
import { walletRoutes } from './wallet/routes.ts';
import { webhookEndpointRoutes } from './webhook-endpoints/routes.ts';
import { webhookMessageRoutes } from './webhook-messages/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

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
