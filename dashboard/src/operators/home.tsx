import { Alert, List, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { formatAge, formatAmount } from '../ui/format.ts';
import { PageLink } from '../ui/page-link.tsx';
import { QueryView, Moment, PageHead } from '../ui/parts.tsx';
import { overviewQuery, type Overview } from './data.ts';
import { useEnvironment } from './place.ts';
import { plain, STUCK_CLASSES } from './words.ts';

export function HomePage() {
  const overview = useQuery(overviewQuery(useEnvironment()));
  return (
    <Stack>
      <PageHead title="Home" about="What needs an operator now." />
      <QueryView query={overview} rows={10}>
        {({ stuck, approvals, rates, differences, waiting }) => (
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <StuckCard of={stuck} />
            <ApprovalsCard approvals={approvals} rates={rates} />
            {differences && <DifferencesCard of={differences} />}
            {waiting && <WaitingCard of={waiting} />}
          </SimpleGrid>
        )}
      </QueryView>
    </Stack>
  );
}

type Figure = Overview['approvals'];

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
        <Text fz={28} fw={700} lh={1.1}>
          {count.toLocaleString()}
        </Text>
        {oldestAgeSeconds !== null && <Text size="sm">Oldest: {formatAge(oldestAgeSeconds)}</Text>}
        {children}
      </Stack>
    </Paper>
  );
}

function StuckCard({ of }: { readonly of: Overview['stuck'] }) {
  const environment = useEnvironment();
  return (
    <Card title="Stuck" of={of}>
      <List size="sm">
        {of.classes.map(({ class: stuckClass, count, oldestAgeSeconds }) => (
          <List.Item key={stuckClass}>
            <PageLink
              to="/operators/$environment/stuck"
              params={{ environment }}
              search={{ class: stuckClass }}
            >
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
      <PageLink to="/operators/$environment/stuck" params={{ environment }}>
        See the stuck list
      </PageLink>
    </Card>
  );
}

/** Exchange rates are confirmed on their own page. */
function ApprovalsCard({ approvals, rates }: Pick<Overview, 'approvals' | 'rates'>) {
  const environment = useEnvironment();
  const ages = [approvals, rates].flatMap((figure) => figure?.oldestAgeSeconds ?? []);
  const all = {
    count: approvals.count + (rates?.count ?? 0),
    oldestAgeSeconds: ages.length === 0 ? null : Math.max(...ages),
  };
  return (
    <Card title="Awaiting approval" of={all}>
      {rates && rates.count > 0 && (
        <PageLink to="/operators/$environment/rates" params={{ environment }}>
          Exchange rates: {rates.count.toLocaleString()}
        </PageLink>
      )}
      <PageLink to="/operators/$environment/approvals" params={{ environment }}>
        See approvals
      </PageLink>
    </Card>
  );
}

function DifferencesCard({ of }: { readonly of: Figure }) {
  const environment = useEnvironment();
  return (
    <Card title="Open differences" of={of}>
      <PageLink to="/operators/$environment/differences" params={{ environment }}>
        See the differences
      </PageLink>
    </Card>
  );
}

function WaitingCard({ of: { asOf, lines } }: { readonly of: NonNullable<Overview['waiting']> }) {
  const environment = useEnvironment();
  const ages = lines.flatMap(({ oldestAgeSeconds }) => oldestAgeSeconds ?? []);
  const all = {
    count: lines.reduce((sum, { count }) => sum + count, 0),
    oldestAgeSeconds: ages.length === 0 ? null : Math.max(...ages),
  };
  return (
    <Card title="Money waiting" of={all}>
      <List size="sm">
        {lines.map(({ waitsFor, currency, amount, count }) => (
          <List.Item key={`${waitsFor} ${currency}`}>
            {plain(waitsFor)}: {formatAmount(amount, currency)} in {count.toLocaleString()}{' '}
            {count === 1 ? 'item' : 'items'}
          </List.Item>
        ))}
      </List>
      <Text size="xs" c="dimmed">
        As of <Moment at={asOf} />
      </Text>
      <PageLink to="/operators/$environment/books" params={{ environment }} search={{ book: 'waiting' }}>
        See money waiting
      </PageLink>
    </Card>
  );
}
