import { PasswordInput, type PasswordInputProps } from '@mantine/core';

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
