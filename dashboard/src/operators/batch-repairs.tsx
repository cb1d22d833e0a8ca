import { useNavigate, useSearch } from '@tanstack/react-router';
import { PageLink, LinkButton } from '../ui/page-link.tsx';
import { Moment, Status, Page } from '../ui/parts.tsx';
import { PagedRows } from '../ui/rows.tsx';
import type { BatchRepair } from './data.ts';
import { useOps, LIVE } from './place.ts';
import { BATCH_ACTIONS } from './words.ts';

export function BatchRepairsPage() {
  const { page = 1 } = useSearch({ from: '/operators/$environment/repairs' });
  const navigate = useNavigate({ from: '/operators/$environment/repairs' });
  const repairs = useOps('/ops/batch-repairs', { query: { page } }, { ...LIVE, keepsOld: true });
  return (
    <Page
      title="Batch repairs"
      about="One action on many stuck items, approved by a second person."
      extra={<LinkButton to="/operators/$environment/repairs/new">New batch repair</LinkButton>}
    >
      <PagedRows
        countsNone
        query={repairs}
        onPage={(next) => void navigate({ search: { page: next } })}
        label="Batch repairs"
        empty="No batch repairs yet."
        keyOf={({ repairId }) => repairId}
        columns={{
          Action: ({ repairId, action }) => (
            <PageLink to="/operators/$environment/repairs/$repairId" params={{ repairId }}>
              {BATCH_ACTIONS[action].label}
            </PageLink>
          ),
          Status: ({ status }) => <Status>{status}</Status>,
          Progress: ({ counts }) => progressOf(counts),
          'Requested by': ({ by }) => by,
          'Decided by': ({ decidedBy }) => decidedBy ?? '–',
          Requested: ({ createdAt }) => <Moment at={createdAt} />,
        }}
      />
    </Page>
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
