import type { paths } from 'simway-client/generated/api.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type PathIn, type ParamsOf, type AnswerOf, readApi } from '../api/client.ts';
import { useCurrentUser, type Membership } from '../app/session.ts';
import type { Environment } from '../ui/address.ts';
import { useReading, type HowToRead, usePaging } from '../ui/use-reading.ts';

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

/** Account and environment are part of each key, so nothing of another place is ever shown. */
function useKey(...key: readonly unknown[]): readonly unknown[] {
  const { accountId, environment } = usePlace();
  return ['m', accountId, environment, ...key];
}

export const useReads = <Data>(key: readonly unknown[], ask: () => Promise<Data>) =>
  useReading({ queryKey: useKey(...key), queryFn: ask });

export const useRead = <Path extends PathIn<paths>>(
  path: Path,
  params: ParamsOf<paths, Path>,
  how?: HowToRead<AnswerOf<paths, Path>>,
) => useReading({ queryKey: useKey(path, params), queryFn: () => readApi(path, params), ...how });

export const usePages = <Page extends { readonly nextCursor: string | null }>(
  key: readonly unknown[],
  ask: (after: string | undefined) => Promise<Page>,
) => usePaging(useKey(...key), ask);

/** Reads again what the page shows, after a change. */
export function useRefresh() {
  const queryKey = useKey();
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey });
}
