/** Filters of a list. */
import { Select, TextInput, type ComboboxData, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';

const TYPING_MS = 300;

/** Searches soon after the last letter. */
export function SearchField({
  value,
  onSearch,
  ...field
}: TextInputProps & { readonly value: string | undefined; readonly onSearch: (text: string) => void }) {
  const [typed, setTyped] = useState(value ?? '');
  const searchSoon = useDebouncedCallback(onSearch, TYPING_MS);
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

/** One of the choices, or all of them. */
export function ChoiceField({
  label,
  data,
  value,
  onChange,
}: {
  readonly label: string;
  /** Words as they stand, or by what they mean. */
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
