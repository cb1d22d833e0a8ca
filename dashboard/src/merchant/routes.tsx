/** Account and environment are part of each address, so that a link always shows the same. */
import {
  IconArrowBackUp,
  IconBuildingStore,
  IconChartBar,
  IconDeviceMobile,
  IconFileSpreadsheet,
  IconHome,
  IconKey,
  IconListDetails,
  IconPalette,
  IconReceipt,
  IconReplace,
  IconSettings,
  IconUsers,
  IconWallet,
  IconWebhook,
} from '@tabler/icons-react';
import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router';
import { setPlace } from '../api/client.ts';
import { pagesBelow } from '../app/pages-below.ts';
import { rootRoute } from '../app/root-route.tsx';
import { type Environment, searchText } from '../ui/address.ts';
import {
  entryFilters,
  messageFilters,
  requestFilters,
  transactionFilters,
  esimFilters,
  figureFilters,
  packageFilters,
} from './filters.ts';

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

const page = pagesBelow(merchant);

export const merchantRoutes = [
  merchant.addChildren([
    page('/', () => import('./home.tsx'), 'HomePage', {
      staticData: { merchantPage: { label: 'Home', icon: IconHome } },
    }),
    page('/catalogue', () => import('./catalogue.tsx'), 'CataloguePage', {
      staticData: { merchantPage: { label: 'Catalogue', icon: IconBuildingStore } },
      validateSearch: packageFilters,
    }),
    page('/catalogue/$packageCode', () => import('./buy.tsx'), 'BuyPage'),
    page('/batches', () => import('./batches.tsx'), 'BatchesPage', {
      staticData: { merchantPage: { label: 'Batches', icon: IconFileSpreadsheet } },
    }),
    page('/batches/$batchId', () => import('./batches.tsx'), 'BatchPage'),
    page('/esims', () => import('./esim.tsx'), 'EsimsPage', {
      staticData: { merchantPage: { label: 'eSIMs', icon: IconDeviceMobile } },
      validateSearch: esimFilters,
    }),
    page('/esims/$esimId', () => import('./esim.tsx'), 'EsimPage'),
    page('/returns', () => import('./returns.tsx'), 'ReturnsPage', {
      staticData: { merchantPage: { label: 'Returns', icon: IconArrowBackUp } },
    }),
    page('/replacements', () => import('./replacements.tsx'), 'ReplacementsPage', {
      staticData: { merchantPage: { label: 'Replacements', icon: IconReplace } },
    }),
    page('/purchases', () => import('./purchases.tsx'), 'PurchasesPage', {
      staticData: { merchantPage: { label: 'Purchases', icon: IconReceipt } },
      validateSearch: transactionFilters,
    }),
    page('/purchases/$transactionId', () => import('./purchases.tsx'), 'PurchasePage'),
    page('/wallet', () => import('./wallet.tsx'), 'WalletPage', {
      staticData: { merchantPage: { label: 'Wallet', icon: IconWallet } },
      validateSearch: entryFilters,
    }),
    page('/figures', () => import('./figures.tsx'), 'FiguresPage', {
      staticData: { merchantPage: { label: 'Figures', icon: IconChartBar } },
      validateSearch: figureFilters,
    }),
    page('/developers/keys', () => import('./keys.tsx'), 'KeysPage', {
      staticData: { merchantPage: { label: 'API keys', icon: IconKey, needs: 'keys' } },
    }),
    page('/developers/webhooks', () => import('./webhooks.tsx'), 'WebhooksPage', {
      staticData: { merchantPage: { label: 'Webhooks', icon: IconWebhook } },
      validateSearch: messageFilters,
    }),
    page('/developers/webhooks/$messageId', () => import('./webhook-message.tsx'), 'WebhookMessagePage'),
    page('/developers/requests', () => import('./keys.tsx'), 'RequestsPage', {
      staticData: { merchantPage: { label: 'API requests', icon: IconListDetails, needs: 'requests' } },
      validateSearch: requestFilters,
    }),
    page('/search', () => import('./search-page.tsx'), 'SearchPage', { validateSearch: searchText }),
    page('/brand', () => import('./brand.tsx'), 'BrandPage', {
      staticData: { merchantPage: { label: 'Brand', icon: IconPalette } },
    }),
    page('/team', () => import('./team.tsx'), 'TeamPage', {
      staticData: { merchantPage: { label: 'Team', icon: IconUsers } },
    }),
    page('/settings', () => import('./team.tsx'), 'SettingsPage', {
      staticData: { merchantPage: { label: 'Settings', icon: IconSettings } },
    }),
    page('/login', () => import('../account/own-login.tsx'), 'OwnLoginPage'),
  ]),
] as const;
