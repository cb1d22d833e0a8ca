/** What the pages of operators read. Each query is of one environment, whose name is part of its key. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { ops } from '../api/client.ts';
import { dataOf } from 'simway-client';
import type { components, operations } from 'simway-client/generated/ops.ts';
import type { Environment } from '../ui/environment.ts';

type Schemas = components['schemas'];
export type StuckItem = Schemas['StuckItem'];
export type PurchaseTimeline = Schemas['PurchaseTimeline']['data'];
export type ActionRecord = Schemas['ActionRecord'];
export type PurchaseActions = Schemas['Actions']['data'];
export type Action = ActionRecord['action'];
export type Difference = Schemas['Difference'];
export type Person = Schemas['Person'];
export type Role = Person['role'];
export type Rates = Schemas['Rates']['data'];
export type Prices = Schemas['Prices']['data'];
export type PriceTerms = Schemas['PreviewPricesRequest'];
export type PricePreview = Schemas['PricePreview']['data'];
export type OnSale = Schemas['OnSale']['data'];
type OnSaleQuery = NonNullable<operations['listOnSale']['parameters']['query']>;
export type OnSaleSearch = Pick<OnSaleQuery, 'at' | 'packageCode' | 'regionCode'>;
export type StuckQuery = NonNullable<operations['listStuck']['parameters']['query']>;
export type StuckClass = NonNullable<StuckQuery['class']>;
export type DifferenceQuery = NonNullable<operations['listDifferences']['parameters']['query']>;
export type DifferenceKind = NonNullable<DifferenceQuery['kind']>;

export type BatchRepair = Schemas['BatchRepair'];
export type BatchRepairDetails = Schemas['BatchRepairDetails']['data'];
export type BatchRepairPlan = Schemas['BatchRepairPreview']['data'];
export type BatchRepairAction = BatchRepair['action'];
export type AuditLine = Schemas['AuditLine'];
export type ListedAccount = Schemas['ListedAccount'];
export type AccountOverview = Schemas['AccountOverview']['data'];
export type AccountsQuery = NonNullable<operations['listAccounts']['parameters']['query']>;
export type Found = Schemas['Found'];
export type Overview = Schemas['Overview']['data'];

/** A list that is read from a cursor on. */
const BY_CURSOR = {
  initialPageParam: null as string | null,
  getNextPageParam: ({ nextCursor }: { readonly nextCursor: string | null }) => nextCursor,
};

/** The parameters of a route about one thing in an environment. */
export const inPath = <Path>(environment: Environment, path: Path) => ({
  params: { path, query: { environment } },
});

/** Lists that others change beside the reader. */
const LIVE_MS = 15_000;

export const stuckQuery = (query: StuckQuery & { environment: Environment }) =>
  queryOptions({
    queryKey: ['ops', query.environment, 'stuck', query],
    queryFn: () => dataOf(ops.GET('/ops/stuck', { params: { query } })),
    placeholderData: keepPreviousData,
    refetchInterval: LIVE_MS,
  });

export const purchaseQuery = (environment: Environment, transactionId: string) =>
  queryOptions({
    queryKey: ['ops', environment, 'purchase', transactionId],
    queryFn: () => dataOf(ops.GET('/ops/purchases/{transactionId}', inPath(environment, { transactionId }))),
  });

export const actionsQuery = (environment: Environment, transactionId: string) =>
  queryOptions({
    queryKey: ['ops', environment, 'purchase', transactionId, 'actions'],
    queryFn: () =>
      dataOf(ops.GET('/ops/purchases/{transactionId}/actions', inPath(environment, { transactionId }))),
  });

/**
 * Actions, batch repairs and, for those who may confirm them, exchange rates that await approval. Read
 * together so that the page does not jump.
 */
export const approvalsQuery = (environment: Environment, withRates: boolean) =>
  queryOptions({
    queryKey: ['ops', environment, 'approvals', withRates],
    queryFn: async () => {
      const [actions, open, rates] = await Promise.all([
        dataOf(ops.GET('/ops/actions/pending', { params: { query: { environment } } })),
        dataOf(
          ops.GET('/ops/batch-repairs', { params: { query: { environment, open: 'true', limit: 100 } } }),
        ),
        withRates ? dataOf(ops.GET('/ops/rates', { params: { query: { environment } } })) : undefined,
      ]);
      const repairs = open.items.filter(({ status }) => status === 'WAITS_FOR_APPROVAL');
      return { actions: actions.items, repairs, rates: rates?.waiting ?? [] };
    },
    refetchInterval: LIVE_MS,
  });

export const batchRepairsQuery = (environment: Environment, page: number) =>
  queryOptions({
    queryKey: ['ops', environment, 'batch-repairs', page],
    queryFn: () => dataOf(ops.GET('/ops/batch-repairs', { params: { query: { environment, page } } })),
    placeholderData: keepPreviousData,
    refetchInterval: LIVE_MS,
  });

/** While it runs a row ends every second or so. */
const RUNNING_MS = 1_500;

export const batchRepairQuery = (environment: Environment, repairId: string) =>
  queryOptions({
    queryKey: ['ops', environment, 'batch-repair', repairId],
    queryFn: () => dataOf(ops.GET('/ops/batch-repairs/{repairId}', inPath(environment, { repairId }))),
    refetchInterval: ({ state: { data } }) =>
      data?.status === 'RUNNING' ? RUNNING_MS : data?.closedAt === null ? LIVE_MS : false,
  });

export const differencesQuery = (query: DifferenceQuery & { environment: Environment }) =>
  queryOptions({
    queryKey: ['ops', query.environment, 'differences', query],
    queryFn: () => dataOf(ops.GET('/ops/differences', { params: { query } })),
    placeholderData: keepPreviousData,
  });

export const trialBalanceQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['ops', environment, 'books', 'trial-balance'],
    queryFn: () => dataOf(ops.GET('/ops/books/trial-balance', { params: { query: { environment } } })),
  });

export interface Days {
  readonly from: string;
  readonly to: string;
}

export const dailyQuery = (environment: Environment, days: Days) =>
  queryOptions({
    queryKey: ['ops', environment, 'books', 'daily', days],
    queryFn: () => dataOf(ops.GET('/ops/books/daily', { params: { query: { environment, ...days } } })),
    placeholderData: keepPreviousData,
  });

export const merchantsQuery = (environment: Environment, days: Days) =>
  queryOptions({
    queryKey: ['ops', environment, 'books', 'merchants', days],
    queryFn: () => dataOf(ops.GET('/ops/books/merchants', { params: { query: { environment, ...days } } })),
    placeholderData: keepPreviousData,
  });

export const waitingMoneyQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['ops', environment, 'books', 'waiting'],
    queryFn: () => dataOf(ops.GET('/ops/books/waiting', { params: { query: { environment } } })),
  });

export const overviewQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['ops', environment, 'overview'],
    queryFn: () => dataOf(ops.GET('/ops/overview', { params: { query: { environment } } })),
    refetchInterval: LIVE_MS,
  });

/** `from` and `to` are whole days of the reader, both included. */
export interface AuditSearch {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export const auditQuery = (environment: Environment, { from, to, ...filters }: AuditSearch) =>
  infiniteQueryOptions({
    queryKey: ['ops', environment, 'audit', filters, from, to],
    queryFn: ({ pageParam }) =>
      dataOf(
        ops.GET('/ops/audit', {
          params: {
            query: {
              ...filters,
              ...(from === undefined ? {} : { from: startOfDay(from, 0) }),
              ...(to === undefined ? {} : { to: startOfDay(to, 1) }),
              ...(pageParam === null ? {} : { after: pageParam }),
              ...{ environment, limit: 50 },
            },
          },
        }),
      ),
    ...BY_CURSOR,
    placeholderData: keepPreviousData,
  });

function startOfDay(day: string, later: number): string {
  const at = new Date(`${day}T00:00:00`);
  at.setDate(at.getDate() + later);
  return at.toISOString();
}

export const accountsQuery = (query: AccountsQuery & { environment: Environment }) =>
  queryOptions({
    queryKey: ['ops', query.environment, 'accounts', query],
    queryFn: () => dataOf(ops.GET('/ops/accounts', { params: { query } })),
    placeholderData: keepPreviousData,
  });

export const accountQuery = (environment: Environment, accountId: string) =>
  queryOptions({
    queryKey: ['ops', environment, 'account', accountId],
    queryFn: () => dataOf(ops.GET('/ops/accounts/{accountId}', inPath(environment, { accountId }))),
  });

export const accountTransactionsQuery = (environment: Environment, accountId: string) =>
  infiniteQueryOptions({
    queryKey: ['ops', environment, 'account', accountId, 'transactions'],
    queryFn: ({ pageParam }) =>
      dataOf(
        ops.GET('/ops/accounts/{accountId}/transactions', {
          params: {
            path: { accountId },
            query: { environment, limit: 20, ...(pageParam === null ? {} : { after: pageParam }) },
          },
        }),
      ),
    ...BY_CURSOR,
  });

export type AccountMember = Schemas['AccountMember'];
export type AccountKey = Schemas['AccountKey'];
export type AccountEndpoint = Schemas['AccountEndpoint'];
export type AccountMessage = Schemas['AccountMessage'];

/** Each list of an account that is read whole. */
export const accountMembersQuery = (environment: Environment, accountId: string) =>
  queryOptions({
    queryKey: ['ops', environment, 'account', accountId, 'members'],
    queryFn: () => dataOf(ops.GET('/ops/accounts/{accountId}/members', inPath(environment, { accountId }))),
  });

export const accountKeysQuery = (environment: Environment, accountId: string) =>
  queryOptions({
    queryKey: ['ops', environment, 'account', accountId, 'keys'],
    queryFn: () => dataOf(ops.GET('/ops/accounts/{accountId}/keys', inPath(environment, { accountId }))),
  });

export const accountEndpointsQuery = (environment: Environment, accountId: string) =>
  queryOptions({
    queryKey: ['ops', environment, 'account', accountId, 'endpoints'],
    queryFn: () => dataOf(ops.GET('/ops/accounts/{accountId}/endpoints', inPath(environment, { accountId }))),
  });

/** Messages that are not delivered, or the one with this id. */
export const accountMessagesQuery = (
  environment: Environment,
  accountId: string,
  messageId: string | undefined,
) =>
  infiniteQueryOptions({
    queryKey: ['ops', environment, 'account', accountId, 'messages', messageId],
    queryFn: ({ pageParam }) =>
      dataOf(
        ops.GET('/ops/accounts/{accountId}/messages', {
          params: {
            path: { accountId },
            query: {
              ...{ environment, limit: 20 },
              ...(messageId === undefined ? {} : { messageId }),
              ...(pageParam === null ? {} : { after: pageParam }),
            },
          },
        }),
      ),
    ...BY_CURSOR,
  });

export const searchQuery = (environment: Environment, text: string) =>
  queryOptions({
    queryKey: ['ops', environment, 'search', text],
    queryFn: () => dataOf(ops.GET('/ops/search', { params: { query: { environment, text } } })),
  });

export const operatorQuery = queryOptions({
  queryKey: ['ops', 'me'],
  queryFn: () => dataOf(ops.GET('/ops/me')),
  staleTime: Infinity,
});

export const peopleQuery = (page: number) =>
  queryOptions({
    queryKey: ['ops', 'people', page],
    queryFn: () => dataOf(ops.GET('/ops/people', { params: { query: { page } } })),
    placeholderData: keepPreviousData,
  });

export const ratesQuery = (query: { environment: Environment; currency: string; days: number }) =>
  queryOptions({
    queryKey: ['ops', query.environment, 'rates', query],
    queryFn: () => dataOf(ops.GET('/ops/rates', { params: { query } })),
    placeholderData: keepPreviousData,
    refetchInterval: LIVE_MS,
  });

export const pricesQuery = (environment: Environment, page: number) =>
  queryOptions({
    queryKey: ['ops', environment, 'prices', page],
    queryFn: () => dataOf(ops.GET('/ops/prices', { params: { query: { environment, page } } })),
    placeholderData: keepPreviousData,
  });

export const onSaleQuery = (query: OnSaleQuery & { environment: Environment }) =>
  queryOptions({
    queryKey: ['ops', query.environment, 'on-sale', query],
    queryFn: () => dataOf(ops.GET('/ops/on-sale', { params: { query } })),
    placeholderData: keepPreviousData,
  });

export const pricePreviewQuery = (environment: Environment, terms: PriceTerms, page: number) =>
  queryOptions({
    queryKey: ['ops', environment, 'prices', 'preview', terms, page],
    queryFn: () =>
      dataOf(ops.POST('/ops/prices/preview', { params: { query: { environment, page } }, body: terms })),
    placeholderData: keepPreviousData,
    // A preview is about this moment.
    staleTime: 0,
    gcTime: 0,
  });
