/** On a narrow screen a list of cards (pages.css). Where its columns need more room, the table scrolls. */
import { ActionIcon, Button, Group, Stack, Table } from '@mantine/core';
import { useMergedRef, useResizeObserver } from '@mantine/hooks';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Amount, Empty, Pages, QueryView, Section, type PageOf } from './parts.tsx';

type Cell<T> = (row: T) => ReactNode;

/** On a phone a row of more columns shows these and its amounts; a button shows the rest (pages.css). */
const SHORT_COLUMNS = 3;

/** A table of more columns has smaller letters, so that it needs no scrolling on a desk. */
const WIDE_COLUMNS = 7;

/** What a table shows of each row, by the titles of its columns. Numbers and amounts stand at the right. */
export type Columns<T> = Readonly<
  Record<string, Cell<T> | { readonly number: Cell<T> } | { readonly amount: Cell<T> }>
>;

/** The amounts in this field, in the currency of their row. */
export const amount = <Field extends string>(field: Field) => ({
  amount: (row: Readonly<Record<Field, number | null>> & { readonly currency: string | null }) => (
    <Amount of={row[field]} currency={row.currency} />
  ),
});

interface TableProps<T> {
  readonly label: string;
  readonly columns: Columns<T>;
  /** For rows with a button: its focus and its open question stay with the row. */
  readonly keyOf?: (row: T) => string;
  readonly empty?: ReactNode;
  /** What a person can do about an empty list: a button or a link. */
  readonly emptyAction?: ReactNode;
}

type RowsProps<T> = TableProps<T> & { readonly rows: readonly T[] };

export function Rows<T>({ label, rows, columns, keyOf, empty, emptyAction }: RowsProps<T>) {
  const shown = Object.entries(columns).map(([title, column]) => {
    if (typeof column === 'function') return { title, cell: column };
    return 'amount' in column
      ? { title, cell: column.amount, className: 'number kept' }
      : { title, cell: column.number, className: 'number' };
  });
  const [frame, isCut] = useIsCut();
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const hidden = shown.slice(SHORT_COLUMNS).filter(({ className }) => !className?.includes('kept'));
  const hasMore = hidden.length > 0;
  if (rows.length === 0 && empty !== undefined) return <Empty action={emptyAction}>{empty}</Empty>;
  return (
    <div
      ref={frame}
      className="rows-frame"
      // Without a place to focus, a keyboard could not scroll it.
      {...(isCut && { tabIndex: 0, role: 'region', 'aria-label': `${label}, scrolls sideways` })}
    >
      <Table
        className="rows"
        role="table"
        aria-label={label}
        highlightOnHover
        data-wide={shown.length > WIDE_COLUMNS || undefined}
      >
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {shown.map(({ title, className }) => (
              <Table.Th key={title} role="columnheader" scope="col" className={className}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows.map((row, index) => {
            const key = keyOf?.(row) ?? String(index);
            const isOpen = open.has(key);
            return (
              <Table.Tr
                key={key}
                role="row"
                data-short={(shown.length > SHORT_COLUMNS && !isOpen) || undefined}
                data-more={hasMore || undefined}
              >
                {shown.map(({ title, cell, className }, at) => (
                  <Table.Td key={title} role="cell" data-label={title} className={className}>
                    <div>{cell(row)}</div>
                    {hasMore && at === 0 && (
                      <ActionIcon
                        className="rows-more"
                        size="sm"
                        variant="subtle"
                        color="gray"
                        aria-expanded={isOpen}
                        aria-label={isOpen ? 'Show less of this row' : 'Show all of this row'}
                        onClick={() =>
                          setOpen(
                            (old) => new Set(isOpen ? [...old].filter((one) => one !== key) : [...old, key]),
                          )
                        }
                      >
                        {isOpen ? (
                          <IconChevronUp size={16} aria-hidden />
                        ) : (
                          <IconChevronDown size={16} aria-hidden />
                        )}
                      </ActionIcon>
                    )}
                  </Table.Td>
                ))}
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </div>
  );
}

/** A part of a page with one table. */
export const RowsSection = <T,>({
  title,
  extra,
  ...table
}: Omit<RowsProps<T>, 'label'> & {
  readonly title: string;
  readonly label?: string;
  readonly extra?: ReactNode;
}) => (
  <Section title={title} extra={extra}>
    <Rows label={title} {...table} />
  </Section>
);

/** A list that is read whole. */
export const WholeRows = <T,>({
  query,
  ...table
}: TableProps<T> & { readonly query: UseQueryResult<{ readonly items: readonly T[] }> }) => (
  <QueryView query={query} rows={2}>
    {({ items }) => <Rows rows={items} {...table} />}
  </QueryView>
);

/** Whether the element shows only a part of its width, after every render and every change of its size. */
function useIsCut() {
  const frame = useRef<HTMLDivElement>(null);
  const [observed] = useResizeObserver<HTMLDivElement>();
  const [isCut, setIsCut] = useState(false);
  useEffect(() => {
    if (frame.current) setIsCut(frame.current.scrollWidth > frame.current.clientWidth);
  });
  return [useMergedRef(frame, observed), isCut] as const;
}

export function PagedRows<T>({
  query,
  onPage,
  countsNone = false,
  ...table
}: TableProps<T> & {
  readonly query: UseQueryResult<{ readonly items: readonly T[]; readonly pagination: PageOf }>;
  readonly onPage: (page: number) => void;
  /** Says `0 items` below an empty list. */
  readonly countsNone?: boolean;
}) {
  return (
    <QueryView query={query}>
      {({ items, pagination }) => (
        <>
          <Rows rows={items} {...table} />
          {(countsNone || items.length > 0) && <Pages of={pagination} onChange={onPage} />}
        </>
      )}
    </QueryView>
  );
}

/** A list that grows, read from a cursor on; null or empty: there is no more. */
export function CursorList<T>({
  query,
  ...table
}: TableProps<T> & {
  readonly query: UseInfiniteQueryResult<
    InfiniteData<{ readonly items: readonly T[]; readonly nextCursor: string | null }>
  >;
}) {
  return (
    <QueryView query={query}>
      {({ pages }) => (
        <Stack gap="sm">
          <Rows rows={pages.flatMap(({ items }) => items)} {...table} />
          {query.hasNextPage && (
            <Group justify="center">
              <Button
                variant="default"
                loading={query.isFetchingNextPage}
                onClick={() => void query.fetchNextPage()}
              >
                Show more
              </Button>
            </Group>
          )}
        </Stack>
      )}
    </QueryView>
  );
}
