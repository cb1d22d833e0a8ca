/** The addresses of finance, operations and administrators. The environment is part of each. */
import {
  IconAlertTriangle,
  IconBook,
  IconBuildingStore,
  IconChecks,
  IconCoins,
  IconGitCompare,
  IconHistory,
  IconHome,
  IconTag,
  IconTool,
  IconUsers,
} from '@tabler/icons-react';
import { createRoute, lazyRouteComponent, notFound, redirect } from '@tanstack/react-router';
import { rootRoute } from '../app/root-route.tsx';
import { searchText } from '../ui/search-text.ts';
import { ENVIRONMENTS } from '../ui/environment.ts';
import {
  accountSearch,
  accountsSearch,
  auditSearch,
  booksSearch,
  differenceSearch,
  pageSearch,
  ratesSearch,
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

const home = createRoute({
  getParentRoute: () => operators,
  path: '/',
  staticData: { operatorsPage: { label: 'Home', icon: IconHome } },
  component: lazyRouteComponent(() => import('./home.tsx'), 'HomePage'),
});

const stuck = createRoute({
  getParentRoute: () => operators,
  path: '/stuck',
  staticData: { operatorsPage: { label: 'Stuck', icon: IconAlertTriangle } },
  validateSearch: stuckSearch,
  component: lazyRouteComponent(() => import('./stuck.tsx'), 'StuckPage'),
});

const purchase = createRoute({
  getParentRoute: () => operators,
  path: '/purchases/$id',
  component: lazyRouteComponent(() => import('./purchase.tsx'), 'PurchasePage'),
});

const repairs = createRoute({
  getParentRoute: () => operators,
  path: '/repairs',
  staticData: { operatorsPage: { label: 'Batch repairs', icon: IconTool } },
  validateSearch: pageSearch,
  component: lazyRouteComponent(() => import('./batch-repairs.tsx'), 'BatchRepairsPage'),
});

const newRepair = createRoute({
  getParentRoute: () => operators,
  path: '/repairs/new',
  validateSearch: stuckSearch,
  component: lazyRouteComponent(() => import('./new-batch-repair.tsx'), 'NewBatchRepairPage'),
});

const repair = createRoute({
  getParentRoute: () => operators,
  path: '/repairs/$repairId',
  component: lazyRouteComponent(() => import('./batch-repair.tsx'), 'BatchRepairPage'),
});

const approvals = createRoute({
  getParentRoute: () => operators,
  path: '/approvals',
  staticData: { operatorsPage: { label: 'Approvals', icon: IconChecks } },
  component: lazyRouteComponent(() => import('./approvals.tsx'), 'ApprovalsPage'),
});

const differences = createRoute({
  getParentRoute: () => operators,
  path: '/differences',
  staticData: { operatorsPage: { label: 'Differences', icon: IconGitCompare, needs: 'reconcile' } },
  validateSearch: differenceSearch,
  component: lazyRouteComponent(() => import('./differences.tsx'), 'DifferencesPage'),
});

const books = createRoute({
  getParentRoute: () => operators,
  path: '/books',
  staticData: { operatorsPage: { label: 'Books', icon: IconBook, needs: 'books' } },
  validateSearch: booksSearch,
  component: lazyRouteComponent(() => import('./books.tsx'), 'BooksPage'),
});

const rates = createRoute({
  getParentRoute: () => operators,
  path: '/rates',
  staticData: { operatorsPage: { label: 'Rates', icon: IconCoins, needs: 'pricing' } },
  validateSearch: ratesSearch,
  component: lazyRouteComponent(() => import('./rates.tsx'), 'RatesPage'),
});

const prices = createRoute({
  getParentRoute: () => operators,
  path: '/prices',
  staticData: { operatorsPage: { label: 'Prices', icon: IconTag, needs: 'pricing' } },
  component: lazyRouteComponent(() => import('./prices.tsx'), 'PricesPage'),
});

const people = createRoute({
  getParentRoute: () => operators,
  path: '/people',
  staticData: { operatorsPage: { label: 'People', icon: IconUsers, needs: 'people' } },
  validateSearch: pageSearch,
  component: lazyRouteComponent(() => import('./people.tsx'), 'PeoplePage'),
});

const accounts = createRoute({
  getParentRoute: () => operators,
  path: '/accounts',
  staticData: { operatorsPage: { label: 'Accounts', icon: IconBuildingStore } },
  validateSearch: accountsSearch,
  component: lazyRouteComponent(() => import('./accounts.tsx'), 'AccountsPage'),
});

const account = createRoute({
  getParentRoute: () => operators,
  path: '/accounts/$id',
  validateSearch: accountSearch,
  component: lazyRouteComponent(() => import('./account.tsx'), 'AccountPage'),
});

const audit = createRoute({
  getParentRoute: () => operators,
  path: '/audit',
  staticData: { operatorsPage: { label: 'Audit log', icon: IconHistory, needs: 'audit' } },
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('./audit.tsx'), 'AuditPage'),
});

const search = createRoute({
  getParentRoute: () => operators,
  path: '/search',
  validateSearch: searchText,
  component: lazyRouteComponent(() => import('./search-page.tsx'), 'SearchPage'),
});

const login = createRoute({
  getParentRoute: () => operators,
  path: '/login',
  component: lazyRouteComponent(() => import('../account/own-login.tsx'), 'OwnLoginPage'),
});

const device = createRoute({
  getParentRoute: () => operators,
  path: '/device',
  component: lazyRouteComponent(() => import('./device.tsx'), 'DevicePage'),
});

export const operatorRoutes = [
  start,
  operators.addChildren([
    home,
    stuck,
    repairs,
    newRepair,
    repair,
    purchase,
    approvals,
    differences,
    books,
    rates,
    prices,
    accounts,
    account,
    audit,
    people,
    search,
    login,
    device,
  ]),
] as const;
