import { Alert, Anchor, Box, Button, Code, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { api, dataOf } from '../api/client.ts';
import {
  currentUserQuery,
  isSignedOut,
  homePathOf,
  useCurrentUser,
  type CurrentUser,
} from '../app/session.ts';
import { useSignOut } from '../ui/app-layout.tsx';
import { ConfirmButton } from '../ui/dialogs.tsx';
import { GoTo } from '../ui/go-to.tsx';
import { PasswordField, CodeField } from '../ui/login-fields.tsx';
import { Copy, QueryView, Moment, Section, Page } from '../ui/parts.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { CardPage } from './card-page.tsx';

// Few people need it, once.
const QrCode = lazy(() => import('./qr-code.tsx'));
const QR_SIDE_PX = 200;
const WIDTH_PX = 440;
const SESSIONS_KEY = ['auth', 'sessions'] as const;

/** One's own login, among the pages of a merchant or of operators. */
export function OwnLoginPage() {
  const query = useCurrentUser();
  return (
    <Page title="Your login" maw={WIDTH_PX}>
      <QueryView query={query}>{(user) => <OwnLogin user={user} />}</QueryView>
    </Page>
  );
}

/** Leads to the page above; stays for a user who has no other page, or has a one-time password. */
export function OwnLoginAlone() {
  const query = useCurrentUser();
  const { signOut, isSigningOut } = useSignOut();
  const navigate = useNavigate();
  const path = query.data && ownLoginPathOf(query.data);
  useEffect(() => {
    if (path !== undefined) void navigate({ href: `/dashboard${path}`, replace: true });
  }, [path, navigate]);
  if (isSignedOut(query.error)) return <GoTo to="/sign-in" />;
  if (path !== undefined) return null;
  return (
    <CardPage title="Your login">
      <QueryView query={query}>
        {(user) => (
          <Stack>
            {user.operator?.mustChangePassword === true && (
              <Alert color="yellow">
                You signed in with a one-time password. Set your own password before you continue.
              </Alert>
            )}
            {user.operator?.mustChangePassword === false && user.operator.mustAddSecondFactor && (
              <Alert color="yellow">
                Your role takes a second factor. Set one up below before you continue.
              </Alert>
            )}
            <OwnLogin user={user} />
            <Button variant="subtle" onClick={signOut} loading={isSigningOut}>
              Sign out
            </Button>
          </Stack>
        )}
      </QueryView>
    </CardPage>
  );
}

function ownLoginPathOf(user: CurrentUser): string | undefined {
  const home = homePathOf(user);
  return home === '/settings' || mustFirst(user) ? undefined : `${home}/login`;
}

/** Until then, the pages of operators are refused. */
const mustFirst = ({ operator }: CurrentUser): boolean =>
  operator !== null && (operator.mustChangePassword || operator.mustAddSecondFactor);

function OwnLogin({ user }: { readonly user: CurrentUser }) {
  return (
    <>
      <Text size="sm">
        {user.user.name}, {user.user.email}
      </Text>
      <PasswordSection />
      <SecondFactorSection user={user} />
      {user.operator?.mustChangePassword !== true && <SessionsSection />}
    </>
  );
}

function PasswordSection() {
  const queries = useQueryClient();
  const form = useForm({ initialValues: { currentPassword: '', newPassword: '' } });
  const sending = useSending(
    form,
    (body) => api.POST('/auth/me/password', { body }),
    async () => {
      form.reset();
      notifications.show({ message: 'Password changed. Your other sessions have ended.' });
      await queries.invalidateQueries({ queryKey: currentUserQuery.queryKey });
    },
  );
  return (
    <Section title="Password">
      <SendForm sending={sending} label="Change the password" button={{ variant: 'default' }}>
        <PasswordField label="Current password" {...form.getInputProps('currentPassword')} />
        <PasswordField label="New password" isNew {...form.getInputProps('newPassword')} />
      </SendForm>
    </Section>
  );
}

function SessionsSection() {
  const queries = useQueryClient();
  const query = useQuery({ queryKey: SESSIONS_KEY, queryFn: () => dataOf(api.GET('/auth/sessions')) });
  const refresh = () => queries.invalidateQueries({ queryKey: SESSIONS_KEY });
  return (
    <Section title="Where you are signed in">
      <QueryView query={query}>
        {({ items }) => (
          <Stack gap="sm">
            {items.map(({ sessionId, device, address, createdAt, lastUsedAt, isCurrent }) => (
              <Group key={sessionId} justify="space-between" wrap="nowrap">
                <div>
                  <Text size="sm">
                    {device}
                    {address !== null && `, ${address}`}
                  </Text>
                  <Text size="xs" c="dimmed">
                    Since <Moment at={createdAt} />
                    {isCurrent ? (
                      '. This browser'
                    ) : (
                      <>
                        , last used <Moment at={lastUsedAt} />
                      </>
                    )}
                  </Text>
                </div>
                {!isCurrent && (
                  <ConfirmButton
                    label="End"
                    buttonProps={{ 'aria-label': `End the session of ${device}`, flex: 'none' }}
                    title="End this session?"
                    confirmLabel="End it"
                    act={async () => {
                      await api.DELETE('/auth/sessions/{sessionId}', { params: { path: { sessionId } } });
                      await refresh();
                    }}
                  >
                    {device} is signed out at once. If it was not you, change your password too.
                  </ConfirmButton>
                )}
              </Group>
            ))}
            {items.length > 1 && (
              <ConfirmButton
                label="End all others"
                buttonProps={{ size: 'sm', variant: 'default' }}
                title="End all other sessions?"
                confirmLabel="End them"
                act={async () => {
                  await api.DELETE('/auth/sessions');
                  await refresh();
                }}
              >
                Only this browser stays signed in. Commands that you let in end too.
              </ConfirmButton>
            )}
          </Stack>
        )}
      </QueryView>
    </Section>
  );
}

type NewFactor = { readonly otpauthUri: string; readonly recoveryCodes: readonly string[] };

function SecondFactorSection({ user: { user } }: { readonly user: CurrentUser }) {
  const queries = useQueryClient();
  const [made, setMade] = useState<NewFactor>();
  const form = useForm({ initialValues: { password: '', code: '' } });
  const refresh = () => queries.invalidateQueries({ queryKey: currentUserQuery.queryKey });
  const sending = useSending(
    form,
    async ({ password, code }) => {
      if (!user.hasSecondFactor) return dataOf(api.POST('/auth/me/second-factor', { body: { password } }));
      await api.DELETE('/auth/me/second-factor', { body: { password, code } });
      return undefined;
    },
    async (factor) => {
      form.reset();
      setMade(factor);
      if (!factor) await refresh();
    },
  );
  if (made)
    return (
      <NewFactorSteps
        factor={made}
        onDone={async () => {
          setMade(undefined);
          await refresh();
        }}
      />
    );
  return (
    <Section title="Second factor">
      <SendForm
        sending={sending}
        label={user.hasSecondFactor ? 'Switch off' : 'Switch on'}
        button={user.hasSecondFactor ? { variant: 'light', color: 'red' } : { variant: 'default' }}
      >
        <Text size="sm">
          {user.hasSecondFactor
            ? 'On. Signing in also needs a code of your authenticator app.'
            : 'Off. A second factor protects you if your password is stolen.'}
        </Text>
        <PasswordField label="Your password" {...form.getInputProps('password')} />
        {user.hasSecondFactor && (
          <TextInput
            label="Code"
            description="Of your authenticator app, or a recovery code"
            autoComplete="one-time-code"
            {...form.getInputProps('code')}
          />
        )}
      </SendForm>
    </Section>
  );
}

function NewFactorSteps({ factor, onDone }: { readonly factor: NewFactor; readonly onDone: () => unknown }) {
  const form = useForm({ initialValues: { code: '' } });
  const sending = useSending(form, (body) => api.POST('/auth/me/second-factor/confirm', { body }), onDone);
  const secret = new URL(factor.otpauthUri).searchParams.get('secret') ?? '';
  return (
    <Section title="Second factor">
      <SendForm sending={sending} label="Switch on">
        <Text size="sm">
          1. Scan this code with your authenticator app. On a phone,{' '}
          <Anchor href={factor.otpauthUri} inherit underline="always">
            open the app
          </Anchor>
          . Or type the secret into it:
        </Text>
        <Group>
          <Box w={QR_SIDE_PX} h={QR_SIDE_PX}>
            <Suspense>
              <QrCode text={factor.otpauthUri} label="QR code for the authenticator app" />
            </Suspense>
          </Box>
          <Code>{secret.match(/.{1,4}/g)?.join(' ')}</Code>
        </Group>
        <Text size="sm">2. Keep these recovery codes. If you lose the app, each signs you in once.</Text>
        <SimpleGrid cols={2} spacing="xs">
          {factor.recoveryCodes.map((code) => (
            <Code key={code}>{code}</Code>
          ))}
        </SimpleGrid>
        <Copy value={factor.recoveryCodes.join('\n')} label="Copy the recovery codes" size="compact-sm" />
        <CodeField
          label="3. Type the 6 digits that the app shows:"
          value={form.values.code}
          error={form.errors['code']}
          onChange={(code) => form.setFieldValue('code', code)}
        />
      </SendForm>
    </Section>
  );
}
