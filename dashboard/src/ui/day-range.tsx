import { TextInput } from '@mantine/core';
import type { Days } from './address.ts';

/** First and last day of a list, both included, in the reader's zone. */
export function DayRange({
  of: { from, to },
  onChange,
}: {
  readonly of: Days;
  readonly onChange: (days: Days) => void;
}) {
  const day = (text: string) => (text === '' ? undefined : text);
  return (
    <>
      <TextInput
        label="From"
        type="date"
        value={from ?? ''}
        max={to}
        onChange={({ currentTarget }) => onChange({ from: day(currentTarget.value), to })}
      />
      <TextInput
        label="To"
        type="date"
        value={to ?? ''}
        min={from}
        onChange={({ currentTarget }) => onChange({ from, to: day(currentTarget.value) })}
      />
    </>
  );
}
