import { keepPreviousData, useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query';

export interface HowToRead<Data> {
  /** How soon it is read again, by what was read last. */
  readonly everyMs?: (data: Data | undefined) => number | false;
  /** Shows what was read last while another page or filter is read. */
  readonly keepsOld?: boolean;
}

interface Reading<Data> extends HowToRead<Data> {
  readonly queryKey: readonly unknown[];
  readonly queryFn: () => Promise<Data>;
}

export const useReading = <Data>({ everyMs = () => false, keepsOld, ...query }: Reading<Data>) =>
  useQuery({
    ...query,
    refetchInterval: ({ state }) => everyMs(state.data),
    ...(keepsOld && { placeholderData: keepPreviousData }),
  });

/** A list that is read from a cursor on; a page without `nextCursor` is the last. */
export const usePaging = <Page extends { readonly nextCursor: string | null }>(
  queryKey: readonly unknown[],
  ask: (after: string | undefined) => Promise<Page>,
  { keepsOld }: Pick<HowToRead<Page>, 'keepsOld'> = {},
) =>
  useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => ask(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor || undefined,
    ...(keepsOld && { placeholderData: keepPreviousData }),
  });

/** What a part of a page needs of a query to show its result, its placeholder or its error. */
export type Readable<Data> = Pick<UseQueryResult<Data>, 'data' | 'error'> & {
  readonly isError: boolean;
  readonly refetch: () => unknown;
};

type Queries = Readonly<Record<string, Readable<unknown>>>;

/** Several queries as one, which has come when all of them have. */
export function joined<All extends Queries>(
  queries: All,
): Readable<{ readonly [Name in keyof All]: NonNullable<All[Name]['data']> }> {
  const all = Object.values(queries);
  const data = Object.fromEntries(Object.entries(queries).map(([name, { data: one }]) => [name, one]));
  return {
    data: all.every((one) => one.data !== undefined) ? (data as never) : undefined,
    error: all.find(({ error }) => error !== null)?.error ?? null,
    isError: all.some(({ isError }) => isError),
    refetch: () => all.filter(({ isError }) => isError).forEach(({ refetch }) => void refetch()),
  };
}
