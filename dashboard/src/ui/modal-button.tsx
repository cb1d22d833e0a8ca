import { Button, Modal, type ButtonProps, type ModalProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';

/** A button that opens a dialog. */
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
  /** Of the dialog. */
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
