import { Button, Group, Modal, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failed } from '../ui/parts.tsx';
import type { useSending } from '../ui/use-sending.ts';
import { useEnvironment } from './place.ts';

/** A form in a dialog: it is sent, or left without a change. */
export function FormDialog({
  title,
  size,
  onClose,
  sending,
  submitLabel,
  color = 'blue',
  children,
}: {
  readonly title: string;
  readonly size?: string;
  readonly onClose: () => void;
  readonly sending: Pick<ReturnType<typeof useSending>, 'submit' | 'isSending' | 'failure'>;
  readonly submitLabel: string;
  readonly color?: string;
  readonly children: ReactNode;
}) {
  return (
    <Modal opened onClose={onClose} title={title} {...(size !== undefined && { size })}>
      <form onSubmit={sending.submit} noValidate>
        <Stack>
          {children}
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

/** Says that something is changed, and has the pages of the environment read again. */
export function useSayChanged() {
  const environment = useEnvironment();
  const queries = useQueryClient();
  return async (message: string) => {
    notifications.show({ message, color: 'green' });
    await queries.invalidateQueries({ queryKey: ['ops', environment] });
  };
}
