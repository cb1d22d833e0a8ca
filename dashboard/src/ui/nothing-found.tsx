import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Empty } from './parts.tsx';

/** That a search found nothing, and what the box takes. */
export const NothingFound = ({
  text,
  environment,
  children,
}: {
  readonly text: string;
  readonly environment: string;
  readonly children: ReactNode;
}) => (
  <div role="status">
    <Empty>
      No result for “{text}” in the {environment} environment.
    </Empty>
    <Text ta="center" size="sm">
      {children}
    </Text>
  </div>
);
