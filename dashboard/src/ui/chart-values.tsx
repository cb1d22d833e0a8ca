import { Table } from '@mantine/core';

/** The values of a chart as a table, for those who cannot see the chart. Collapsed below it. */
export function ChartValues({
  label,
  titles,
  rows,
}: {
  readonly label: string;
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
}) {
  return (
    <details>
      <summary>Show as a table</summary>
      <Table.ScrollContainer minWidth={0} maxHeight={400}>
        <Table
          aria-label={label}
          data={{ head: [...titles], body: rows.map((cells) => [...cells]) }}
          stickyHeader
        />
      </Table.ScrollContainer>
    </details>
  );
}
