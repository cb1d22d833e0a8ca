import type { Operations } from './generated/sdk.gen.ts';
import type { Pagination } from './generated/types.gen.ts';
import type { Answer } from './intent.ts';

interface Items {
  readonly nextCursor?: string;
  readonly hasMore?: boolean;
  readonly pagination?: Pagination;
}
export type Page =
  | (Items & { readonly esims: readonly unknown[] })
  | { readonly data: Items & { readonly items: readonly unknown[] } };

/** The calls that answer with a page of a list. */
export type Listing = {
  [Name in keyof Operations]: Answer<Name> extends Page ? Name : never;
}[keyof Operations];

export type Item<Name extends Listing> =
  Answer<Name> extends { esims: (infer One)[] }
    ? One
    : Answer<Name> extends { data: { items: (infer One)[] } }
      ? One
      : never;

/** What a listing is asked with. */
export type ListingCall<Name extends Listing> = Pick<
  NonNullable<Parameters<Operations[Name]>[0]>,
  'path' | 'query'
>;

export const itemsOf = (page: Page): readonly unknown[] => ('esims' in page ? page.esims : page.data.items);

/** The query of the page after this one; undefined after the last. */
export function queryAfter(page: Page): Readonly<Record<string, unknown>> | undefined {
  const { nextCursor, hasMore = nextCursor !== '', pagination } = 'esims' in page ? page : page.data;
  // `since` is the name in the list of changes. A route ignores a name that it does not know.
  if (nextCursor !== undefined)
    return hasMore ? { after: nextCursor, since: nextCursor, page: undefined } : undefined;
  return pagination?.hasNextPage === true ? { page: pagination.currentPage + 1 } : undefined;
}
