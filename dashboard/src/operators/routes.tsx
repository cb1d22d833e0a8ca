import {
  IconAlertTriangle,
  IconBell,
  IconBook,
  IconBuildingStore,
  IconChecks,
  IconCash,
  IconCoins,
  IconDeviceSim,
  IconGitCompare,
  IconHistory,
  IconHome,
  IconShoppingCart,
  IconTag,
  IconTool,
  IconUsers,
} from '@tabler/icons-react';
import { createRoute, lazyRouteComponent, notFound, redirect } from '@tanstack/react-router';
import { pagesBelow } from '../app/pages-below.ts';
import { rootRoute } from '../app/root-route.tsx';
import { ENVIRONMENTS, searchText } from '../ui/address.ts';
import {
  accountSearch,
  accountsSearch,
  auditSearch,
  booksSearch,
  differenceSearch,
  esimsSearch,
  fundingsSearch,
  pageSearch,
  purchasesSearch,
  ratesSearch,
  repairSearch,
  stuckSearch,
} from './search.ts';

const operators = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operators/$environment',
  params: {
    parse: ({ environment }) => {
      const known = ENVIRONMENTS.find((name) => name === environment);
      if (!known) throw notFound();
      return { environment: known };
    },
    stringify: ({ environment }) => ({ environment }),
  },
  component: lazyRouteComponent(() => import('./layout.tsx'), 'OperatorLayout'),
});

const start = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operators',
  beforeLoad: () => {
    throw redirect({ to: '/operators/$environment', params: { environment: 'test' } });
  },
});

const page = pagesBelow(operators);

export const operatorRoutes = [
  start,
  operators.addChildren([
    page('/', () => import('./home.tsx'), 'HomePage', {
      staticData: { operatorsPage: { label: 'Home', icon: IconHome } },
    }),
    page('/stuck', () => import('./stuck.tsx'), 'StuckPage', {
      staticData: { operatorsPage: { label: 'Stuck', icon: IconAlertTriangle } },
      validateSearch: stuckSearch,
    }),
    page('/alerts', () => import('./alerts.tsx'), 'AlertsPage', {
      staticData: { operatorsPage: { label: 'Alerts', icon: IconBell } },
      validateSearch: pageSearch,
    }),
    page('/repairs', () => import('./batch-repair.tsx'), 'BatchRepairsPage', {
      staticData: { operatorsPage: { label: 'Batch repairs', icon: IconTool } },
      validateSearch: pageSearch,
    }),
    page('/repairs/new', () => import('./new-batch-repair.tsx'), 'NewBatchRepairPage', {
      validateSearch: repairSearch,
    }),
    page('/repairs/$repairId', () => import('./batch-repair.tsx'), 'BatchRepairPage'),
    page('/purchases', () => import('./lists.tsx'), 'PurchasesPage', {
      staticData: { operatorsPage: { label: 'Purchases', icon: IconShoppingCart } },
      validateSearch: purchasesSearch,
    }),
    page('/fundings', () => import('./lists.tsx'), 'FundingsPage', {
      staticData: { operatorsPage: { label: 'Fundings', icon: IconCash } },
      validateSearch: fundingsSearch,
    }),
    page('/esims', () => import('./lists.tsx'), 'EsimsPage', {
      staticData: { operatorsPage: { label: 'eSIMs', icon: IconDeviceSim } },
      validateSearch: esimsSearch,
    }),
    page('/purchases/$id', () => import('./purchase.tsx'), 'PurchasePage'),
    page('/approvals', () => import('./approvals.tsx'), 'ApprovalsPage', {
      staticData: { operatorsPage: { label: 'Approvals', icon: IconChecks } },
    }),
    page('/differences', () => import('./differences.tsx'), 'DifferencesPage', {
      staticData: { operatorsPage: { label: 'Differences', icon: IconGitCompare, needs: 'reconcile' } },
      validateSearch: differenceSearch,
    }),
    page('/books', () => import('./books.tsx'), 'BooksPage', {
      staticData: { operatorsPage: { label: 'Books', icon: IconBook, needs: 'books' } },
      validateSearch: booksSearch,
    }),
    page('/rates', () => import('./rates.tsx'), 'RatesPage', {
      staticData: { operatorsPage: { label: 'Rates', icon: IconCoins, needs: 'pricing' } },
      validateSearch: ratesSearch,
    }),
    page('/prices', () => import('./prices.tsx'), 'PricesPage', {
      staticData: { operatorsPage: { label: 'Prices', icon: IconTag, needs: 'pricing' } },
    }),
    page('/accounts', () => import('./accounts.tsx'), 'AccountsPage', {
      staticData: { operatorsPage: { label: 'Accounts', icon: IconBuildingStore } },
      validateSearch: accountsSearch,
    }),
    page('/accounts/$id', () => import('./account.tsx'), 'AccountPage', { validateSearch: accountSearch }),
    page('/audit', () => import('./audit.tsx'), 'AuditPage', {
      staticData: { operatorsPage: { label: 'Audit log', icon: IconHistory, needs: 'audit' } },
      validateSearch: auditSearch,
    }),
    page('/people', () => import('./people.tsx'), 'PeoplePage', {
      staticData: { operatorsPage: { label: 'People', icon: IconUsers, needs: 'people' } },
      validateSearch: pageSearch,
    }),
    page('/search', () => import('./search-page.tsx'), 'SearchPage', { validateSearch: searchText }),
    page('/login', () => import('../account/own-login.tsx'), 'OwnLoginPage'),
    page('/device', () => import('./device.tsx'), 'DevicePage'),
  ]),
] as const;
