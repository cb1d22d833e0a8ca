import { Button, Group, List, SimpleGrid, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { api } from '../api/client.ts';
import { bodyOf, dataOf } from 'simway-client';
import { PageLink } from '../ui/page-link.tsx';
import { Amount, QueryView, PageHead, Section } from '../ui/parts.tsx';
import { LowBalanceAlert, OwedAlert, readWallet } from './wallet-alerts.tsx';
import { useAccountQuery, useMembership, usePlace } from './place.ts';
import { TransactionRows } from './purchases.tsx';

const RECENT = 5;

export function HomePage() {
  const place = usePlace();
  const { membership, may } = useMembership();
  return (
    <Stack>
      <PageHead title={membership?.accountName ?? 'Home'}>
        <Group>
          {may('keys') && (
            <Button
              variant="default"
              renderRoot={(props) => (
                <Link {...props} to="/m/$accountId/$environment/developers/keys" params={place} />
              )}
            >
              Create an API key
            </Button>
          )}
          <Button
            renderRoot={(props) => (
              <Link {...props} to="/m/$accountId/$environment/catalogue" params={place} />
            )}
          >
            Buy an eSIM
          </Button>
        </Group>
      </PageHead>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Balance />
        <Totals />
      </SimpleGrid>
      <Recent />
    </Stack>
  );
}

function Balance() {
  const query = useAccountQuery(['wallet', 'balance'], readWallet);
  return (
    <Section title="Wallet">
      <QueryView query={query} rows={2}>
        {(wallet) => (
          <>
            <Text size="xl" fw={700}>
              <Amount of={wallet.balance} currency={wallet.currency} />
            </Text>
            <Text size="sm" c="dimmed">
              On hold for open purchases: <Amount of={wallet.onHold} currency={wallet.currency} />
            </Text>
            <OwedAlert of={wallet} />
            <LowBalanceAlert of={wallet} />
          </>
        )}
      </QueryView>
    </Section>
  );
}

function Totals() {
  const query = useAccountQuery(['statistics'], () => bodyOf(api.GET('/api/esim/statistics')));
  return (
    <Section title="eSIMs">
      <QueryView query={query} rows={2}>
        {({ esims, purchases }) => (
          <>
            <Text size="xl" fw={700}>
              {esims.byStatus.ACTIVE.toLocaleString()} in use
            </Text>
            <Text size="sm" c="dimmed">
              {counted(esims.total, 'eSIM')} from {counted(purchases.total, 'purchase')}
            </Text>
          </>
        )}
      </QueryView>
    </Section>
  );
}

function Recent() {
  const query = useAccountQuery(['transactions', 'recent'], () =>
    dataOf(api.GET('/api/esim/transactions', { params: { query: { limit: RECENT } } })),
  );
  const isNew = query.data?.items.length === 0;
  return (
    <Section title={isNew ? 'First steps' : 'Latest purchases and fundings'}>
      <QueryView query={query} rows={RECENT}>
        {({ items }) => (isNew ? <FirstSteps /> : <TransactionRows rows={items} />)}
      </QueryView>
    </Section>
  );
}

/** The steps to the first purchase, without those that the role may not take. */
function FirstSteps() {
  const place = usePlace();
  const { may } = useMembership();
  return (
    <List type="ordered">
      {may('fund') && (
        <List.Item>
          <PageLink underline="always" to="/m/$accountId/$environment/wallet" params={place}>
            Fund the wallet
          </PageLink>
          : purchases can be paid from it.
        </List.Item>
      )}
      <List.Item>
        <PageLink underline="always" to="/m/$accountId/$environment/catalogue" params={place}>
          Choose an eSIM in the catalogue
        </PageLink>
        : with your prices.
      </List.Item>
      {may('keys') && (
        <List.Item>
          <PageLink underline="always" to="/m/$accountId/$environment/developers/keys" params={place}>
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
