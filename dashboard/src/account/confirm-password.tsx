import { Button, Modal, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { api } from '../api/client.ts';
import { answerConfirmation, usePasswordAsked } from '../api/confirmation.ts';
import { useCurrentUser } from '../app/session.ts';
import { PasswordField } from '../ui/login-fields.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';

/** Asks for the password while a request waits for it. Keeps the page and a dialog below it. */
export function ConfirmPassword() {
  const isAsked = usePasswordAsked();
  return (
    <Modal
      opened={isAsked}
      onClose={() => answerConfirmation(false)}
      closeOnClickOutside={false}
      // The listener of root-route.tsx cancels it, so that Escape does not close the dialog below.
      closeOnEscape={false}
      zIndex={900}
      title="Your password again"
    >
      <ConfirmForm />
    </Modal>
  );
}

function ConfirmForm() {
  const { data } = useCurrentUser();
  const hasSecondFactor = data?.user.hasSecondFactor === true;
  const form = useForm({ initialValues: { password: '', code: '' } });
  const sending = useSending(
    form,
    ({ password, code }) =>
      api.POST('/auth/sessions/confirm', { body: { password, ...(hasSecondFactor ? { code } : {}) } }),
    () => answerConfirmation(true),
  );
  return (
    <SendForm sending={sending} label="Continue">
      <Text size="sm">
        You gave it more than 15 minutes ago. Then your request continues as you typed it.
      </Text>
      <PasswordField label="Your password" required data-autofocus {...form.getInputProps('password')} />
      {hasSecondFactor && (
        <TextInput
          label="Code"
          description="Of your authenticator app, or a recovery code"
          autoComplete="one-time-code"
          {...form.getInputProps('code')}
        />
      )}
      <Button variant="default" onClick={() => answerConfirmation(false)}>
        Cancel
      </Button>
    </SendForm>
  );
}
