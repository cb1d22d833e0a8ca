export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
  /** From 1. */
  readonly page: number;
  readonly limit: number;
}

export type PageQuery = Pick<Page<unknown>, 'page' | 'limit'>;
