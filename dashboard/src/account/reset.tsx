import { Anchor, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link } from '@tanstack/react-router';
import { api, dataOf } from '../api/client.ts';
import { EmailField, PasswordField } from '../ui/login-fields.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { CardPage } from './card-page.tsx';
import { useMailToken } from './mail-token.ts';
import { SandboxMail } from './sandbox-mail.tsx';

export function Reset() {
  const token = useMailToken();
  return token === '' ? <AskForLink /> : <ChoosePassword token={token} />;
}

function AskForLink() {
  const form = useForm({ initialValues: { email: '' } });
  const sending = useSending(form, (body) => dataOf(api.POST('/auth/password-resets', { body })));
  if (sending.result)
    return (
      <CardPage
        title="Check your e-mail"
        about={`If ${form.values.email} has a login, we sent a link to it. It is valid for an hour.`}
      >
        <SandboxMail mail={sending.result.sandboxMail} />
      </CardPage>
    );
  return (
    <CardPage title="Reset your password" about="We send you a link to choose a new one.">
      <SendForm sending={sending} label="Send the link">
        <EmailField {...form.getInputProps('email')} />
      </SendForm>
    </CardPage>
  );
}

function ChoosePassword({ token }: { readonly token: string }) {
  const form = useForm({ initialValues: { newPassword: '' } });
  const sending = useSending(form, ({ newPassword }) =>
    dataOf(api.POST('/auth/password-resets/confirm', { body: { token, newPassword } })),
  );
  if (sending.result)
    return (
      <CardPage title="Password changed">
        <Text size="sm">All your sessions have ended.</Text>
        <Anchor component={Link} to="/sign-in">
          Sign in
        </Anchor>
      </CardPage>
    );
  return (
    <CardPage title="Choose a password">
      <SendForm sending={sending} label="Change the password">
        <PasswordField label="New password" isNew required {...form.getInputProps('newPassword')} />
      </SendForm>
    </CardPage>
  );
}
