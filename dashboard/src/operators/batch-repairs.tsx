import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { PageLink } from '../ui/page-link.tsx';
import { QueryView, Empty, Moment, PageHead, Pages, Status } from '../ui/parts.tsx';
import { Rows } from '../ui/rows.tsx';
import { batchRepairsQuery, type BatchRepair } from './data.ts';
import { useEnvironment } from './place.ts';
import { BATCH_ACTIONS } from './words.ts';

export function BatchRepairsPage() {
  const environment = useEnvironment();
  const { page = 1 } = useSearch({ from: '/operators/$environment/repairs' });
  const navigate = useNavigate({ from: '/operators/$environment/repairs' });
  const repairs = useQuery(batchRepairsQuery(environment, page));
  return (
    <Stack>
      <PageHead title="Batch repairs" about="One action on many stuck items, approved by a second person.">
        <Button
          renderRoot={(props) => (
            <Link {...props} to="/operators/$environment/repairs/new" params={{ environment }} />
          )}
        >
          New batch repair
        </Button>
      </PageHead>
      <QueryView query={repairs}>
        {({ items, pagination }) => (
          <>
            {items.length === 0 ? <Empty>No batch repairs yet.</Empty> : <List items={items} />}
            <Pages of={pagination} onChange={(next) => void navigate({ search: { page: next } })} />
          </>
        )}
      </QueryView>
    </Stack>
  );
}

/** `17 of 20 done, 3 refused`. */
export function progressOf({ waiting, done, refused, unknown, skipped }: BatchRepair['counts']): string {
  const all = waiting + done + refused + unknown + skipped;
  const rest = Object.entries({ refused, unknown, skipped })
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `, ${count.toLocaleString()} ${word}`);
  return `${done.toLocaleString()} of ${all.toLocaleString()} done${rest.join('')}`;
}

function List({ items }: { readonly items: readonly BatchRepair[] }) {
  const environment = useEnvironment();
  return (
    <Rows
      label="Batch repairs"
      rows={items}
      keyOf={({ repairId }) => repairId}
      columns={[
        {
          title: 'Action',
          cell: ({ repairId, action }) => (
            <PageLink to="/operators/$environment/repairs/$repairId" params={{ environment, repairId }}>
              {BATCH_ACTIONS[action].label}
            </PageLink>
          ),
        },
        { title: 'Status', cell: ({ status }) => <Status>{status}</Status> },
        { title: 'Progress', cell: ({ counts }) => progressOf(counts) },
        { title: 'Requested by', cell: ({ by }) => by },
        { title: 'Decided by', cell: ({ decidedBy }) => decidedBy ?? '–' },
        { title: 'Requested', cell: ({ createdAt }) => <Moment at={createdAt} /> },
      ]}
    />
  );
}
