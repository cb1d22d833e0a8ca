import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../api/client.ts';
import { currentUserQuery, homePathOf } from '../app/session.ts';
import { PasswordField } from '../ui/login-fields.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { CardPage } from './card-page.tsx';
import { useMailToken } from './mail-token.ts';

/**
 * Asks for the password, so that the person who signed up is the person who reads the mails of this address.
 */
export function Confirm() {
  const token = useMailToken();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useForm({ initialValues: { password: '' } });
  const sending = useSending(
    form,
    ({ password }) => api.POST('/auth/users/confirm', { body: { token, password } }),
    async () => {
      const user = await queries.query({ ...currentUserQuery, staleTime: 0 });
      await navigate({ href: `/dashboard${homePathOf(user)}` });
    },
  );
  return (
    <CardPage title="Confirm your e-mail address" about="This opens your account and signs you in.">
      <SendForm sending={sending} label="Confirm">
        <PasswordField
          description="The one that you chose when you signed up"
          required
          {...form.getInputProps('password')}
        />
      </SendForm>
    </CardPage>
  );
}
