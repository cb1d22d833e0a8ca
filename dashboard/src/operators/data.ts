/** What the pages of operators read. Each query is of one world, whose name is part of its key. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { ops } from '../api/client.ts';
import { dataOf } from '../api/data-of.ts';
import type { components, operations } from '../api/generated/ops.ts';
import type { World } from '../ui/world.ts';

type Schemas = components['schemas'];
export type StuckItem = Schemas['StuckItem'];
export type PurchaseTimeline = Schemas['PurchaseTimeline']['data'];
export type MoveRecord = Schemas['MoveRecord'];
export type Moves = Schemas['Moves']['data'];
export type Action = MoveRecord['move'];
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

/** Lists that others change beside the reader. */
const LIVE_MS = 15_000;

export const stuckQuery = (query: StuckQuery & { world: World }) =>
  queryOptions({
    queryKey: ['ops', query.world, 'stuck', query],
    queryFn: () => dataOf(ops.GET('/ops/stuck', { params: { query } })),
    placeholderData: keepPreviousData,
    refetchInterval: LIVE_MS,
  });

export const purchaseQuery = (world: World, transactionId: string) =>
  queryOptions({
    queryKey: ['ops', world, 'purchase', transactionId],
    queryFn: () =>
      dataOf(
        ops.GET('/ops/purchases/{transactionId}', { params: { path: { transactionId }, query: { world } } }),
      ),
  });

export const movesQuery = (world: World, transactionId: string) =>
  queryOptions({
    queryKey: ['ops', world, 'purchase', transactionId, 'moves'],
    queryFn: () =>
      dataOf(
        ops.GET('/ops/purchases/{transactionId}/moves', {
          params: { path: { transactionId }, query: { world } },
        }),
      ),
  });

/**
 * Actions, batch repairs and, for those who may confirm them, exchange rates that await approval. Read together so that the page does not jump.
 */
export const approvalsQuery = (world: World, withRates: boolean) =>
  queryOptions({
    queryKey: ['ops', world, 'approvals', withRates],
    queryFn: async () => {
      const [actions, open, rates] = await Promise.all([
        dataOf(ops.GET('/ops/moves/pending', { params: { query: { world } } })),
        dataOf(ops.GET('/ops/batch-repairs', { params: { query: { world, open: 'true', limit: 100 } } })),
        withRates ? dataOf(ops.GET('/ops/rates', { params: { query: { world } } })) : undefined,
      ]);
      const repairs = open.items.filter(({ status }) => status === 'WAITS_FOR_APPROVAL');
      return { actions: actions.items, repairs, rates: rates?.waiting ?? [] };
    },
    refetchInterval: LIVE_MS,
  });

export const batchRepairsQuery = (world: World, page: number) =>
  queryOptions({
    queryKey: ['ops', world, 'batch-repairs', page],
    queryFn: () => dataOf(ops.GET('/ops/batch-repairs', { params: { query: { world, page } } })),
    placeholderData: keepPreviousData,
    refetchInterval: LIVE_MS,
  });

/** While it runs a row ends every second or so. */
const RUNNING_MS = 1_500;

export const batchRepairQuery = (world: World, repairId: string) =>
  queryOptions({
    queryKey: ['ops', world, 'batch-repair', repairId],
    queryFn: () =>
      dataOf(ops.GET('/ops/batch-repairs/{repairId}', { params: { path: { repairId }, query: { world } } })),
    refetchInterval: ({ state: { data } }) =>
      data?.status === 'RUNNING' ? RUNNING_MS : data?.closedAt === null ? LIVE_MS : false,
  });

export const differencesQuery = (query: DifferenceQuery & { world: World }) =>
  queryOptions({
    queryKey: ['ops', query.world, 'differences', query],
    queryFn: () => dataOf(ops.GET('/ops/differences', { params: { query } })),
    placeholderData: keepPreviousData,
  });

export const trialBalanceQuery = (world: World) =>
  queryOptions({
    queryKey: ['ops', world, 'books', 'trial-balance'],
    queryFn: () => dataOf(ops.GET('/ops/books/trial-balance', { params: { query: { world } } })),
  });

export interface Days {
  readonly from: string;
  readonly to: string;
}

export const dailyQuery = (world: World, days: Days) =>
  queryOptions({
    queryKey: ['ops', world, 'books', 'daily', days],
    queryFn: () => dataOf(ops.GET('/ops/books/daily', { params: { query: { world, ...days } } })),
    placeholderData: keepPreviousData,
  });

export const merchantsQuery = (world: World, days: Days) =>
  queryOptions({
    queryKey: ['ops', world, 'books', 'merchants', days],
    queryFn: () => dataOf(ops.GET('/ops/books/merchants', { params: { query: { world, ...days } } })),
    placeholderData: keepPreviousData,
  });

export const waitingMoneyQuery = (world: World) =>
  queryOptions({
    queryKey: ['ops', world, 'books', 'waiting'],
    queryFn: () => dataOf(ops.GET('/ops/books/waiting', { params: { query: { world } } })),
  });

export const overviewQuery = (world: World) =>
  queryOptions({
    queryKey: ['ops', world, 'overview'],
    queryFn: () => dataOf(ops.GET('/ops/overview', { params: { query: { world } } })),
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

export const auditQuery = (world: World, { from, to, ...filters }: AuditSearch) =>
  infiniteQueryOptions({
    queryKey: ['ops', world, 'audit', filters, from, to],
    queryFn: ({ pageParam }) =>
      dataOf(
        ops.GET('/ops/audit', {
          params: {
            query: {
              ...filters,
              ...(from === undefined ? {} : { from: startOfDay(from, 0) }),
              ...(to === undefined ? {} : { to: startOfDay(to, 1) }),
              ...(pageParam === null ? {} : { after: pageParam }),
              ...{ world, limit: 50 },
            },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  });

function startOfDay(day: string, later: number): string {
  const at = new Date(`${day}T00:00:00`);
  at.setDate(at.getDate() + later);
  return at.toISOString();
}

export const accountsQuery = (query: AccountsQuery & { world: World }) =>
  queryOptions({
    queryKey: ['ops', query.world, 'accounts', query],
    queryFn: () => dataOf(ops.GET('/ops/accounts', { params: { query } })),
    placeholderData: keepPreviousData,
  });

export const accountQuery = (world: World, accountId: string) =>
  queryOptions({
    queryKey: ['ops', world, 'account', accountId],
    queryFn: () =>
      dataOf(ops.GET('/ops/accounts/{accountId}', { params: { path: { accountId }, query: { world } } })),
  });

export const accountTransactionsQuery = (world: World, accountId: string) =>
  infiniteQueryOptions({
    queryKey: ['ops', world, 'account', accountId, 'transactions'],
    queryFn: ({ pageParam }) =>
      dataOf(
        ops.GET('/ops/accounts/{accountId}/transactions', {
          params: {
            path: { accountId },
            query: { world, limit: 20, ...(pageParam === null ? {} : { after: pageParam }) },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

export type AccountMember = Schemas['AccountMember'];
export type AccountKey = Schemas['AccountKey'];
export type AccountEndpoint = Schemas['AccountEndpoint'];
export type AccountMessage = Schemas['AccountMessage'];

/** Each list of an account that is read whole. */
export const accountMembersQuery = (world: World, accountId: string) =>
  queryOptions({
    queryKey: ['ops', world, 'account', accountId, 'members'],
    queryFn: () => dataOf(ops.GET('/ops/accounts/{accountId}/members', ofAccount(world, accountId))),
  });

export const accountKeysQuery = (world: World, accountId: string) =>
  queryOptions({
    queryKey: ['ops', world, 'account', accountId, 'keys'],
    queryFn: () => dataOf(ops.GET('/ops/accounts/{accountId}/keys', ofAccount(world, accountId))),
  });

export const accountEndpointsQuery = (world: World, accountId: string) =>
  queryOptions({
    queryKey: ['ops', world, 'account', accountId, 'endpoints'],
    queryFn: () => dataOf(ops.GET('/ops/accounts/{accountId}/endpoints', ofAccount(world, accountId))),
  });

const ofAccount = (world: World, accountId: string) => ({
  params: { path: { accountId }, query: { world } },
});

/** Messages that are not delivered, or the one with this id. */
export const accountMessagesQuery = (world: World, accountId: string, messageId: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['ops', world, 'account', accountId, 'messages', messageId],
    queryFn: ({ pageParam }) =>
      dataOf(
        ops.GET('/ops/accounts/{accountId}/messages', {
          params: {
            path: { accountId },
            query: {
              ...{ world, limit: 20 },
              ...(messageId === undefined ? {} : { messageId }),
              ...(pageParam === null ? {} : { after: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

export const searchQuery = (world: World, text: string) =>
  queryOptions({
    queryKey: ['ops', world, 'search', text],
    queryFn: () => dataOf(ops.GET('/ops/search', { params: { query: { world, text } } })),
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

export const ratesQuery = (query: { world: World; currency: string; days: number }) =>
  queryOptions({
    queryKey: ['ops', query.world, 'rates', query],
    queryFn: () => dataOf(ops.GET('/ops/rates', { params: { query } })),
    placeholderData: keepPreviousData,
    refetchInterval: LIVE_MS,
  });

export const pricesQuery = (world: World, page: number) =>
  queryOptions({
    queryKey: ['ops', world, 'prices', page],
    queryFn: () => dataOf(ops.GET('/ops/prices', { params: { query: { world, page } } })),
    placeholderData: keepPreviousData,
  });

export const onSaleQuery = (query: OnSaleQuery & { world: World }) =>
  queryOptions({
    queryKey: ['ops', query.world, 'on-sale', query],
    queryFn: () => dataOf(ops.GET('/ops/on-sale', { params: { query } })),
    placeholderData: keepPreviousData,
  });

export const pricePreviewQuery = (world: World, terms: PriceTerms, page: number) =>
  queryOptions({
    queryKey: ['ops', world, 'prices', 'preview', terms, page],
    queryFn: () =>
      dataOf(ops.POST('/ops/prices/preview', { params: { query: { world, page } }, body: terms })),
    placeholderData: keepPreviousData,
    // A preview is about this moment.
    staleTime: 0,
    gcTime: 0,
  });
