import { Anchor, Button, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client.ts';
import { dataOf } from 'simway-client';
import { currentUserQuery, type CurrentUser } from '../app/session.ts';
import { CodeField } from '../ui/code-field.tsx';
import { Failed } from '../ui/parts.tsx';
import { PasswordField } from '../ui/password-field.tsx';
import { useSending } from '../ui/use-sending.ts';

type OnDone = (user: CurrentUser) => unknown;

/** E-mail address and password, then the second factor where the user has one. */
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
    <form onSubmit={sending.submit} noValidate>
      <Stack>
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="username"
          required
          data-autofocus={email === '' || undefined}
          {...form.getInputProps('email')}
        />
        <PasswordField
          required
          data-autofocus={email !== '' || undefined}
          {...form.getInputProps('password')}
        />
        {sending.failure && <Failed error={sending.failure} />}
        <Button type="submit" loading={sending.isSending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}

function SecondFactorForm({ onDone }: { readonly onDone: () => unknown }) {
  const [isRecovery, setRecovery] = useState(false);
  const form = useForm({ initialValues: { code: '' } });
  const sending = useSending(form, (body) => api.POST('/auth/sessions/second-factor', { body }), onDone);
  return (
    <form onSubmit={sending.submit} noValidate>
      <Stack>
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
        {sending.failure && <Failed error={sending.failure} />}
        <Button type="submit" loading={sending.isSending}>
          Continue
        </Button>
        <Anchor component="button" type="button" size="sm" onClick={() => setRecovery(!isRecovery)}>
          {isRecovery ? 'Use the authenticator app' : 'Use a recovery code'}
        </Anchor>
      </Stack>
    </form>
  );
}
