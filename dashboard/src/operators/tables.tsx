/** What many tables have in common. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Amount, Empty, Pages, QueryView } from '../ui/parts.tsx';
import { Rows, type Column } from '../ui/rows.tsx';

type WithAmount<Name extends string> = { readonly [Key in Name]: number | null } & {
  readonly currency: string | null;
};

/** An amount in the currency of its row. */
export const amountColumn = <Name extends string>(title: string, name: Name): Column<WithAmount<Name>> => ({
  title,
  cell: (row) => <Amount of={row[name]} currency={row.currency} />,
  isNumber: true,
});

export type RowsOrNoneProps<T> = Parameters<typeof Rows<T>>[0] & {
  /** What stands in place of a table without rows. */
  readonly empty: ReactNode;
};

export function RowsOrNone<T>({ empty, ...table }: RowsOrNoneProps<T>) {
  return table.rows.length === 0 ? <Empty>{empty}</Empty> : <Rows {...table} />;
}

/** A list that is read page by page. */
export function PagedRows<T>({
  query,
  onPage,
  ...table
}: Omit<RowsOrNoneProps<T>, 'rows'> & {
  readonly query: UseQueryResult<{
    readonly items: readonly T[];
    readonly pagination: Parameters<typeof Pages>[0]['of'];
  }>;
  readonly onPage: (page: number) => void;
}) {
  return (
    <QueryView query={query}>
      {({ items, pagination }) => (
        <>
          <RowsOrNone rows={items} {...table} />
          <Pages of={pagination} onChange={onPage} />
        </>
      )}
    </QueryView>
  );
}
