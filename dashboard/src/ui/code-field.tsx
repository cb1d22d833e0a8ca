import { PinInput, Stack, Text } from '@mantine/core';
import { useId } from '@mantine/hooks';
import type { ReactNode } from 'react';

const DIGITS = 6;

/** The code that an authenticator app shows. */
export function CodeField({
  label,
  value,
  error,
  onChange,
  autoFocus = false,
}: {
  readonly label: string;
  readonly value: string;
  readonly error: ReactNode;
  readonly onChange: (code: string) => void;
  readonly autoFocus?: boolean;
}) {
  const id = useId();
  return (
    <Stack gap="xs">
      <Text size="sm" id={id}>
        {label}
      </Text>
      <PinInput
        length={DIGITS}
        type="number"
        oneTimeCode
        autoFocus={autoFocus}
        aria-label="Code"
        aria-labelledby={id}
        value={value}
        onChange={onChange}
      />
      {error !== undefined && error !== null && (
        <Text size="sm" c="red" role="alert">
          {error}
        </Text>
      )}
    </Stack>
  );
}
