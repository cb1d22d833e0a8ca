import { Badge, SegmentedControl } from '@mantine/core';
import type { Environment } from './environment.ts';

const ENVIRONMENT_LABELS = { test: 'Test', live: 'Live' } as const;

/** Says which environment the page shows. With more than one, the reader can change to the other. */
export function EnvironmentSwitch({
  environment,
  environments,
  onChange,
}: {
  readonly environment: Environment;
  readonly environments: readonly Environment[];
  /** Should lead to the first page of that environment, since what is open here does not exist there. */
  readonly onChange: (environment: Environment) => void;
}) {
  return (
    <>
      {environments.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label="Environment"
          data={environments.map((value) => ({ value, label: ENVIRONMENT_LABELS[value] }))}
          value={environment}
          color={environment === 'live' ? 'red.8' : 'blue.8'}
          onChange={onChange}
        />
      )}
      <Badge
        color={environment === 'live' ? 'red.8' : 'yellow.4'}
        c={environment === 'live' ? 'white' : 'black'}
        className="status"
      >
        {environment === 'live' ? 'Live: real money' : 'Test: no real money'}
      </Badge>
    </>
  );
}
