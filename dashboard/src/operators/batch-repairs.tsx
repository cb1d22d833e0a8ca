import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { PageLink } from '../ui/page-link.tsx';
import { Moment, PageHead, Status } from '../ui/parts.tsx';
import { batchRepairsQuery, type BatchRepair } from './data.ts';
import { useEnvironment } from './place.ts';
import { PagedRows } from './tables.tsx';
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
      <PagedRows
        query={repairs}
        onPage={(next) => void navigate({ search: { page: next } })}
        label="Batch repairs"
        empty="No batch repairs yet."
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
