import { Alert, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ops } from '../api/client.ts';
import { listDifferencesKind } from 'simway-client/generated/ops-lists.ts';
import { dataOf } from 'simway-client';
import { Facts } from '../ui/facts.tsx';
import { PageLink } from '../ui/page-link.tsx';
import { Failed, Id, Moment, PageHead, ShortId } from '../ui/parts.tsx';
import { ReasonDialog } from '../ui/reason-dialog.tsx';
import type { Column } from '../ui/rows.tsx';
import type { Environment } from '../ui/environment.ts';
import { inPath, differencesQuery, type Difference } from './data.ts';
import { useSayChanged } from './form-dialog.tsx';
import { useEnvironment } from './place.ts';
import { SubjectLink } from './subject-link.tsx';
import { amountColumn, PagedRows } from './tables.tsx';
import { plain } from './words.ts';
import { WorkflowsLink } from './workflow-link.tsx';

const FROM = '/operators/$environment/differences';

export function DifferencesPage() {
  const environment = useEnvironment();
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const differences = useQuery(differencesQuery({ environment, ...search }));
  // Not kept in the row, which goes once another person closes it: the dialog still has what was typed.
  const [chosen, setChosen] = useState<Difference | null>(null);
  return (
    <Stack>
      <PageHead
        title="Differences"
        about="Where our books and those of the gateway or the supplier disagree."
      >
        <RunNow />
      </PageHead>
      <Group role="search" aria-label="Filter the list">
        <NativeSelect
          label="Kind"
          data={[
            { value: '', label: 'All kinds' },
            ...listDifferencesKind.map((value) => ({ value, label: plain(value) })),
          ]}
          value={search.kind ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              search: { kind: listDifferencesKind.find((kind) => kind === value) },
              replace: true,
            })
          }
        />
      </Group>
      {search.id !== undefined && (
        <Group gap="xs">
          <Text size="sm">Difference {search.id} only.</Text>
          <PageLink size="sm" to={FROM} params={{ environment }}>
            Show all that are open
          </PageLink>
        </Group>
      )}
      <PagedRows
        query={differences}
        onPage={(page) => void navigate({ search: (old) => ({ ...old, page }) })}
        label="Differences"
        empty={search.id === undefined ? 'No open differences.' : 'No such difference.'}
        keyOf={({ id }) => id}
        columns={[
          ...COLUMNS,
          {
            title: 'Close',
            cell: (one) =>
              one.closedAt === null ? (
                <Button size="compact-sm" variant="default" onClick={() => setChosen(one)}>
                  Close
                </Button>
              ) : (
                <Closed of={one} />
              ),
          },
        ]}
      />
      {chosen && <CloseDialog difference={chosen} onClose={() => setChosen(null)} />}
    </Stack>
  );
}

function RunNow() {
  const environment = useEnvironment();
  const queries = useQueryClient();
  const run = useMutation({
    mutationFn: () => runOnce(environment),
    onSettled: () => queries.invalidateQueries({ queryKey: ['ops', environment] }),
  });
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

const COLUMNS: readonly Column<Difference>[] = [
  { title: 'Number', cell: ({ id }) => <Id>{id}</Id> },
  { title: 'Kind', cell: ({ kind }) => plain(kind) },
  { title: 'About', cell: (difference) => <About of={difference} /> },
  amountColumn('Theirs minus ours', 'amount'),
  { title: 'Ours', cell: ({ ours }) => <Side of={ours} /> },
  { title: 'Theirs', cell: ({ theirs }) => <Side of={theirs} /> },
  { title: 'First seen', cell: ({ firstSeenAt }) => <Moment at={firstSeenAt} /> },
];

function About({ of: { subject, transactionId } }: { readonly of: Difference }) {
  if (transactionId === null) return <ShortId>{subject}</ShortId>;
  return <SubjectLink id={transactionId}>{subject}</SubjectLink>;
}

function Side({ of }: { readonly of: Difference['ours'] }) {
  if (of === null) return <Text size="sm">Not there</Text>;
  return <Facts of={Object.entries(of).map(([name, value]) => [plain(name), value] as const)} />;
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

function CloseDialog({
  difference,
  onClose,
}: {
  readonly difference: Difference;
  readonly onClose: () => void;
}) {
  const environment = useEnvironment();
  const sayChanged = useSayChanged();
  const submit = async (reason: string) => {
    await ops.POST('/ops/differences/{differenceId}/close', {
      ...inPath(environment, { differenceId: difference.id }),
      body: { reason },
    });
    await sayChanged('Difference closed');
  };
  return (
    <ReasonDialog
      title="Close the difference"
      opened
      onClose={onClose}
      submit={submit}
      submitLabel="Close the difference"
      color="red"
    >
      <Alert color="yellow">
        {plain(difference.kind)}: {difference.subject}. It opens again only if the facts change. No money is
        moved.
      </Alert>
    </ReasonDialog>
  );
}
