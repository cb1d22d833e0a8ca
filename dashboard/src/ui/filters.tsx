import { Select, TextInput, type ComboboxData, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import type { Days } from './address.ts';

const TYPING_MS = 300;

/** Searches soon after the last letter. `value` may also change elsewhere, as by the browser's Back. */
export function SearchField({
  value,
  onSearch,
  ...field
}: TextInputProps & { readonly value: string | undefined; readonly onSearch: (text: string) => void }) {
  const [typed, setTyped] = useState(value ?? '');
  const asked = useRef(value ?? '');
  const searchSoon = useDebouncedCallback((text: string) => {
    asked.current = text.trim();
    onSearch(asked.current);
  }, TYPING_MS);
  useEffect(() => {
    if ((value ?? '') === asked.current) return;
    asked.current = value ?? '';
    setTyped(asked.current);
  }, [value]);
  return (
    <TextInput
      label="Search"
      {...field}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        searchSoon(currentTarget.value);
      }}
    />
  );
}

export function ChoiceField({
  label,
  data,
  value,
  onChange,
}: {
  readonly label: string;
  readonly data: readonly string[] | Readonly<Record<string, string>>;
  readonly value: string | undefined;
  readonly onChange: (value: string | null) => void;
}) {
  const choices: ComboboxData = Array.isArray(data)
    ? (data as readonly string[])
    : Object.entries(data).map(([word, text]) => ({ value: word, label: text }));
  return (
    <Select
      label={label}
      placeholder="All"
      clearable
      clearButtonProps={{ 'aria-label': 'Show all' }}
      data={choices}
      value={value ?? null}
      onChange={onChange}
    />
  );
}

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
