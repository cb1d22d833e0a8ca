import { Button, Group, Stack, type ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { Failed } from './parts.tsx';
import type { useSending } from './use-sending.ts';

/** A form: its fields, what was refused, and the button that sends it, as wide as the form without `at`. */
export function SendForm({
  sending: { submit, failure, isSending },
  label,
  at,
  button,
  maw,
  children,
}: {
  readonly sending: Pick<ReturnType<typeof useSending>, 'submit' | 'failure' | 'isSending'>;
  readonly label: string;
  readonly at?: 'flex-start' | 'flex-end';
  readonly button?: ButtonProps;
  readonly maw?: number;
  readonly children: ReactNode;
}) {
  const send = (
    <Button type="submit" {...button} loading={isSending}>
      {label}
    </Button>
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw={maw}>
        {children}
        {failure && <Failed error={failure} />}
        {at ? <Group justify={at}>{send}</Group> : send}
      </Stack>
    </form>
  );
}
