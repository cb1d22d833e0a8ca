/** Who acts for an account, its keys, and where its webhooks go. */
import { Code, Group, List, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { CursorList } from '../ui/cursor-list.tsx';
import { PageLink } from '../ui/page-link.tsx';
import { Id, Moment, QueryView, Section, Status } from '../ui/parts.tsx';
import type { Column } from '../ui/rows.tsx';
import {
  accountEndpointsQuery,
  accountKeysQuery,
  accountMembersQuery,
  accountMessagesQuery,
  type AccountEndpoint,
  type AccountKey,
  type AccountMember,
  type AccountMessage,
} from './data.ts';
import { useEnvironment } from './place.ts';
import { SubjectLink } from './subject-link.tsx';
import { RowsOrNone, type RowsOrNoneProps } from './tables.tsx';
import { plain } from './words.ts';

interface OfAccount {
  readonly accountId: string;
}

/** A list that is read whole. */
function Whole<Item>({
  query,
  ...table
}: Omit<RowsOrNoneProps<Item>, 'rows'> & {
  readonly query: UseQueryResult<{ readonly items: readonly Item[] }>;
}) {
  return (
    <Section title={table.label}>
      <QueryView query={query} rows={2}>
        {({ items }) => <RowsOrNone rows={items} {...table} />}
      </QueryView>
    </Section>
  );
}

/** A moment, or what stands for none. */
const momentOr = (at: string | null, none: string) => (at === null ? none : <Moment at={at} />);

const MEMBERS: readonly Column<AccountMember>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'E-mail', cell: ({ email }) => email },
  { title: 'Role', cell: ({ role }) => plain(role) },
  { title: 'Second factor', cell: ({ hasSecondFactor }) => (hasSecondFactor ? 'On' : 'Off') },
  {
    title: 'Last sign-in',
    cell: ({ lastSignInAt, lockedUntil }) => (
      <>
        {momentOr(lastSignInAt, 'Never')}
        {lockedUntil !== null && (
          <>
            , locked until <Moment at={lockedUntil} />
          </>
        )}
      </>
    ),
  },
  { title: 'Member since', cell: ({ joinedAt }) => <Moment at={joinedAt} /> },
  { title: 'User', cell: ({ userId }) => <Id>{userId}</Id> },
];

export function Members({ accountId }: OfAccount) {
  const query = useQuery(accountMembersQuery(useEnvironment(), accountId));
  return (
    <Whole
      query={query}
      label="Members"
      empty="No members."
      columns={MEMBERS}
      keyOf={({ userId }) => userId}
    />
  );
}

function stateOf({ revokedAt, expiresAt }: AccountKey): string {
  if (revokedAt !== null) return 'Revoked';
  return expiresAt !== null && new Date(expiresAt) <= new Date() ? 'Expired' : 'Works';
}

const KEYS: readonly Column<AccountKey>[] = [
  {
    title: 'Key',
    cell: ({ key }) => (
      <Code className="id" title={key}>
        {key}
      </Code>
    ),
  },
  { title: 'Company', cell: ({ companyName }) => companyName },
  {
    title: 'State',
    cell: (key) => (
      <>
        <Status>{stateOf(key)}</Status> {key.revokedAt !== null && <Moment at={key.revokedAt} />}
      </>
    ),
  },
  { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
  { title: 'Last used', cell: ({ lastUsedAt }) => momentOr(lastUsedAt, 'Never') },
  { title: 'Expires', cell: ({ expiresAt }) => momentOr(expiresAt, 'Never') },
  { title: 'Id', cell: ({ keyId }) => <Id>{keyId}</Id> },
];

export function Keys({ accountId }: OfAccount) {
  const query = useQuery(accountKeysQuery(useEnvironment(), accountId));
  return (
    <Whole query={query} label="API keys" empty="No API keys." columns={KEYS} keyOf={({ keyId }) => keyId} />
  );
}

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

const ENDPOINTS: readonly Column<AccountEndpoint>[] = [
  { title: 'Host', cell: ({ host }) => <Code>{host}</Code> },
  { title: 'State', cell: (endpoint) => <StateOfEndpoint of={endpoint} /> },
  { title: 'Events', cell: ({ events }) => events.join(', ') },
  { title: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: 'Id', cell: ({ endpointId }) => <Id>{endpointId}</Id> },
];

export function Endpoints({ accountId }: OfAccount) {
  const query = useQuery(accountEndpointsQuery(useEnvironment(), accountId));
  return (
    <Whole
      query={query}
      label="Webhook endpoints"
      empty="No webhook endpoints."
      columns={ENDPOINTS}
      keyOf={({ endpointId }) => endpointId}
    />
  );
}

/** Without bodies and answers: these are the merchant's. */
const MESSAGES: readonly Column<AccountMessage>[] = [
  { title: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: 'Event', cell: ({ event }) => event },
  { title: 'To', cell: ({ host }) => <Code>{host}</Code> },
  { title: 'Status', cell: ({ status }) => <Status>{status}</Status> },
  { title: 'Attempts', cell: (message) => <Attempts of={message} /> },
  { title: 'Next attempt', cell: ({ nextAttemptAt }) => <Moment at={nextAttemptAt} /> },
  {
    title: 'About',
    cell: ({ transactionId }) => (transactionId === null ? '–' : <SubjectLink id={transactionId} />),
  },
  { title: 'Message', cell: ({ messageId }) => <Id>{messageId}</Id> },
];

function Attempts({ of: { attempts, latestAttempts } }: { readonly of: AccountMessage }) {
  if (attempts === 0) return 'None yet';
  const earlier = attempts - latestAttempts.length;
  return (
    <Stack gap={0}>
      {earlier > 0 && <Text size="sm">{earlier.toLocaleString()} earlier</Text>}
      <List size="sm" listStyleType="none">
        {latestAttempts.map(({ attempt, at, outcome, status }) => (
          <List.Item key={attempt}>
            {attempt}. {status ?? plain(outcome)}, <Moment at={at} />
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}

/** `message` in the address shows one, also when it was delivered. */
export function UndeliveredMessages({ accountId }: OfAccount) {
  const environment = useEnvironment();
  const { message } = useSearch({ from: '/operators/$environment/accounts/$id' });
  const query = useInfiniteQuery(accountMessagesQuery(environment, accountId, message));
  const isOne = message !== undefined;
  const title = isOne ? 'Webhook message' : 'Undelivered webhook messages';
  return (
    <Section title={title}>
      {isOne && (
        <Group gap="xs" mb="sm">
          <Text size="sm">Message {message} only.</Text>
          <PageLink
            size="sm"
            to="/operators/$environment/accounts/$id"
            params={{ environment, id: accountId }}
          >
            Show all that are undelivered
          </PageLink>
        </Group>
      )}
      <CursorList
        query={query}
        label={title}
        empty={isOne ? 'The account has no such message.' : 'Every message is delivered.'}
        keyOf={({ messageId }) => messageId}
        columns={MESSAGES}
      />
    </Section>
  );
}
