import { Button, Group, Modal, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { Failed } from './parts.tsx';
import { ReasonField, reasonError } from './reason-field.tsx';
import { useSending } from './use-sending.ts';

/** Asks for the reason that is logged, and shows once more what is about to be done. */
export function ReasonDialog({
  title,
  opened,
  onClose,
  submit,
  submitLabel,
  color = 'blue',
  children,
}: {
  readonly title: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly submit: (reason: string) => Promise<unknown>;
  readonly submitLabel: string;
  readonly color?: string;
  readonly children?: ReactNode;
}) {
  const form = useForm({ initialValues: { reason: '' }, validate: { reason: reasonError } });
  const sending = useSending(
    form,
    ({ reason }) => submit(reason),
    () => {
      form.reset();
      onClose();
    },
  );
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <form onSubmit={sending.submit} noValidate>
        <Stack>
          {children}
          <ReasonField data-autofocus {...form.getInputProps('reason')} />
          {sending.failure && <Failed error={sending.failure} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Back
            </Button>
            <Button type="submit" color={color} loading={sending.isSending}>
              {submitLabel}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
