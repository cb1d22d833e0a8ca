import { Button, Code, Group, List, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { dataOf, ops, readOps } from '../api/client.ts';
import { PageLink, Id, Moment, Section, Status, ShortCode } from '../ui/parts.tsx';
import { type Columns, WholeRows, CursorList } from '../ui/rows.tsx';
import { useSending } from '../ui/send-form.tsx';
import { ATTEMPT_OUTCOMES, MEMBER_ROLES, wordOf } from '../ui/words.ts';
import {
  type AccountEndpoint,
  type AccountKey,
  type AccountMember,
  type AccountMessage,
  useOperator,
  useOps,
  useOpsPages,
} from './place.ts';
import { FormDialog, type Dialog } from './form-dialog.tsx';
import { SubjectLink } from './links.tsx';
import { EvidenceField, showWaits } from './people.tsx';

interface OfAccount {
  readonly accountId: string;
}

const MEMBERS: Columns<AccountMember> = {
  Name: ({ name }) => name,
  'E-mail': ({ email }) => email,
  Role: ({ role }) => MEMBER_ROLES[role],
  'Second factor': ({ hasSecondFactor, removalAskedBy }) =>
    !hasSecondFactor ? 'Off' : removalAskedBy === null ? 'On' : `On; ${removalAskedBy} asked to remove it`,
  'Last sign-in': ({ lastSignInAt, lockedUntil }) => (
    <>
      <Moment at={lastSignInAt} none="Never" />
      {lockedUntil !== null && (
        <>
          , locked until <Moment at={lockedUntil} />
        </>
      )}
    </>
  ),
  'Member since': ({ joinedAt }) => <Moment at={joinedAt} />,
  User: ({ userId }) => <Id>{userId}</Id>,
};

export function Members({ accountId }: OfAccount) {
  const { may } = useOperator();
  const [recovered, setRecovered] = useState<AccountMember | null>(null);
  const change: Columns<AccountMember> = {
    Change: (member) =>
      member.hasSecondFactor && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => setRecovered(member)}
          aria-label={`Remove second factor: ${member.name}`}
        >
          Remove second factor
        </Button>
      ),
  };
  return (
    <Section title="Members">
      <WholeRows
        query={useOps('/ops/accounts/{accountId}/members', { path: { accountId } })}
        label="Members"
        empty="No members."
        keyOf={({ userId }) => userId}
        columns={may('accounts') ? { ...MEMBERS, ...change } : MEMBERS}
      />
      {recovered && <RemoveFactor member={recovered} onClose={() => setRecovered(null)} />}
    </Section>
  );
}

function RemoveFactor({ member, onClose }: Dialog & { readonly member: AccountMember }) {
  const { userId, name } = member;
  const form = useForm({
    initialValues: { evidence: '' },
    validate: { evidence: (evidence) => (evidence.trim() === '' ? 'Required' : null) },
  });
  const sending = useSending(
    form,
    async ({ evidence }) => {
      const params = { path: { userId } };
      const { outcome } = await dataOf(
        ops.POST('/ops/users/{userId}/remove-second-factor', { params, body: { evidence } }),
      );
      if (outcome !== 'done') showWaits(outcome, 'operator');
    },
    onClose,
  );
  return (
    <FormDialog
      title={`Remove the second factor: ${name}`}
      onClose={onClose}
      sending={sending}
      label="Remove the second factor"
    >
      <Text>
        For a user who has lost the app and the recovery codes, and whom no two other owners can help. Another
        operator must ask for the same within 24 hours. Then every session of the user ends, and they sign in
        with the password.
      </Text>
      <EvidenceField {...form.getInputProps('evidence')} />
    </FormDialog>
  );
}

function stateOf({ revokedAt, expiresAt }: AccountKey): string {
  if (revokedAt !== null) return 'Revoked';
  return expiresAt !== null && new Date(expiresAt) <= new Date() ? 'Expired' : 'Works';
}

const KEYS: Columns<AccountKey> = {
  Key: ({ key }) => <ShortCode>{key}</ShortCode>,
  Company: ({ companyName }) => companyName,
  State: (key) => (
    <>
      <Status>{stateOf(key)}</Status> {key.revokedAt !== null && <Moment at={key.revokedAt} />}
    </>
  ),
  Scopes: ({ scopes }) => scopes.join(', '),
  'Last used': ({ lastUsedAt }) => <Moment at={lastUsedAt} none="Never" isRough />,
  Expires: ({ expiresAt }) => <Moment at={expiresAt} none="Never" />,
  Id: ({ keyId }) => <Id>{keyId}</Id>,
};

export const Keys = ({ accountId }: OfAccount) => (
  <Section title="API keys">
    <WholeRows
      query={useOps('/ops/accounts/{accountId}/keys', { path: { accountId } })}
      label="API keys"
      empty="No API keys."
      columns={KEYS}
    />
  </Section>
);

const DISABLED = {
  BY_OWNER: 'Disabled by the merchant',
  GONE: 'Disabled: it answered 410 Gone',
  FAILING: 'Disabled after 5 days of failures',
} as const;

function StateOfEndpoint({ of }: { readonly of: AccountEndpoint }) {
  const { deletedAt, disabledReason, failingSince } = of;
  if (deletedAt !== null)
    return (
      <>
        Deleted <Moment at={deletedAt} />
      </>
    );
  return (
    <>
      {disabledReason === null ? 'Enabled' : DISABLED[disabledReason]}
      {failingSince !== null && (
        <>
          , failing since <Moment at={failingSince} />
        </>
      )}
    </>
  );
}

const ENDPOINTS: Columns<AccountEndpoint> = {
  Host: ({ host }) => <Code>{host}</Code>,
  State: (endpoint) => <StateOfEndpoint of={endpoint} />,
  Events: ({ events }) => events.join(', '),
  Created: ({ createdAt }) => <Moment at={createdAt} />,
  Id: ({ endpointId }) => <Id>{endpointId}</Id>,
};

export const Endpoints = ({ accountId }: OfAccount) => (
  <Section title="Webhook endpoints">
    <WholeRows
      query={useOps('/ops/accounts/{accountId}/endpoints', { path: { accountId } })}
      label="Webhook endpoints"
      empty="No webhook endpoints."
      columns={ENDPOINTS}
    />
  </Section>
);

/** Without bodies and answers: these are the merchant's. */
const MESSAGES: Columns<AccountMessage> = {
  Created: ({ createdAt }) => <Moment at={createdAt} />,
  Message: ({ event, messageId }) => (
    <>
      {event}
      <br />
      <Id>{messageId}</Id>
    </>
  ),
  To: ({ host }) => <Code>{host}</Code>,
  Status: ({ status }) => <Status>{status}</Status>,
  Attempts: (message) => <Attempts of={message} />,
  'Next attempt': ({ nextAttemptAt }) => <Moment at={nextAttemptAt} />,
  About: ({ transactionId }) => (transactionId === null ? '–' : <SubjectLink id={transactionId} />),
};

function Attempts({ of: { attempts, latestAttempts } }: { readonly of: AccountMessage }) {
  if (attempts === 0) return 'None yet';
  const earlier = attempts - latestAttempts.length;
  return (
    <Stack gap={0}>
      {earlier > 0 && <Text size="sm">{earlier.toLocaleString()} earlier</Text>}
      <List size="sm" listStyleType="none">
        {latestAttempts.map(({ attempt, at, outcome, status }) => (
          <List.Item key={attempt}>
            {attempt}. {status ?? wordOf(ATTEMPT_OUTCOMES, outcome)}, <Moment at={at} />
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}

/** `message` in the address shows one, also when it was delivered. */
export function UndeliveredMessages({ accountId }: OfAccount) {
  const { message } = useSearch({ from: '/operators/$environment/accounts/$id' });
  const query = useOpsPages(['account', accountId, 'messages', message], (at) =>
    readOps('/ops/accounts/{accountId}/messages', {
      path: { accountId },
      query: { ...at, limit: 20, messageId: message },
    }),
  );
  const isOne = message !== undefined;
  const title = isOne ? 'Webhook message' : 'Undelivered webhook messages';
  return (
    <Section title={title}>
      {isOne && (
        <Group gap="xs" mb="sm">
          <Text size="sm">Message {message} only.</Text>
          <PageLink size="sm" to="/operators/$environment/accounts/$id" params={{ id: accountId }}>
            Show all that are undelivered
          </PageLink>
        </Group>
      )}
      <CursorList
        query={query}
        label={title}
        empty={isOne ? 'The account has no such message.' : 'Every message is delivered.'}
        columns={MESSAGES}
      />
    </Section>
  );
}
