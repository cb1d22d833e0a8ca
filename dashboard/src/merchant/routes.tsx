/**
 * The merchants' addresses. Account and environment are part of each, so that a link always shows the same.
 */
import {
  IconBuildingStore,
  IconChartBar,
  IconDeviceMobile,
  IconFileSpreadsheet,
  IconHome,
  IconKey,
  IconListDetails,
  IconReceipt,
  IconSettings,
  IconUsers,
  IconWallet,
  IconWebhook,
} from '@tabler/icons-react';
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
  staticData: { merchantPage: { label: 'Home', icon: IconHome } },
  component: lazyRouteComponent(() => import('./home.tsx'), 'HomePage'),
});

const catalogue = createRoute({
  getParentRoute: () => merchant,
  path: '/catalogue',
  staticData: { merchantPage: { label: 'Catalogue', icon: IconBuildingStore } },
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
  staticData: { merchantPage: { label: 'Batches', icon: IconFileSpreadsheet } },
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
  staticData: { merchantPage: { label: 'eSIMs', icon: IconDeviceMobile } },
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
  staticData: { merchantPage: { label: 'Purchases', icon: IconReceipt } },
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
  staticData: { merchantPage: { label: 'Wallet', icon: IconWallet } },
  validateSearch: entryFilters,
  component: lazyRouteComponent(() => import('./wallet.tsx'), 'WalletPage'),
});

const figures = createRoute({
  getParentRoute: () => merchant,
  path: '/figures',
  staticData: { merchantPage: { label: 'Figures', icon: IconChartBar } },
  component: lazyRouteComponent(() => import('./figures.tsx'), 'FiguresPage'),
});

const keys = createRoute({
  getParentRoute: () => merchant,
  path: '/developers/keys',
  staticData: { merchantPage: { label: 'API keys', icon: IconKey, needs: 'keys' } },
  component: lazyRouteComponent(() => import('./keys.tsx'), 'KeysPage'),
});

const webhooks = createRoute({
  getParentRoute: () => merchant,
  path: '/developers/webhooks',
  staticData: { merchantPage: { label: 'Webhooks', icon: IconWebhook } },
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
  staticData: { merchantPage: { label: 'API requests', icon: IconListDetails, needs: 'requests' } },
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
  staticData: { merchantPage: { label: 'Team', icon: IconUsers } },
  component: lazyRouteComponent(() => import('./team.tsx'), 'TeamPage'),
});

const settings = createRoute({
  getParentRoute: () => merchant,
  path: '/settings',
  staticData: { merchantPage: { label: 'Settings', icon: IconSettings } },
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
