import { TextInput, type TextInputProps } from '@mantine/core';

/** The e-mail address that a person signs in with. */
export const EmailField = (field: TextInputProps) => (
  <TextInput label="E-mail address" type="email" autoComplete="username" required {...field} />
);
