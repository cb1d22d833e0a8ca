import { Anchor, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf } from '../api/client.ts';
import { currentUserQuery, type CurrentUser } from '../app/session.ts';
import { EmailField, PasswordField, CodeField } from '../ui/login-fields.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';

type OnDone = (user: CurrentUser) => unknown;

export function SignInForm({ email = '', onDone }: { readonly email?: string; readonly onDone: OnDone }) {
  const [isSecondStep, setSecondStep] = useState(false);
  const queries = useQueryClient();
  const finish = async () => onDone(await queries.query({ ...currentUserQuery, staleTime: 0 }));
  return isSecondStep ? (
    <SecondFactorForm onDone={finish} />
  ) : (
    <PasswordForm
      email={email}
      onDone={(needsFactor) => (needsFactor ? setSecondStep(true) : void finish())}
    />
  );
}

function PasswordForm({
  email,
  onDone,
}: {
  readonly email: string;
  readonly onDone: (needsFactor: boolean) => void;
}) {
  const form = useForm({ initialValues: { email, password: '' } });
  const sending = useSending(
    form,
    (body) => dataOf(api.POST('/auth/sessions', { body })),
    ({ secondFactor }) => onDone(secondFactor),
  );
  return (
    <SendForm sending={sending} label="Sign in">
      <EmailField data-autofocus={email === '' || undefined} {...form.getInputProps('email')} />
      <PasswordField
        required
        data-autofocus={email !== '' || undefined}
        {...form.getInputProps('password')}
      />
    </SendForm>
  );
}

function SecondFactorForm({ onDone }: { readonly onDone: () => unknown }) {
  const [isRecovery, setRecovery] = useState(false);
  const form = useForm({ initialValues: { code: '' } });
  const sending = useSending(form, (body) => api.POST('/auth/sessions/second-factor', { body }), onDone);
  return (
    <Stack>
      <SendForm sending={sending} label="Continue">
        {isRecovery ? (
          <TextInput
            label="Recovery code"
            description="Each code works once"
            autoComplete="one-time-code"
            data-autofocus
            {...form.getInputProps('code')}
          />
        ) : (
          <CodeField
            label="The 6 digits that your authenticator app shows now"
            value={form.values.code}
            error={form.errors['code']}
            onChange={(code) => form.setFieldValue('code', code)}
            autoFocus
          />
        )}
      </SendForm>
      <Anchor component="button" type="button" size="sm" onClick={() => setRecovery(!isRecovery)}>
        {isRecovery ? 'Use the authenticator app' : 'Use a recovery code'}
      </Anchor>
    </Stack>
  );
}
