/** The account and the environment in the address, and what the reader may do there. */
import {
  infiniteQueryOptions,
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useCurrentUser, type Membership } from '../app/session.ts';
import type { Environment } from '../ui/environment.ts';

export type Permission = Membership['permissions'][number];

export const usePlace = (): { accountId: string; environment: Environment } =>
  useParams({ from: '/m/$accountId/$environment' });

/** Of the account in the address; the layout shows no page without one. */
export function useMembership() {
  const { accountId } = usePlace();
  const { data } = useCurrentUser();
  const membership = data?.memberships.find((one) => one.accountId === accountId);
  return {
    membership,
    currency: membership?.currency ?? 'USD',
    may: (permission: Permission): boolean => membership?.permissions.includes(permission) === true,
  };
}

/**
 * A read of this account in this environment: both are part of its key, so nothing of another place is ever
 * shown.
 */
export function useAccountQuery<Data>(
  key: readonly unknown[],
  ask: () => Promise<Data>,
  {
    everyMs = () => false,
    keepsOld = false,
  }: {
    /** How soon it is read again, by what was read last. */
    readonly everyMs?: (data: Data | undefined) => number | false;
    readonly keepsOld?: boolean;
  } = {},
) {
  const { accountId, environment } = usePlace();
  return useQuery({
    queryKey: ['m', accountId, environment, ...key],
    queryFn: ask,
    refetchInterval: ({ state }) => everyMs(state.data),
    ...(keepsOld ? { placeholderData: keepPreviousData } : {}),
  });
}

/** The same for lists that are read page by page; a page without `nextCursor` is the last. */
export function usePages<Page extends { readonly nextCursor: string }>(
  key: readonly unknown[],
  ask: (after: string) => Promise<Page>,
) {
  const { accountId, environment } = usePlace();
  return useInfiniteQuery(
    infiniteQueryOptions({
      queryKey: ['m', accountId, environment, ...key],
      queryFn: ({ pageParam }) => ask(pageParam),
      initialPageParam: '',
      getNextPageParam: ({ nextCursor }) => (nextCursor === '' ? undefined : nextCursor),
    }),
  );
}

/** Reads again what a change may have changed. */
export function useRefresh() {
  const { accountId, environment } = usePlace();
  const queries = useQueryClient();
  return (...key: readonly unknown[]) =>
    queries.invalidateQueries({ queryKey: ['m', accountId, environment, ...key] });
}
