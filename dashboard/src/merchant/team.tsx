import { Button, Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { memberRole } from 'simway-client/generated/api-lists.ts';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { SandboxMail } from '../account/sandbox-mail.tsx';
import { WIDTHS } from '../app/theme.ts';
import { api, type ApiSchemas, dataOf } from '../api/client.ts';
import { useCurrentUser, currentUserQuery } from '../app/session.ts';
import { ConfirmDialog, ConfirmButton } from '../ui/dialogs.tsx';
import { QueryView, Failed, Moment, Section, Page, QuerySection, Id, Facts } from '../ui/parts.tsx';
import { Rows, WholeRows } from '../ui/rows.tsx';
import { useSending, SendForm } from '../ui/send-form.tsx';
import { MEMBER_ROLES, PLANS } from '../ui/words.ts';
import { useMembership, useRead } from './place.ts';

type Role = ApiSchemas['Member']['role'];
type Member = ApiSchemas['Member'];

const ROLES: Record<Role, { readonly label: string; readonly may: string }> = {
  OWNER: { label: MEMBER_ROLES.OWNER, may: 'everything, including the team' },
  DEVELOPER: { label: MEMBER_ROLES.DEVELOPER, may: 'keys, webhooks, purchases' },
  FINANCE: { label: MEMBER_ROLES.FINANCE, may: 'the wallet' },
  SUPPORT: { label: MEMBER_ROLES.SUPPORT, may: 'reads, and resends webhooks' },
};

/** A role in the list says what it may; the field has no room for that. */
const ROLE_CHOICE = {
  allowDeselect: false,
  data: memberRole.map((value) => ({ value, label: ROLES[value].label })),
  renderOption: ({ option: { value, label } }: { readonly option: { value: string; label: string } }) =>
    `${label}: ${ROLES[value as Role].may}`,
  comboboxProps: { width: 300, position: 'bottom-start' },
} as const;

export function TeamPage() {
  const { may } = useMembership();
  const members = useRead('/account/members', {});
  return (
    <Page title="Team">
      <QuerySection title="Members" query={members}>
        {({ items }) => (
          <Rows
            label="Members"
            rows={items}
            keyOf={({ userId }) => userId}
            columns={{
              // One column for both: six would not fit beside the list of pages.
              Name: ({ name, email }) => (
                <>
                  {name}
                  <Text size="xs" c="dimmed" className="breakable">
                    {email}
                  </Text>
                </>
              ),
              'Second factor': (member) => (
                <>
                  {member.hasSecondFactor ? 'On' : 'Off'}{' '}
                  {member.hasSecondFactor && may('members') && <RemoveFactor member={member} />}
                </>
              ),
              Since: ({ joinedAt }) => <Moment at={joinedAt} />,
              Role: (member) =>
                !may('members') || isLastOwner(member, items) ? (
                  ROLES[member.role].label
                ) : (
                  <ChangeRole member={member} />
                ),
              ...(may('members') && { Remove: (member: Member) => <Remove member={member} /> }),
            }}
          />
        )}
      </QuerySection>
      {may('members') && <Invitations />}
    </Page>
  );
}

/** The service keeps one owner, so nobody is offered what it would refuse. */
const isLastOwner = ({ role }: Member, all: readonly Member[]): boolean =>
  role === 'OWNER' && all.filter((one) => one.role === 'OWNER').length === 1;

function ChangeRole({ member: { userId, name, role } }: { readonly member: Member }) {
  const [next, setNext] = useState<Role>();
  const label = next === undefined ? '' : ROLES[next].label;
  return (
    <>
      <Select
        size="xs"
        aria-label={`Role of ${name}`}
        {...ROLE_CHOICE}
        value={role}
        onChange={(chosen) => setNext(memberRole.find((one) => one === chosen && one !== role))}
      />
      <ConfirmDialog
        opened={next !== undefined}
        onClose={() => setNext(undefined)}
        title={`Change the role of ${name}`}
        confirmLabel="Change the role"
        color="blue"
        act={async () => {
          if (next === undefined) return;
          await api.PATCH('/account/members/{userId}', {
            params: { path: { userId } },
            body: { role: next },
          });
        }}
      >
        <Text size="sm">
          {name} gets the role “{label}” at once, and loses what only the old role allowed.
        </Text>
      </ConfirmDialog>
    </>
  );
}

function RemoveFactor({ member: { userId, name } }: { readonly member: Member }) {
  const { data } = useCurrentUser();
  if (data?.user.userId === userId) return null;
  return (
    <ConfirmButton
      label="Remove"
      buttonProps={{ 'aria-label': `Remove the second factor of ${name}` }}
      title={`Remove the second factor of ${name}`}
      confirmLabel="Remove the second factor"
      act={async () => {
        const { outcome } = await dataOf(
          api.POST('/account/members/{userId}/remove-second-factor', { params: { path: { userId } } }),
        );
        notifications.show({
          message:
            outcome === 'done' ? 'The second factor is removed.' : 'Another owner must ask for the same.',
        });
      }}
    >
      <Text size="sm">
        For a colleague who has lost the app and the recovery codes. Another owner must ask for the same
        within 24 hours. Then every session of {name} ends, and the password alone signs in.
      </Text>
    </ConfirmButton>
  );
}

function Remove({ member: { userId, name, email } }: { readonly member: Member }) {
  const { data } = useCurrentUser();
  const [revokes, setRevokes] = useState(true);
  const endpoints = useRead('/api/webhooks/endpoints', { query: { limit: 50 } });
  const called = endpoints.data?.items.filter((endpoint) => endpoint.createdBy === email) ?? [];
  if (data?.user.userId === userId) return 'You';
  return (
    <ConfirmButton
      label="Remove"
      buttonProps={{ 'aria-label': `Remove ${name}` }}
      title={`Remove ${name}`}
      confirmLabel={`Remove ${name}`}
      act={() =>
        api.DELETE('/account/members/{userId}', {
          params: { path: { userId }, query: revokes ? {} : { keepKeys: 'true' } },
        })
      }
    >
      <Text size="sm">{name} loses access to this account.</Text>
      <TheirKeys userId={userId} name={name} />
      {called.length > 0 && (
        <Text size="sm" className="breakable">
          Webhook endpoints that {name} made in this environment: {called.map(({ url }) => url).join(', ')}
        </Text>
      )}
      <Checkbox
        label="End the API keys and webhook endpoints that they made, in both environments"
        checked={revokes}
        onChange={({ currentTarget }) => setRevokes(currentTarget.checked)}
      />
    </ConfirmButton>
  );
}

/** Those that end with the removal. Read when the dialog opens. */
function TheirKeys({ userId, name }: Pick<Member, 'userId' | 'name'>) {
  const query = useRead('/account/members/{userId}/keys', { path: { userId } });
  return (
    <QueryView query={query}>
      {({ items }) => (
        <Text size="sm">
          {items.length === 0
            ? `${name} has made no API key that works.`
            : `API keys that ${name} made, in both environments: ${items.map(keyName).join(', ')}`}
        </Text>
      )}
    </QueryView>
  );
}

const keyName = ({ key, name }: ApiSchemas['ApiKey']) => (name === null ? key : `${name} (${key})`);

function Invitations() {
  const [mail, setMail] = useState<ApiSchemas['SandboxMail']>();
  const query = useRead('/account/invitations', {});
  const form = useForm({ initialValues: { email: '', role: 'DEVELOPER' as Role } });
  const sending = useSending(
    form,
    (body) => dataOf(api.POST('/account/invitations', { body })),
    ({ sandboxMail }) => {
      form.reset();
      setMail(sandboxMail);
    },
  );
  const withdraw = (invitationId: string) =>
    api.DELETE('/account/invitations/{invitationId}', { params: { path: { invitationId } } });
  return (
    <Section title="Invitations">
      <Stack>
        <form onSubmit={sending.submit} noValidate>
          <Group align="flex-start" className="fields-with-button">
            <TextInput label="E-mail address" type="email" required {...form.getInputProps('email')} />
            <Select label="Role" {...ROLE_CHOICE} {...form.getInputProps('role')} />
            <Button type="submit" loading={sending.isSending}>
              Invite
            </Button>
          </Group>
        </form>
        {sending.failure && <Failed error={sending.failure} />}
        <SandboxMail mail={mail} />
        <WholeRows
          label="Invitations"
          query={query}
          keyOf={({ invitationId }) => invitationId}
          empty="No open invitations. Invite a colleague above."
          columns={{
            'E-mail': ({ email }) => email,
            Role: ({ role }) => role,
            Until: ({ expiresAt }) => <Moment at={expiresAt} />,
            Withdraw: ({ invitationId, email }) => (
              <ConfirmButton
                label="Withdraw"
                buttonProps={{ 'aria-label': `Withdraw the invitation of ${email}` }}
                title="Withdraw the invitation"
                confirmLabel="Withdraw the invitation"
                act={() => withdraw(invitationId)}
              >
                <Text size="sm">The link that was sent to {email} stops working.</Text>
              </ConfirmButton>
            ),
          }}
        />
      </Stack>
    </Section>
  );
}

export function SettingsPage() {
  const { may } = useMembership();
  const query = useRead('/account', {});
  return (
    <Page title="Settings">
      <QueryView query={query}>
        {(account) => (
          <>
            <Section title="Account">
              <Facts
                of={{
                  Account: <Id>{account.accountId}</Id>,
                  'E-mail': account.email,
                  Currency: account.currency,
                  Plan: `${PLANS[account.plan]}: ${account.requestsPerMinute.toLocaleString()} requests a minute`,
                  Since: <Moment at={account.createdAt} />,
                }}
              />
            </Section>
            {may('members') && <Names account={account} />}
          </>
        )}
      </QueryView>
    </Page>
  );
}

function Names({ account }: { readonly account: ApiSchemas['OwnAccount']['data'] }) {
  const queries = useQueryClient();
  const form = useForm({ initialValues: { name: account.name, websiteUrl: account.websiteUrl ?? '' } });
  const sending = useSending(
    form,
    ({ name, websiteUrl }) =>
      api.PATCH('/account', { body: { name, ...(websiteUrl === '' ? {} : { websiteUrl }) } }),
    async () => {
      notifications.show({ message: 'Saved.' });
      await queries.invalidateQueries({ queryKey: currentUserQuery.queryKey });
    },
  );
  return (
    <Section title="Company">
      <SendForm
        sending={sending}
        label="Save"
        at="flex-start"
        button={{ variant: 'default' }}
        maw={WIDTHS.form}
      >
        <TextInput label="Name" required {...form.getInputProps('name')} />
        <TextInput label="Website" type="url" placeholder="https://" {...form.getInputProps('websiteUrl')} />
      </SendForm>
    </Section>
  );
}
