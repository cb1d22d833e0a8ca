/** The account and the world in the address, and what the reader may do there. */
import {
  infiniteQueryOptions,
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useCurrentUser, type Membership } from '../app/session.ts';
import type { World } from '../ui/world.ts';

type Permission = Membership['permissions'][number];

export const usePlace = (): { accountId: string; world: World } =>
  useParams({ from: '/m/$accountId/$world' });

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

/** A read of this account in this world: both are part of its key, so nothing of another place is ever shown. */
export function useAccountQuery<Data>(
  key: readonly unknown[],
  ask: () => Promise<Data>,
  options: { readonly everyMs?: number | false; readonly isOff?: boolean; readonly keepsOld?: boolean } = {},
) {
  const { accountId, world } = usePlace();
  const { everyMs = false, isOff = false, keepsOld = false } = options;
  return useQuery({
    queryKey: ['m', accountId, world, ...key],
    queryFn: ask,
    refetchInterval: everyMs,
    enabled: !isOff,
    ...(keepsOld ? { placeholderData: keepPreviousData } : {}),
  });
}

/** The same for lists that are read page by page; a page without `nextCursor` is the last. */
export function usePages<Page extends { readonly nextCursor: string }>(
  key: readonly unknown[],
  ask: (after: string) => Promise<Page>,
) {
  const { accountId, world } = usePlace();
  return useInfiniteQuery(
    infiniteQueryOptions({
      queryKey: ['m', accountId, world, ...key],
      queryFn: ({ pageParam }) => ask(pageParam),
      initialPageParam: '',
      getNextPageParam: ({ nextCursor }) => (nextCursor === '' ? undefined : nextCursor),
    }),
  );
}

/** Reads again what a change may have changed. */
export function useRefresh() {
  const { accountId, world } = usePlace();
  const queries = useQueryClient();
  return (...key: readonly unknown[]) =>
    queries.invalidateQueries({ queryKey: ['m', accountId, world, ...key] });
}
