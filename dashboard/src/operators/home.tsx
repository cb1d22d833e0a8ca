import { Alert, List, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatAge, formatAmount } from '../ui/format.ts';
import { PageLink, QueryView, Moment, Page } from '../ui/parts.tsx';
import { BalanceFacts } from './balance-facts.tsx';
import { type Availability, type Overview, useOps, LIVE } from './place.ts';
import { STUCK_CLASSES, WAITS_FOR } from './words.ts';

export function HomePage() {
  const overview = useOps('/ops/overview', {}, LIVE);
  const availability = useOps('/ops/availability', {}, LIVE);
  return (
    <Page title="Home" about="What needs an operator now.">
      <QueryView query={overview} rows={10}>
        {({ stuck, approvals, rates, differences, waiting }) => (
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <StuckCard of={stuck} />
            <ApprovalsCard approvals={approvals} rates={rates} />
            {differences && (
              <Card title="Open differences" of={differences}>
                <PageLink to="/operators/$environment/differences">See the differences</PageLink>
              </Card>
            )}
            {waiting && <WaitingCard of={waiting} />}
            {availability.data && <AvailabilityCard of={availability.data} />}
          </SimpleGrid>
        )}
      </QueryView>
    </Page>
  );
}

type Figure = Overview['approvals'];

function together(figures: readonly Figure[]): Figure {
  const ages = figures.flatMap(({ oldestAgeSeconds }) => oldestAgeSeconds ?? []);
  return {
    count: figures.reduce((sum, { count }) => sum + count, 0),
    oldestAgeSeconds: ages.length === 0 ? null : Math.max(...ages),
  };
}

function Card({
  title,
  of: { count, oldestAgeSeconds },
  children,
}: {
  readonly title: string;
  readonly of: Figure;
  readonly children: ReactNode;
}) {
  return (
    <Paper component="section" withBorder p="md" mih={180} aria-label={title}>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      <Stack gap="xs">
        <Text size="xl" fw={700}>
          {count.toLocaleString()}
        </Text>
        {oldestAgeSeconds !== null && <Text size="sm">Oldest: {formatAge(oldestAgeSeconds)}</Text>}
        {children}
      </Stack>
    </Paper>
  );
}

function StuckCard({ of }: { readonly of: Overview['stuck'] }) {
  return (
    <Card title="Stuck" of={of}>
      <List size="sm">
        {of.classes.map(({ class: stuckClass, count, oldestAgeSeconds }) => (
          <List.Item key={stuckClass}>
            <PageLink to="/operators/$environment/stuck" search={{ class: stuckClass }}>
              {STUCK_CLASSES[stuckClass]}
            </PageLink>
            : {count.toLocaleString()}
            {oldestAgeSeconds !== null && `, oldest ${formatAge(oldestAgeSeconds)}`}
          </List.Item>
        ))}
      </List>
      {of.isCut && <Alert color="yellow">Not everything is counted: the list is too long.</Alert>}
      {!of.temporalAsked && (
        <Alert color="yellow">Temporal does not respond. Purchases without a workflow are not counted.</Alert>
      )}
      <PageLink to="/operators/$environment/stuck">See the stuck list</PageLink>
    </Card>
  );
}

function ApprovalsCard({ approvals, rates }: Pick<Overview, 'approvals' | 'rates'>) {
  return (
    <Card title="Awaiting approval" of={together(rates ? [approvals, rates] : [approvals])}>
      {rates && rates.count > 0 && (
        <PageLink to="/operators/$environment/approvals">
          Rates and prices: {rates.count.toLocaleString()}
        </PageLink>
      )}
      <PageLink to="/operators/$environment/approvals">See approvals</PageLink>
    </Card>
  );
}

/** How long the balance at the supplier lasts, and what is not sold. */
function AvailabilityCard({ of: { balances, shortages } }: { readonly of: Availability }) {
  return (
    <Paper component="section" withBorder p="md" mih={180} aria-label="Balance at the supplier">
      <Title order={2} size="h5" mb="xs">
        Balance at the supplier
      </Title>
      <Stack gap="xs">
        {balances.length === 0 && <Text size="sm">It was not read yet.</Text>}
        {balances.map((balance) => (
          <BalanceFacts key={balance.supplier} of={balance} />
        ))}
        {shortages.length > 0 && (
          <Text size="sm">
            {shortages.length.toLocaleString()} {shortages.length === 1 ? 'package is' : 'packages are'} not
            sold, since <Moment at={shortages[0]?.since ?? ''} />
          </Text>
        )}
        <PageLink to="/operators/$environment/alerts">See alerts</PageLink>
      </Stack>
    </Paper>
  );
}

function WaitingCard({ of: { asOf, lines } }: { readonly of: NonNullable<Overview['waiting']> }) {
  return (
    <Card title="Money waiting" of={together(lines)}>
      <List size="sm">
        {lines.map(({ waitsFor, currency, amount, count }) => (
          <List.Item key={`${waitsFor} ${currency}`}>
            {WAITS_FOR[waitsFor]}: {formatAmount(amount, currency)} in {count.toLocaleString()}{' '}
            {count === 1 ? 'item' : 'items'}
          </List.Item>
        ))}
      </List>
      <Text size="xs" c="dimmed">
        As of <Moment at={asOf} />
      </Text>
      <PageLink to="/operators/$environment/books" search={{ book: 'waiting' }}>
        See money waiting
      </PageLink>
    </Card>
  );
}
