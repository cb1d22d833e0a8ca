import { Alert, Button, Group, NativeSelect, Stack, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { listDifferencesKind } from 'simway-client/generated/ops-lists.ts';
import { ops, dataOf } from '../api/client.ts';
import type { Environment } from '../ui/address.ts';
import { PageLink, Failed, Id, Moment, ShortId, Page } from '../ui/parts.tsx';
import { type Columns, PagedRows, amount } from '../ui/rows.tsx';
import { inPath, type Difference, useEnvironment, useOps } from './place.ts';
import { ReasonDialog, type Dialog } from './form-dialog.tsx';
import { WorkflowsLink, SubjectLink } from './links.tsx';
import { differenceSearch } from './search.ts';

const FROM = '/operators/$environment/differences';

export function DifferencesPage() {
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const differences = useOps('/ops/differences', { query: search }, { keepsOld: true });
  // Not kept in the row, which goes once another person closes it: the dialog still has what was typed.
  const [chosen, setChosen] = useState<Difference | null>(null);
  return (
    <Page
      title="Differences"
      about="Where our books and those of the gateway or the supplier disagree."
      extra={<RunNow />}
    >
      <Group role="search" aria-label="Filter the list">
        <NativeSelect
          label="Kind"
          data={[
            { value: '', label: 'All kinds' },
            ...listDifferencesKind.map((value) => ({ value, label: KINDS[value] })),
          ]}
          value={search.kind ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void navigate({ search: differenceSearch({ kind: value }), replace: true })
          }
        />
      </Group>
      {search.id !== undefined && (
        <Group gap="xs">
          <Text size="sm">Difference {search.id} only.</Text>
          <PageLink size="sm" to={FROM}>
            Show all that are open
          </PageLink>
        </Group>
      )}
      <PagedRows
        countsNone
        query={differences}
        onPage={(page) => void navigate({ search: (old) => ({ ...old, page }) })}
        label="Differences"
        keyOf={({ id }) => id}
        empty={search.id === undefined ? 'No open differences.' : 'No such difference.'}
        columns={{
          ...COLUMNS,
          Close: (one) =>
            one.closedAt === null ? (
              <Button size="compact-sm" variant="default" onClick={() => setChosen(one)}>
                Close
              </Button>
            ) : (
              <Closed of={one} />
            ),
        }}
      />
      {chosen && <CloseDialog difference={chosen} onClose={() => setChosen(null)} />}
    </Page>
  );
}

function RunNow() {
  const environment = useEnvironment();
  const run = useMutation({ mutationFn: () => runOnce(environment) });
  return (
    <Stack gap="xs" align="flex-end">
      <Button onClick={() => run.mutate()} loading={run.isPending}>
        Compare now
      </Button>
      <div role="status">
        {run.isPending && <Text size="sm">Comparing. This takes some seconds.</Text>}
        {run.data && <Text size="sm">{resultOf(run.data)}</Text>}
      </div>
      {run.error && <Failed error={run.error} />}
      <WorkflowsLink type="reconcile">Runs in Temporal</WorkflowsLink>
    </Stack>
  );
}

const runOnce = (environment: Environment) =>
  dataOf(ops.POST('/ops/reconciliations', { params: { query: { environment } }, body: {} }));

function resultOf(run: Awaited<ReturnType<typeof runOnce>>): string {
  if (run.status === 'running') return 'Still running. The list will show the result.';
  if (run.status === 'nothing-to-compare' || run.run === null) return 'Nothing new to compare.';
  return `Compared. ${String(run.run.opened)} opened, ${String(run.run.closed)} resolved.`;
}

const COLUMNS: Columns<Difference> = {
  Number: ({ id }) => <Id>{id}</Id>,
  Difference: (difference) => (
    <Stack gap={4} className="difference">
      <Text size="sm" fw={600}>
        {difference.title}
      </Text>
      <About of={difference} />
      <Text size="sm">Next: {difference.next}</Text>
    </Stack>
  ),
  'Both sides': ({ facts }) => <Sides of={facts} />,
  'Theirs minus ours': amount('amount'),
  'First seen': ({ firstSeenAt }) => <Moment at={firstSeenAt} />,
};

/** For the filter; a difference brings its own words along. */
const KINDS: Record<Difference['kind'], string> = {
  'missing-in-ledger': 'Received, not booked',
  'missing-at-gateway': 'Booked, not received',
  'amount-differs': 'Another amount',
  'currency-differs': 'Another currency',
  'double-at-gateway': 'Received twice',
  'status-differs': 'Taken back on one side',
  'refund-missing-in-ledger': 'Refund not booked',
  'refund-missing-at-gateway': 'Refund not sent',
  'refund-differs': 'Another refund',
  'dispute-missing-in-ledger': 'Dispute not known to us',
  'dispute-missing-at-gateway': 'Dispute not listed',
  'dispute-differs': 'Another result of a dispute',
  'fee-differs': 'Another fee',
  'supplier-order-unknown': 'Order not ours',
  'supplier-order-unbooked': 'Charged for a failed purchase',
  'supplier-order-missing': 'Order not listed',
  'supplier-order-double': 'Charged twice',
  'supplier-cost-differs': 'Another cost',
  'supplier-balance-differs': 'Balance at the supplier',
};

function About({ of: { subject, transactionId } }: { readonly of: Difference }) {
  if (transactionId === null) return <ShortId>{subject}</ShortId>;
  return <SubjectLink id={transactionId}>{subject}</SubjectLink>;
}

const NOT_THERE = 'Not there';

/** One line for each fact, both sides beside each other. */
function Sides({ of }: { readonly of: Difference['facts'] }) {
  return (
    <Table className="sides" withRowBorders={false} verticalSpacing={2} horizontalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>What</Table.Th>
          <Table.Th>Ours</Table.Th>
          <Table.Th>Theirs</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {of.map(({ label, ours, theirs }) => (
          <Table.Tr key={label}>
            <Table.Td>{label}</Table.Td>
            <Table.Td>{ours ?? NOT_THERE}</Table.Td>
            <Table.Td>{theirs ?? NOT_THERE}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** A run closes a difference that is gone, a person with a reason. */
function Closed({ of: { closedAt, closedBy, closeReason } }: { readonly of: Difference }) {
  return (
    <Text size="sm">
      Closed <Moment at={closedAt} /> {closedBy === null ? 'since it is gone' : `by ${closedBy}`}
      {closeReason !== null && `: ${closeReason}`}
    </Text>
  );
}

function CloseDialog({ difference, onClose }: Dialog & { readonly difference: Difference }) {
  const environment = useEnvironment();
  const submit = (reason: string) =>
    ops.POST('/ops/differences/{differenceId}/close', {
      ...inPath(environment, { differenceId: difference.id }),
      body: { reason },
    });
  return (
    <ReasonDialog
      done="Difference closed"
      title="Close the difference"
      onClose={onClose}
      submit={submit}
      label="Close the difference"
      color="red"
    >
      <Alert color="yellow">
        {difference.title}: {difference.subject}. It opens again only if the facts change. No money is moved.
      </Alert>
    </ReasonDialog>
  );
}
