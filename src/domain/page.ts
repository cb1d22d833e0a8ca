export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
  /** From 1. */
  readonly page: number;
  readonly limit: number;
}

export type PageQuery = Pick<Page<unknown>, 'page' | 'limit'>;

export function pageOf<T>(all: readonly T[], { page, limit }: PageQuery): Page<T> {
  const start = (page - 1) * limit;
  return { items: all.slice(start, start + limit), total: all.length, page, limit };
}
