import { Button, Group, Stack } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { QueryView } from './parts.tsx';
import { Rows, type Column } from './rows.tsx';

interface PageOfItems<Item> {
  readonly items: readonly Item[];
  /** null or empty: this is the last page. */
  readonly nextCursor: string | null;
}

/** A list that is read page by page. */
export function CursorList<Item>({
  query,
  label,
  columns,
  keyOf,
  empty,
}: {
  readonly query: UseInfiniteQueryResult<InfiniteData<PageOfItems<Item>>>;
  readonly label: string;
  readonly columns: readonly Column<Item>[];
  readonly keyOf: (item: Item) => string;
  readonly empty: ReactNode;
}) {
  return (
    <QueryView query={query}>
      {({ pages }) => {
        const rows = pages.flatMap(({ items }) => items);
        return (
          <Stack gap="sm">
            <Rows label={label} rows={rows} columns={columns} keyOf={keyOf} empty={empty} />
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
        );
      }}
    </QueryView>
  );
}
