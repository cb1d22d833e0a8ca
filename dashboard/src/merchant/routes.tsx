/** The merchants' addresses. Account and environment are part of each, so that a link always shows the same. */
import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router';
import { setPlace } from '../api/client.ts';
import { rootRoute } from '../app/root-route.tsx';
import { textIn, type Search } from '../ui/address.ts';
import { searchText } from '../ui/search-text.ts';
import type { Environment } from '../ui/environment.ts';
import { entryFilters, messageFilters, requestFilters, transactionFilters } from './filters.ts';
import { packageFilters } from './package-filters.ts';

const merchant = createRoute({
  getParentRoute: () => rootRoute,
  path: '/m/$accountId/$environment',
  params: {
    parse: ({ accountId, environment }): { accountId: string; environment: Environment } => {
      if (environment !== 'live' && environment !== 'test') throw notFound();
      return { accountId, environment };
    },
    stringify: ({ accountId, environment }) => ({ accountId, environment }),
  },
  beforeLoad: ({ params, cause }) => {
    if (cause !== 'preload') setPlace({ accountId: params.accountId, environment: params.environment });
  },
  component: lazyRouteComponent(() => import('./layout.tsx'), 'MerchantLayout'),
});

const home = createRoute({
  getParentRoute: () => merchant,
  path: '/',
  component: lazyRouteComponent(() => import('./home.tsx'), 'HomePage'),
});

const catalogue = createRoute({
  getParentRoute: () => merchant,
  path: '/catalogue',
  validateSearch: packageFilters,
  component: lazyRouteComponent(() => import('./catalogue.tsx'), 'CataloguePage'),
});

const buy = createRoute({
  getParentRoute: () => merchant,
  path: '/catalogue/$packageCode',
  component: lazyRouteComponent(() => import('./buy.tsx'), 'BuyPage'),
});

const batches = createRoute({
  getParentRoute: () => merchant,
  path: '/batches',
  component: lazyRouteComponent(() => import('./batches.tsx'), 'BatchesPage'),
});

const batch = createRoute({
  getParentRoute: () => merchant,
  path: '/batches/$batchId',
  component: lazyRouteComponent(() => import('./batches.tsx'), 'BatchPage'),
});

const esims = createRoute({
  getParentRoute: () => merchant,
  path: '/esims',
  validateSearch: ({
    search,
    status,
  }: Search): { search?: string | undefined; status?: string | undefined } => ({
    search: textIn(search),
    status: textIn(status),
  }),
  component: lazyRouteComponent(() => import('./esims.tsx'), 'EsimsPage'),
});

const esim = createRoute({
  getParentRoute: () => merchant,
  path: '/esims/$esimId',
  component: lazyRouteComponent(() => import('./esim.tsx'), 'EsimPage'),
});

const purchases = createRoute({
  getParentRoute: () => merchant,
  path: '/purchases',
  validateSearch: transactionFilters,
  component: lazyRouteComponent(() => import('./purchases.tsx'), 'PurchasesPage'),
});

const purchase = createRoute({
  getParentRoute: () => merchant,
  path: '/purchases/$transactionId',
  component: lazyRouteComponent(() => import('./purchases.tsx'), 'PurchasePage'),
});

const wallet = createRoute({
  getParentRoute: () => merchant,
  path: '/wallet',
  validateSearch: entryFilters,
  component: lazyRouteComponent(() => import('./wallet.tsx'), 'WalletPage'),
});

const figures = createRoute({
  getParentRoute: () => merchant,
  path: '/figures',
  component: lazyRouteComponent(() => import('./figures.tsx'), 'FiguresPage'),
});

const keys = createRoute({
  getParentRoute: () => merchant,
  path: '/developers/keys',
  component: lazyRouteComponent(() => import('./keys.tsx'), 'KeysPage'),
});

const webhooks = createRoute({
  getParentRoute: () => merchant,
  path: '/developers/webhooks',
  validateSearch: messageFilters,
  component: lazyRouteComponent(() => import('./webhooks.tsx'), 'WebhooksPage'),
});

const message = createRoute({
  getParentRoute: () => merchant,
  path: '/developers/webhooks/$messageId',
  component: lazyRouteComponent(() => import('./webhook-message.tsx'), 'WebhookMessagePage'),
});

const requests = createRoute({
  getParentRoute: () => merchant,
  path: '/developers/requests',
  validateSearch: requestFilters,
  component: lazyRouteComponent(() => import('./requests.tsx'), 'RequestsPage'),
});

const search = createRoute({
  getParentRoute: () => merchant,
  path: '/search',
  validateSearch: searchText,
  component: lazyRouteComponent(() => import('./search-page.tsx'), 'SearchPage'),
});

const team = createRoute({
  getParentRoute: () => merchant,
  path: '/team',
  component: lazyRouteComponent(() => import('./team.tsx'), 'TeamPage'),
});

const settings = createRoute({
  getParentRoute: () => merchant,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings.tsx'), 'SettingsPage'),
});

const login = createRoute({
  getParentRoute: () => merchant,
  path: '/login',
  component: lazyRouteComponent(() => import('../account/own-login.tsx'), 'OwnLoginPage'),
});

export const merchantRoutes = [
  merchant.addChildren([
    home,
    catalogue,
    buy,
    batches,
    batch,
    esims,
    esim,
    purchases,
    purchase,
    wallet,
    figures,
    keys,
    webhooks,
    message,
    requests,
    search,
    team,
    settings,
    login,
  ]),
] as const;
