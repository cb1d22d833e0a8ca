import { Button, Group, Stack, type ButtonProps } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Refusal } from '../api/client.ts';
import { Failed } from './parts.tsx';

/** Shows field errors at their fields; other errors are `failure`. Keeps the input. */
export function useSending<Values extends Record<string, unknown>, Result>(
  form: UseFormReturnType<Values>,
  send: (values: Values) => Promise<Result>,
  onDone: (result: Result) => unknown = () => undefined,
) {
  const fields = Object.keys(form.getValues());
  const sending = useMutation({
    mutationFn: send,
    onSuccess: onDone,
    onError: (error) => form.setErrors(errorsOf(error)),
  });
  const isOfFields = Object.keys(errorsOf(sending.error)).some((name) => fields.includes(name));
  return {
    submit: form.onSubmit((values) => sending.mutate(values)),
    isSending: sending.isPending,
    failure: isOfFields ? null : sending.error,
    result: sending.data,
    reset: sending.reset,
  };
}

/** `allowedAddresses.2: …` belongs to the field allowedAddresses. */
function errorsOf(error: Error | null): Record<string, string> {
  if (!(error instanceof Refusal)) return {};
  return Object.fromEntries(
    Object.entries(error.byField()).map(([name, text]) => [name.split('.', 1)[0] ?? name, text]),
  );
}

export interface SendFormProps {
  readonly sending: Pick<ReturnType<typeof useSending>, 'submit' | 'failure' | 'isSending'>;
  readonly label: string;
  readonly button?: ButtonProps;
  readonly children: ReactNode;
}

/** A form: its fields, what was refused, and the button that sends it, as wide as the form without `at`. */
export function SendForm({
  sending: { submit, failure, isSending },
  label,
  at,
  onBack,
  button,
  maw,
  children,
}: SendFormProps & {
  readonly at?: 'flex-start' | 'flex-end';
  /** Leaves it without a change. */
  readonly onBack?: () => void;
  readonly maw?: number;
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
        {at ? (
          <Group justify={at}>
            {onBack && (
              <Button variant="default" onClick={onBack}>
                Back
              </Button>
            )}
            {send}
          </Group>
        ) : (
          send
        )}
      </Stack>
    </form>
  );
}
