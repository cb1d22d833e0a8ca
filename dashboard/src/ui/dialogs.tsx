import { Button, Group, Modal, Stack, type ButtonProps, type ModalProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failed } from './parts.tsx';

interface Question {
  readonly title: string;
  readonly confirmLabel: string;
  /** Closes the dialog when it resolves; its error is shown in the dialog. */
  readonly act: () => Promise<unknown>;
  readonly color?: string;
  readonly children: ReactNode;
}

export function ConfirmDialog({
  opened,
  onClose,
  title,
  confirmLabel,
  act,
  color = 'red',
  children,
}: Question & { readonly opened: boolean; readonly onClose: () => void }) {
  const acting = useMutation({ mutationFn: act, onSuccess: onClose });
  const leave = () => {
    acting.reset();
    onClose();
  };
  return (
    <Modal opened={opened} onClose={leave} title={title}>
      <Stack>
        <div>{children}</div>
        {acting.error && <Failed error={acting.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={leave} data-autofocus>
            Back
          </Button>
          <Button color={color} loading={acting.isPending} onClick={() => acting.mutate()}>
            {confirmLabel}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

export function ConfirmButton({
  label,
  buttonProps,
  onOpen,
  ...question
}: Question & {
  readonly label: string;
  readonly buttonProps?: ButtonProps & { 'aria-label'?: string };
  readonly onOpen?: () => void;
}) {
  const [isOpen, { open, close }] = useDisclosure(false, { onOpen });
  return (
    <>
      <Button size="xs" variant="subtle" color="red" {...buttonProps} onClick={open}>
        {label}
      </Button>
      <ConfirmDialog opened={isOpen} onClose={close} {...question} />
    </>
  );
}

export function ModalButton({
  label,
  title,
  size,
  buttonSize,
  variant,
  children,
}: Pick<ButtonProps, 'variant'> & {
  readonly label: string;
  readonly title: string;
  readonly size?: ModalProps['size'];
  readonly buttonSize?: ButtonProps['size'];
  readonly children: (close: () => void) => ReactNode;
}) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button size={buttonSize} variant={variant} onClick={open}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title} size={size}>
        {children(close)}
      </Modal>
    </>
  );
}
