import { Kbd, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconSearch } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { looksSecret } from './search-text.ts';

/** One box for any id, from anywhere. `/` goes to it. */
export function SearchBox({
  label,
  onSearch,
}: {
  /** What the box takes. */
  readonly label: string;
  readonly onSearch: (text: string) => void;
}) {
  const [text, setText] = useState('');
  const box = useRef<HTMLInputElement>(null);
  useHotkeys([['/', () => box.current?.focus()]]);
  return (
    <form
      role="search"
      aria-label="Search by id"
      className="search-box"
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = text.trim();
        if (wanted === '') return;
        if (looksSecret(wanted)) {
          setText('');
          notifications.show({
            message: 'This looks like a key or a secret. Search by its id instead',
            color: 'red',
          });
          return;
        }
        onSearch(wanted);
      }}
    >
      <TextInput
        ref={box}
        type="search"
        aria-label={label}
        placeholder="Any id"
        value={text}
        onChange={({ currentTarget: { value } }) => setText(value)}
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={<Kbd size="xs">/</Kbd>}
      />
    </form>
  );
}
