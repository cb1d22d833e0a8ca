import { Group, List, SimpleGrid, Text } from '@mantine/core';
import { PageLink, LinkButton } from '../ui/page-link.tsx';
import { Amount, QueryView, Section, Page } from '../ui/parts.tsx';
import { LowBalanceAlert, OwedAlert, readWallet } from './wallet-alerts.tsx';
import { useMembership, useReads, useRead } from './place.ts';
import { TransactionRows } from './purchases.tsx';

const RECENT = 5;

export function HomePage() {
  const { membership, may } = useMembership();
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
          <LinkButton to="/m/$accountId/$environment/catalogue">Buy an eSIM</LinkButton>
        </Group>
      }
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Balance />
        <Totals />
      </SimpleGrid>
      <Recent />
    </Page>
  );
}

function Balance() {
  const query = useReads(['wallet', 'balance'], readWallet);
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
  const query = useRead('/api/esim/statistics');
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
  const query = useRead('/api/esim/transactions', { query: { limit: RECENT } });
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
