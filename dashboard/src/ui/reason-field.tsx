import { Textarea, type TextareaProps } from '@mantine/core';

const MIN_REASON = 3;
const MAX_REASON = 500;

/** The error for a reason that is too short; null for a good one. */
export function reasonError(reason: string): string | null {
  return reason.trim().length < MIN_REASON
    ? `Give a reason of at least ${String(MIN_REASON)} characters. It is logged`
    : null;
}

/** The reason of an action. Check it with `reasonError`. */
export function ReasonField(field: TextareaProps) {
  return (
    <Textarea
      label="Reason"
      description="Logged under your name"
      required
      maxLength={MAX_REASON}
      autosize
      minRows={2}
      {...field}
    />
  );
}
