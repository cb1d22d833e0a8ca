import { Text } from '@mantine/core';
import { Amount, ShortId } from '../ui/parts.tsx';

/** Columns of tables of packages, with our cost. */
export const PACKAGE = {
  Package: ({ packageCode, name }: { readonly packageCode: string; readonly name: string }) => (
    <>
      <ShortId>{packageCode}</ShortId>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
    </>
  ),
};

export const COST = {
  Cost: { number: ({ costUsd }: { readonly costUsd: number }) => <Amount of={costUsd} currency="USD4" /> },
};
