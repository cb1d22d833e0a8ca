import { Progress, Text } from '@mantine/core';

interface Part {
  readonly count: number;
  readonly color: string;
}

/** How far a job of many rows is, as a bar and in words. `parts`: rows that have ended, by result. */
export function JobProgress(of: {
  readonly rows: number;
  readonly parts: readonly Part[];
  readonly line: string;
}) {
  const share = (count: number) => (count / Math.max(1, of.rows)) * 100;
  const ended = of.parts.reduce((sum, { count }) => sum + count, 0);
  return (
    <div>
      <Progress.Root
        size="lg"
        role="progressbar"
        aria-label={of.line}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={share(ended)}
      >
        {of.parts.map(({ count, color }) => (
          <Progress.Section key={color} withAria={false} value={share(count)} color={color} />
        ))}
      </Progress.Root>
      <Text size="sm" role="status">
        {of.line}
      </Text>
    </div>
  );
}
