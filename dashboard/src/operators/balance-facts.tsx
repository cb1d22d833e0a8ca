import { Badge, Group } from '@mantine/core';
import { formatAmount } from '../ui/format.ts';
import { Facts, Moment } from '../ui/parts.tsx';
import type { Availability } from './place.ts';
import { BALANCE_LEVELS } from './words.ts';

const LEVEL_COLORS = { ok: 'green', low: 'yellow', critical: 'red' } as const;

const usd = (amount: number): string => formatAmount(amount, 'USD');

export function BalanceFacts({ of }: { readonly of: Availability['balances'][number] }) {
  const { supplier, balanceUsd, availableUsd, perDayUsd, lastsUntil, level, readAt, isBound, uncovered } = of;
  return (
    <Facts
      of={{
        Supplier: supplier,
        Left: (
          <Group gap="xs">
            {usd(availableUsd)}
            <Badge variant="light" color={LEVEL_COLORS[level]}>
              {BALANCE_LEVELS[level]}
            </Badge>
          </Group>
        ),
        'Lasts until': lastsUntil === null ? 'More than a year' : <Moment at={lastsUntil} />,
        'Used a day': usd(perDayUsd),
        'As the supplier said': (
          <>
            {isBound ? 'At most ' : ''}
            {usd(balanceUsd)}, <Moment at={readAt} />
          </>
        ),
        ...(uncovered > 0 && { 'Not covered': `${uncovered.toLocaleString()} packages are not sold` }),
      }}
    />
  );
}
