import { Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { createRootRoute, Outlet } from '@tanstack/react-router';
import { isSessionEnded, setSessionEnded, useCurrentUser, useSessionEnded } from './session.ts';
import { answerConfirmation, isPasswordAsked } from '../api/confirmation.ts';
import { ConfirmPassword } from '../account/confirm-password.tsx';
import { SignInForm } from '../account/sign-in-form.tsx';

// While one of the dialogs below is open, Escape must not close the dialog under it. This runs before any
// dialog's listener.
window.addEventListener(
  'keydown',
  (event) => {
    if (event.key !== 'Escape') return;
    if (isSessionEnded() || isPasswordAsked()) event.stopImmediatePropagation();
    if (!isSessionEnded() && isPasswordAsked()) answerConfirmation(false);
  },
  { capture: true },
);

export const rootRoute = createRootRoute({ component: Root });

function Root() {
  // What another person may see now is not what the last one saw; what was typed stays.
  const isHidden = useSessionEnded();
  return (
    <>
      <div hidden={isHidden}>
        <Outlet />
      </div>
      <ConfirmPassword />
      <SignInAgain />
    </>
  );
}

/** Keeps the open page, unless another user signs in. */
function SignInAgain() {
  const isOpen = useSessionEnded();
  const { data } = useCurrentUser();
  const queries = useQueryClient();
  const before = data?.user.email ?? '';
  return (
    <Modal
      opened={isOpen}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      // Above the dialog that may be open.
      zIndex={1_000}
      title="Your session has ended"
    >
      <Text size="sm" mb="md">
        Sign in again. Your input is kept; send it again afterwards.
      </Text>
      <SignInForm
        email={before}
        onDone={async (user) => {
          setSessionEnded(false);
          if (user.user.email !== before) window.location.assign('/dashboard');
          else await queries.invalidateQueries();
        }}
      />
    </Modal>
  );
}
