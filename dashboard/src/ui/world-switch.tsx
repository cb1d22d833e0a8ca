import { Badge, SegmentedControl } from '@mantine/core';
import type { World } from './world.ts';

const WORLD_LABELS = { test: 'Test', live: 'Live' } as const;

/** Says which world the page shows. With more than one, the reader can change to the other. */
export function WorldSwitch({
  world,
  worlds,
  onChange,
}: {
  readonly world: World;
  readonly worlds: readonly World[];
  /** Should lead to the first page of that world, since what is open here does not exist there. */
  readonly onChange: (world: World) => void;
}) {
  return (
    <>
      {worlds.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label="World"
          data={worlds.map((value) => ({ value, label: WORLD_LABELS[value] }))}
          value={world}
          color={world === 'live' ? 'red.8' : 'blue.8'}
          onChange={onChange}
        />
      )}
      <Badge
        color={world === 'live' ? 'red.8' : 'yellow.4'}
        c={world === 'live' ? 'white' : 'black'}
        className="status"
      >
        {world === 'live' ? 'Live: real money' : 'Test: no real money'}
      </Badge>
    </>
  );
}
