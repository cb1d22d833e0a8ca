/** Every route there is. The router, the OpenAPI documents and the tests read this one list. */
import { brandRoutes } from '../../accounts/http/brand.ts';
import { mailStopRoutes } from '../../accounts/http/mail-stop.ts';
import { ownAccountRoutes } from '../../accounts/http/own-account.ts';
import { authRoutes } from '../../accounts/http/signing-in.ts';
import { paperRoutes } from '../../billing/http/papers.ts';
import { changeRoutes } from '../../catalogue/http/changes.ts';
import { exchangeRateRoutes } from '../../catalogue/http/exchange-rate.ts';
import { packageRoutes } from '../../catalogue/http/packages.ts';
import { priceListRoutes } from '../../catalogue/http/price-list.ts';
import { regionRoutes } from '../../catalogue/http/regions.ts';
import { installPageRoutes } from '../../esims/http/install-page-routes.ts';
import { installRoutes } from '../../esims/http/install.ts';
import { mandateRoutes } from '../../esims/http/mandates.ts';
import { esimRoutes } from '../../esims/http/esims.ts';
import { supplierEventRoutes } from '../../esims/http/supplier-events.ts';
import { walletEntriesRoutes } from '../../ledger/http/wallet-entries.ts';
import { walletRoutes } from '../../ledger/http/wallet.ts';
import { gatewayEventRoutes } from '../../payments/http/gateway-events.ts';
import { fundingRoutes } from '../../payments/http/funding.ts';
import { returnPageRoutes } from '../../payments/http/return-page-routes.ts';
import { batchRoutes } from '../../purchases/http/batches.ts';
import { checkoutSessionRoutes } from '../../purchases/http/checkout-sessions.ts';
import { buyRoutes } from '../../purchases/http/buy.ts';
import { confirmPaymentRoutes } from '../../purchases/http/confirm-payment.ts';
import { esimTimelineRoutes } from '../../purchases/http/esim-timeline.ts';
import { figuresRoutes } from '../../purchases/http/figures.ts';
import { quoteRoutes } from '../../purchases/http/quotes.ts';
import { replacementRoutes } from '../../purchases/http/replacements.ts';
import { returnRoutes } from '../../purchases/http/returns.ts';
import { searchRoutes } from '../../purchases/http/search.ts';
import { transactionRoutes } from '../../purchases/http/transactions.ts';
import { sandboxRoutes } from '../../esims/http/sandbox.ts';
import { WEBHOOK_EVENTS, EVENTS, eventBodySchema } from '../../webhooks/events.ts';
import { endpointRoutes } from '../../webhooks/http/endpoints.ts';
import { feedRoutes, messageRoutes } from '../../webhooks/http/messages.ts';
import { docsRoutes } from '../../platform/http/docs/routes.ts';
import { createRenderCache } from '../../platform/http/render-cache.ts';
import { within, type Route } from '../../platform/http/route.ts';
import type { UserUseCases } from '../composition/user-use-cases.ts';
import type { WorldUseCases } from '../composition/use-cases.ts';
import examples from './examples.json' with { type: 'json' };
import { opsRoutes } from './ops-routes.ts';

export function createRouteTable(info: {
  readonly version: string;
  readonly brand: string;
}): readonly Route[] {
  const renderCache = createRenderCache();
  const forKeys: readonly Route<WorldUseCases>[] = [
    ...within('catalogue', regionRoutes(renderCache)),
    ...within('catalogue', packageRoutes(renderCache)),
    ...within('catalogue', priceListRoutes(renderCache)),
    ...within('catalogue', changeRoutes),
    ...within('purchases', buyRoutes),
    ...within('esims', esimRoutes),
    ...within('esims', installRoutes),
    ...within('esims', mandateRoutes),
    ...within('purchases', batchRoutes),
    ...within('purchases', returnRoutes),
    ...within('purchases', replacementRoutes),
    ...within('purchases', transactionRoutes),
    ...within('purchases', esimTimelineRoutes),
    ...within('figures', figuresRoutes(renderCache)),
    ...within('purchases', searchRoutes),
    ...within('purchases', confirmPaymentRoutes),
    ...within('purchases', quoteRoutes),
    ...within('purchases', checkoutSessionRoutes),
    ...within('wallet', walletRoutes),
    ...within('wallet', walletEntriesRoutes),
    ...within('billing', paperRoutes),
    ...within('payments', fundingRoutes),
    ...within('webhooks', endpointRoutes),
    ...within('webhooks', messageRoutes),
    ...within('esims', sandboxRoutes),
    ...within('webhooks', feedRoutes),
    ...within('catalogue', exchangeRateRoutes),
  ];
  const forUsers: readonly Route<UserUseCases>[] = [
    ...within('auth', authRoutes),
    ...within('account', ownAccountRoutes),
    ...within('account', brandRoutes),
  ];
  const forAnybody: readonly Route<UserUseCases>[] = [...within('auth', mailStopRoutes)];
  const fromElsewhere: readonly Route<WorldUseCases>[] = [
    ...within('payments', returnPageRoutes),
    ...within('esims', installPageRoutes),
    ...within('payments', gatewayEventRoutes),
    ...within('esims', supplierEventRoutes),
  ];
  const api = [...forKeys, ...forUsers];
  const events = WEBHOOK_EVENTS.map((event) => ({
    event,
    ...EVENTS[event],
    body: eventBodySchema(event),
  }));
  return [
    ...api,
    ...docsRoutes(api, { ...info, events, examples }),
    ...fromElsewhere,
    ...forAnybody,
    ...opsRoutes(info),
  ];
}

const DOCUMENT_PATHS = { api: '/api/openapi.json', ops: '/ops/openapi.json' } as const;
export const DOCUMENT_NAMES = Object.keys(DOCUMENT_PATHS) as (keyof typeof DOCUMENT_PATHS)[];

/**
 * An OpenAPI document as JSON, as the service answers it: `api` for merchants, `ops` for everything under
 * /ops.
 */
export async function openApiDocument(
  name: keyof typeof DOCUMENT_PATHS,
  info: { readonly version: string; readonly brand: string },
): Promise<string> {
  const route = createRouteTable(info).find(({ path }) => path === DOCUMENT_PATHS[name]);
  if (!route) throw new Error(`there is no document ${name}`);
  // These two handlers read nothing of their request.
  const { body } = await route.handle({} as Parameters<typeof route.handle>[0]);
  return body.toString();
}
