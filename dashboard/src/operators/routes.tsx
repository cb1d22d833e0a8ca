/** The addresses of finance, operations and administrators. The environment is part of each. */
import { createRoute, lazyRouteComponent, notFound, redirect } from '@tanstack/react-router';
import { rootRoute } from '../app/root-route.tsx';
import { searchText } from '../ui/search-text.ts';
import type { Environment } from '../ui/environment.ts';
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

const ENVIRONMENTS: readonly Environment[] = ['live', 'test'];

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
  component: lazyRouteComponent(() => import('./home.tsx'), 'HomePage'),
});

const stuck = createRoute({
  getParentRoute: () => operators,
  path: '/stuck',
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
  component: lazyRouteComponent(() => import('./approvals.tsx'), 'ApprovalsPage'),
});

const differences = createRoute({
  getParentRoute: () => operators,
  path: '/differences',
  validateSearch: differenceSearch,
  component: lazyRouteComponent(() => import('./differences.tsx'), 'DifferencesPage'),
});

const books = createRoute({
  getParentRoute: () => operators,
  path: '/books',
  validateSearch: booksSearch,
  component: lazyRouteComponent(() => import('./books.tsx'), 'BooksPage'),
});

const rates = createRoute({
  getParentRoute: () => operators,
  path: '/rates',
  validateSearch: ratesSearch,
  component: lazyRouteComponent(() => import('./rates.tsx'), 'RatesPage'),
});

const prices = createRoute({
  getParentRoute: () => operators,
  path: '/prices',
  component: lazyRouteComponent(() => import('./prices.tsx'), 'PricesPage'),
});

const people = createRoute({
  getParentRoute: () => operators,
  path: '/people',
  validateSearch: pageSearch,
  component: lazyRouteComponent(() => import('./people.tsx'), 'PeoplePage'),
});

const accounts = createRoute({
  getParentRoute: () => operators,
  path: '/accounts',
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
  ]),
] as const;
