import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, dataOf } from '../api/client.ts';
import { currentUserQuery } from '../app/session.ts';
import { PasswordField } from '../ui/login-fields.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { CardPage } from './card-page.tsx';
import { useMailToken } from './mail-token.ts';

export function AcceptInvitation() {
  const token = useMailToken();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useForm({ initialValues: { name: '', password: '' } });
  const sending = useSending(
    form,
    ({ name, password }) =>
      dataOf(
        api.POST('/auth/invitations/accept', {
          // A user who has a login keeps name and password.
          body: { token, ...(name === '' ? {} : { name }), ...(password === '' ? {} : { password }) },
        }),
      ),
    async ({ accountId, isSignedIn }) => {
      await queries.invalidateQueries({ queryKey: currentUserQuery.queryKey });
      const place = `/m/${accountId}/test`;
      await navigate({
        href: isSignedIn ? `/dashboard${place}` : `/dashboard/sign-in?next=${encodeURIComponent(place)}`,
      });
    },
  );
  return (
    <CardPage title="Accept the invitation">
      <SendForm sending={sending} label="Join">
        <Text size="sm">If you already have a login, leave both fields empty.</Text>
        <TextInput label="Your name" autoComplete="name" {...form.getInputProps('name')} />
        <PasswordField isNew {...form.getInputProps('password')} />
      </SendForm>
    </CardPage>
  );
}
