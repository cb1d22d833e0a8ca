import {
  PasswordInput,
  PinInput,
  Stack,
  Text,
  TextInput,
  type PasswordInputProps,
  type TextInputProps,
} from '@mantine/core';
import { useId } from '@mantine/hooks';
import type { ReactNode } from 'react';

export const EmailField = (field: TextInputProps) => (
  <TextInput label="E-mail address" type="email" autoComplete="username" required {...field} />
);

const MIN_PASSWORD = 12;

/** A password. `isNew`: one that the person chooses, so the field says what is needed. */
export function PasswordField({
  isNew = false,
  label = 'Password',
  ...field
}: Omit<PasswordInputProps, 'label'> & { readonly isNew?: boolean; readonly label?: string }) {
  return (
    <PasswordInput
      label={label}
      description={isNew ? `At least ${String(MIN_PASSWORD)} characters` : undefined}
      autoComplete={isNew ? 'new-password' : 'current-password'}
      visibilityToggleButtonProps={{ 'aria-label': `Show: ${label}` }}
      {...field}
    />
  );
}

const DIGITS = 6;

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
