import { Anchor, SegmentedControl, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useNavigate } from '@tanstack/react-router';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { signUpRequestCurrency } from 'simway-client/generated/api-lists.ts';
import { api, type ApiSchemas, dataOf } from '../api/client.ts';
import { EmailField, PasswordField } from '../ui/login-fields.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { currentUserQuery, homePathOf } from '../app/session.ts';
import { CardPage } from './card-page.tsx';
import { SandboxMail } from './sandbox-mail.tsx';

type Currency = ApiSchemas['SignUpRequest']['currency'];

const NAMES = new Intl.DisplayNames('en', { type: 'currency' });

export function SignUp() {
  const form = useForm({
    initialValues: { companyName: '', name: '', email: '', password: '', currency: 'USD' as Currency },
  });
  const sending = useSending(form, (body) => dataOf(api.POST('/auth/users', { body })));
  if (sending.result)
    return (
      <CardPage
        title={titleFor(sending.result)}
        about={`${linkWentTo(form.values.email, sending.result)} It opens your account and is valid for 24 hours.`}
      >
        <SandboxMail mail={sending.result.sandboxMail} />
        <Anchor component="button" type="button" size="sm" onClick={sending.reset}>
          Correct the e-mail address
        </Anchor>
      </CardPage>
    );
  return (
    <CardPage title="Open an account" about="For merchants who sell eSIMs. Testing is free.">
      <SendForm sending={sending} label="Open the account">
        <TextInput
          label="Company"
          autoComplete="organization"
          required
          {...form.getInputProps('companyName')}
        />
        <TextInput label="Your name" autoComplete="name" required {...form.getInputProps('name')} />
        <EmailField {...form.getInputProps('email')} />
        <PasswordField isNew required {...form.getInputProps('password')} />
        <div>
          <Text size="sm" fw={500} id="currency">
            Currency of your wallet
          </Text>
          <SegmentedControl
            fullWidth
            aria-labelledby="currency"
            data={signUpRequestCurrency.map((value) => ({ value, label: `${NAMES.of(value)} (${value})` }))}
            {...form.getInputProps('currency')}
          />
        </div>
      </SendForm>
      <Text size="sm">
        Already have an account?{' '}
        <Anchor component={Link} to="/sign-in" underline="always">
          Sign in
        </Anchor>
      </Text>
    </CardPage>
  );
}

interface Asked {
  /** The mail itself, where no mail server is set: then none was sent. */
  readonly sandboxMail?: ApiSchemas['SandboxMail'] | undefined;
}

const titleFor = ({ sandboxMail }: Asked): string =>
  sandboxMail ? 'Confirm your e-mail address' : 'Check your e-mail';

const linkWentTo = (email: string, { sandboxMail }: Asked): string =>
  sandboxMail ? `The link for ${email} is in the mail below.` : `We sent a link to ${email}.`;

/** The password shows that the person who signed up is the one who reads the mails of this address. */
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
    async ({ accountId }) => {
      const place = `/m/${accountId}/test`;
      // Signed in now, or before as the same person.
      const user = await queries.query({ ...currentUserQuery, staleTime: 0 }).catch(() => undefined);
      const isMember = user?.memberships.some((one) => one.accountId === accountId);
      await navigate({
        href: isMember ? `/dashboard${place}` : `/dashboard/sign-in?next=${encodeURIComponent(place)}`,
      });
    },
  );
  return (
    <CardPage title="Accept the invitation">
      <SendForm sending={sending} label="Join">
        <Text size="sm">
          New here? Type your name and choose a password. With a login of your own, leave both empty: you sign
          in with it afterwards.
        </Text>
        <TextInput label="Your name" autoComplete="name" {...form.getInputProps('name')} />
        <PasswordField isNew {...form.getInputProps('password')} />
      </SendForm>
    </CardPage>
  );
}

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
        about={
          sending.result.sandboxMail
            ? 'The link is valid for an hour.'
            : `If ${form.values.email} has a login, we sent a link to it. It is valid for an hour.`
        }
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

const tokenInAddress = (): string => new URLSearchParams(window.location.hash.slice(1)).get('token') ?? '';

/** Behind `#` the browser sends the token to no server. It is taken out of the address and the history. */
function useMailToken(): string {
  const [token, setToken] = useState(tokenInAddress);
  useEffect(() => {
    const take = () => {
      const next = tokenInAddress();
      if (next === '') return;
      setToken(next);
      window.history.replaceState(window.history.state, '', window.location.pathname);
    };
    take();
    // A link that is opened on the page it leads to loads nothing: only what is behind `#` changes.
    window.addEventListener('hashchange', take);
    return () => window.removeEventListener('hashchange', take);
  }, []);
  return token;
}
