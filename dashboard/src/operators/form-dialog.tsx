import { Textarea, type TextareaProps, Modal } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSending, type SendFormProps, SendForm } from '../ui/send-form.tsx';
import { useSayChanged } from './place.ts';

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

/** A form in a dialog: it is sent, or left without a change. */
export function FormDialog({
  title,
  size,
  onClose,
  color,
  ...form
}: Omit<SendFormProps, 'button'> & {
  readonly title: string;
  readonly size?: string;
  readonly onClose: () => void;
  readonly color?: string;
}) {
  return (
    <Modal opened onClose={onClose} title={title} size={size}>
      <SendForm at="flex-end" onBack={onClose} button={{ color }} {...form} />
    </Modal>
  );
}

/** Asks for the reason that is logged, and shows once more what is about to be done. */
export function ReasonDialog({
  submit,
  done,
  children,
  ...dialog
}: Omit<Parameters<typeof FormDialog>[0], 'sending'> & {
  readonly submit: (reason: string) => Promise<unknown>;
  /** What is said afterwards. */
  readonly done: string;
}) {
  const sayChanged = useSayChanged();
  const form = useForm({ initialValues: { reason: '' }, validate: { reason: reasonError } });
  const sending = useSending(
    form,
    async ({ reason }) => {
      await submit(reason);
      await sayChanged(done);
    },
    dialog.onClose,
  );
  return (
    <FormDialog {...dialog} sending={sending}>
      {children}
      <ReasonField data-autofocus {...form.getInputProps('reason')} />
    </FormDialog>
  );
}
