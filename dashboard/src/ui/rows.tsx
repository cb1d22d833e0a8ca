/**
 * A table that becomes a list of cards on a narrow screen (pages.css), with its meaning kept for screen
 * readers. Where its columns need more room than there is, the table scrolls and the page does not.
 */
import { Table } from '@mantine/core';
import { useMergedRef, useResizeObserver } from '@mantine/hooks';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Amount, Empty } from './parts.tsx';

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => ReactNode;
  readonly isNumber?: boolean;
}

/** A column of the amounts in this field, in the currency of their row. */
export const amountColumn = <Field extends string>(
  title: string,
  field: Field,
): Column<Readonly<Record<Field, number | null>> & { readonly currency: string | null }> => ({
  title,
  isNumber: true,
  cell: (row) => <Amount of={row[field]} currency={row.currency} />,
});

export function Rows<T>({
  label,
  rows,
  columns,
  keyOf,
  foot,
  empty,
}: {
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T, index: number) => string;
  readonly foot?: readonly T[];
  /** In place of a table without rows. */
  readonly empty?: ReactNode;
}) {
  const row = (item: T, key: string) => (
    <Table.Tr key={key} role="row">
      {columns.map(({ title, cell, isNumber }) => (
        <Table.Td key={title} role="cell" data-label={title} className={isNumber ? 'number' : undefined}>
          <div>{cell(item)}</div>
        </Table.Td>
      ))}
    </Table.Tr>
  );
  const [frame, isCut] = useIsCut();
  if (rows.length === 0 && empty !== undefined) return <Empty>{empty}</Empty>;
  return (
    <div
      ref={frame}
      className="rows-frame"
      // Without a place to focus, a keyboard could not scroll it.
      {...(isCut && { tabIndex: 0, role: 'region', 'aria-label': `${label}, scrolls sideways` })}
    >
      <Table className="rows" role="table" aria-label={label} highlightOnHover>
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {columns.map(({ title, isNumber }) => (
              <Table.Th
                key={title}
                role="columnheader"
                scope="col"
                className={isNumber ? 'number' : undefined}
              >
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">{rows.map((item, index) => row(item, keyOf(item, index)))}</Table.Tbody>
        {foot && foot.length > 0 && (
          <Table.Tfoot role="rowgroup">
            {foot.map((item, index) => row(item, `foot ${String(index)}`))}
          </Table.Tfoot>
        )}
      </Table>
    </div>
  );
}

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
