import { Alert, Group, List, SimpleGrid, Text } from '@mantine/core';
import { useState } from 'react';
import { useCurrentUser } from '../app/session.ts';
import { Moment, PageLink, LinkButton, Page, QuerySection } from '../ui/parts.tsx';
import { readWallet, Balance } from './balance.tsx';
import { useMembership, useReads, useRead } from './place.ts';
import { TransactionRows } from './purchases.tsx';

const RECENT = 5;
const ENDPOINTS_EVERY_MS = 60_000;
/** In this browser. */
const HINT_CLOSED = 'simway-second-factor-hint-closed';

export function HomePage() {
  const { membership, may } = useMembership();
  const wallet = useReads(['wallet', 'balance'], readWallet);
  return (
    <Page
      title={membership?.accountName ?? 'Home'}
      extra={
        <Group>
          {may('keys') && (
            <LinkButton variant="default" to="/m/$accountId/$environment/developers/keys">
              Create an API key
            </LinkButton>
          )}
          {may('purchase') && <LinkButton to="/m/$accountId/$environment/catalogue">Buy an eSIM</LinkButton>}
        </Group>
      }
    >
      {may('webhooks') && <FailingEndpoints />}
      {may('members') && <SecondFactorHint />}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <QuerySection title="Wallet" query={wallet} rows={2}>
          {(found) => <Balance of={found} />}
        </QuerySection>
        <Totals />
      </SimpleGrid>
      <Recent />
    </Page>
  );
}

/** Shown to owners without a second factor, until they close it. */
function SecondFactorHint() {
  const { data } = useCurrentUser();
  const [closed, setClosed] = useState(() => localStorage.getItem(HINT_CLOSED) === 'true');
  if (closed || data?.user.hasSecondFactor !== false) return null;
  return (
    <Alert
      color="blue"
      title="Protect the account with a second factor"
      withCloseButton
      closeButtonLabel="Close the hint"
      onClose={() => {
        localStorage.setItem(HINT_CLOSED, 'true');
        setClosed(true);
      }}
    >
      Owners can do everything here.{' '}
      <PageLink underline="always" c="inherit" to="/m/$accountId/$environment/login">
        Add an authenticator app
      </PageLink>
    </Alert>
  );
}

/** While an endpoint fails, events wait: its owner must know before they are given up. */
function FailingEndpoints() {
  const { data } = useRead('/api/webhooks/endpoints', {}, { everyMs: () => ENDPOINTS_EVERY_MS });
  const failing = data?.items.filter(({ enabled, failingSince }) => enabled && failingSince !== null) ?? [];
  return failing.map(({ id, url, failingSince }) => (
    <Alert key={id} color="red" title="A webhook endpoint fails">
      <span className="breakable">{url}</span> has taken no message since <Moment at={failingSince} />.{' '}
      <PageLink underline="always" c="inherit" to="/m/$accountId/$environment/developers/webhooks">
        See what it answers
      </PageLink>
    </Alert>
  ));
}

function Totals() {
  const query = useRead('/api/esim/statistics', {});
  return (
    <QuerySection title="eSIMs of the last 30 days" query={query} rows={2}>
      {({ esims, purchases }) => (
        <>
          <Text size="xl" fw={700}>
            {esims.byStatus.ACTIVE.toLocaleString()} in use
          </Text>
          <Text size="sm" c="dimmed">
            {counted(purchases.byStatus.SUCCESS, 'delivered purchase')}, top-ups included. Days begin at
            midnight UTC.
          </Text>
        </>
      )}
    </QuerySection>
  );
}

/** The first steps stay until an eSIM was delivered: a payment that is open is none. */
function Recent() {
  const figures = useRead('/api/esim/statistics', {});
  const query = useRead('/api/esim/transactions', { query: { limit: RECENT } });
  const isNew = figures.data?.purchases.byStatus.SUCCESS === 0;
  return (
    <>
      {isNew && (
        <QuerySection title="First steps" query={figures} rows={RECENT}>
          {() => <FirstSteps />}
        </QuerySection>
      )}
      {!(isNew && query.data?.items.length === 0) && (
        <QuerySection title="Latest purchases and fundings" query={query} rows={RECENT}>
          {({ items }) => <TransactionRows rows={items} />}
        </QuerySection>
      )}
    </>
  );
}

function FirstSteps() {
  const { may } = useMembership();
  return (
    <List type="ordered">
      {may('fund') && (
        <List.Item>
          <PageLink underline="always" to="/m/$accountId/$environment/wallet">
            Fund the wallet
          </PageLink>
          : purchases can be paid from it.
        </List.Item>
      )}
      <List.Item>
        <PageLink underline="always" to="/m/$accountId/$environment/catalogue">
          Choose an eSIM in the catalogue
        </PageLink>
        : with your prices.
      </List.Item>
      {may('keys') && (
        <List.Item>
          <PageLink underline="always" to="/m/$accountId/$environment/developers/keys">
            Create a key for your servers
          </PageLink>
          : they buy with it, or you buy here.
        </List.Item>
      )}
    </List>
  );
}

const counted = (count: number, what: string): string =>
  `${count.toLocaleString()} ${what}${count === 1 ? '' : 's'}`;
