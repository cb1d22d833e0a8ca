import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';

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
