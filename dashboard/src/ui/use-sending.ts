import type { UseFormReturnType } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Refusal } from 'simway-client';

/**
 * Sends a form. Shows field errors at their fields; other errors are `failure`. Keeps the input.
 */
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
