/** Which columns of a list are shown. The choice is kept in this browser. */
import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { useState } from 'react';
import type { Columns } from './rows.tsx';

/** `shown`: until a person chooses others. The first column always stands: it leads to the row's page. */
export function useColumns<T>(list: string, all: Columns<T>, shown: readonly string[]) {
  const key = `simway.columns.${list}`;
  const titles = Object.keys(all);
  const [first = ''] = titles;
  const [chosen, setChosen] = useState(() => {
    const kept = localStorage.getItem(key)?.split('\n');
    return titles.filter((title) => title === first || (kept ?? shown).includes(title));
  });
  const choose = (next: readonly string[]) => {
    const inOrder = titles.filter((title) => title === first || next.includes(title));
    localStorage.setItem(key, inOrder.join('\n'));
    setChosen(inOrder);
  };
  return {
    columns: Object.fromEntries(
      Object.entries(all).filter(([title]) => chosen.includes(title)),
    ) as Columns<T>,
    field: (
      <ColumnsField titles={titles.filter((title) => title !== first)} chosen={chosen} onChoose={choose} />
    ),
  };
}

function ColumnsField({
  titles,
  chosen,
  onChoose,
}: {
  readonly titles: readonly string[];
  readonly chosen: readonly string[];
  readonly onChoose: (chosen: readonly string[]) => void;
}) {
  return (
    <Popover position="bottom-end" trapFocus withinPortal>
      <Popover.Target>
        <Button size="compact-sm" variant="default">
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Checkbox.Group aria-label="Columns" value={[...chosen]} onChange={onChoose}>
          <Stack gap="xs">
            {titles.map((title) => (
              <Checkbox key={title} value={title} label={title} />
            ))}
          </Stack>
        </Checkbox.Group>
      </Popover.Dropdown>
    </Popover>
  );
}
