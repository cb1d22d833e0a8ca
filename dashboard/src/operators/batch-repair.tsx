import { Alert, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useParams, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ops, dataOf } from '../api/client.ts';
import { JobProgress } from '../ui/job-progress.tsx';
import { ITEM_RESULTS } from '../ui/words.ts';
import {
  QueryView,
  Id,
  Moment,
  Pages,
  Section,
  Status,
  Facts,
  Page,
  PageLink,
  LinkButton,
} from '../ui/parts.tsx';
import { amount, Rows, PagedRows } from '../ui/rows.tsx';
import {
  type BatchRepairDetails,
  type BatchRepair,
  useOperator,
  useEnvironment,
  useOps,
  LIVE,
} from './place.ts';
import { ReasonDialog } from './form-dialog.tsx';
import { WorkflowLink, SubjectLink } from './links.tsx';
import { AGES } from './search.ts';
import { amountOfRepair, BATCH_ACTIONS, itemsOfRepair, STUCK_CLASSES } from './words.ts';

/** While it runs a row ends every second or so. */
const RUNNING_MS = 1_500;

export function BatchRepairPage() {
  const { repairId } = useParams({ from: '/operators/$environment/repairs/$repairId' });
  const repair = useOps(
    '/ops/batch-repairs/{repairId}',
    { path: { repairId } },
    {
      everyMs: (found) =>
        found?.status === 'RUNNING' ? RUNNING_MS : found?.closedAt === null && LIVE.everyMs(),
    },
  );
  return (
    <Page title="Batch repair">
      <QueryView query={repair}>
        {(details) => (
          <>
            <Overview of={details} />
            <Decision of={details} />
            <Items of={details} />
          </>
        )}
      </QueryView>
    </Page>
  );
}

function filterWords({
  class: kind,
  olderThanSeconds,
  currency,
  transactionIds,
}: BatchRepairDetails['filter']): string {
  const age = AGES.find(({ value }) => value === String(olderThanSeconds));
  return [
    kind === undefined ? 'All kinds' : STUCK_CLASSES[kind],
    ...(olderThanSeconds === undefined
      ? []
      : [`no progress for ${age?.label ?? `${olderThanSeconds.toLocaleString()} s`}`]),
    ...(currency === undefined ? [] : [currency]),
    ...(transactionIds === undefined ? [] : [`${String(transactionIds.length)} chosen items`]),
  ].join(', ');
}

const DECISIONS = { approve: 'Approved by', decline: 'Declined by', stop: 'Stopped by' } as const;

function Overview({ of }: { readonly of: BatchRepairDetails }) {
  const { counts } = of;
  const wasApproved = of.decidedBy !== null && of.status !== 'DECLINED';
  return (
    <Section title={BATCH_ACTIONS[of.action].label} extra={<RepairStatus of={of} />}>
      <Stack>
        <Facts
          of={{
            'Batch repair': <Id>{of.repairId}</Id>,
            'What it does': BATCH_ACTIONS[of.action].does,
            Filter: filterWords(of.filter),
            Amount: amountOfRepair(of),
            'Requested by': of.by,
            Reason: of.reason,
            Evidence: of.evidence,
            Requested: <Moment at={of.createdAt} />,
            Workflow: wasApproved && <WorkflowLink workflowId={of.repairId} />,
            ...Object.fromEntries(
              of.decisions.map(({ what, by, reason, at }) => [
                DECISIONS[what],
                <>
                  {by}, <Moment at={at} />: {reason}
                </>,
              ]),
            ),
            Ended: of.closedAt && <Moment at={of.closedAt} />,
            Expires: of.status === 'WAITS_FOR_APPROVAL' && <Moment at={of.expiresAt} />,
          }}
        />
        {wasApproved && (
          <JobProgress
            rows={of.items.length}
            parts={[
              { count: counts.done, color: 'green' },
              { count: counts.refused, color: 'red' },
              { count: counts.unknown, color: 'yellow' },
              { count: counts.skipped, color: 'gray' },
            ]}
            line={progressOf(counts)}
          />
        )}
        {of.isStopping && <Alert color="yellow">Stopping. Rows in progress finish first.</Alert>}
      </Stack>
    </Section>
  );
}

const JOB_STATUSES: Record<BatchRepair['status'], string> = {
  SCHEDULED: 'Scheduled',
  WAITS_FOR_APPROVAL: 'Awaits approval',
  RUNNING: 'Running',
  COMPLETED: 'Ended',
  STOPPED: 'Stopped',
  DECLINED: 'Declined',
  EXPIRED: 'Expired',
};
const RESULTS: Record<
  NonNullable<BatchRepair['result']>,
  { readonly label: string; readonly color: string }
> = {
  done: { label: 'done', color: 'green' },
  'partly-done': { label: 'partly done', color: 'yellow' },
  'not-done': { label: 'not done', color: 'red' },
};

/** What an ended one did is its colour: one that did nothing is not green. */
function RepairStatus({ of: { status, result } }: { readonly of: Pick<BatchRepair, 'status' | 'result'> }) {
  const name = JOB_STATUSES[status];
  if (result === null) return <Status color={status === 'RUNNING' ? 'blue' : 'yellow'}>{name}</Status>;
  const { label, color } = RESULTS[result];
  return <Status color={color}>{`${name}: ${label}`}</Status>;
}

const VERBS = {
  approve: { label: 'Approve and start', color: 'blue', done: 'Approved. It is running' },
  decline: { label: 'Decline', color: 'red', done: 'Declined. Nothing was done' },
  stop: { label: 'Stop', color: 'red', done: 'Stopping' },
} as const;
type Verb = keyof typeof VERBS;

function Decision({ of }: { readonly of: BatchRepairDetails }) {
  const environment = useEnvironment();
  const { may, email } = useOperator();
  const [verb, setVerb] = useState<Verb | null>(null);
  const isOwn = of.by === email;
  const isWaiting = of.status === 'WAITS_FOR_APPROVAL';
  const verbs: Verb[] = [
    ...(isWaiting && may('approve') && !isOwn ? (['approve'] as const) : []),
    ...(isWaiting && may('approve') ? (['decline'] as const) : []),
    ...(of.status === 'RUNNING' && !of.isStopping && may('replay') ? (['stop'] as const) : []),
  ];
  const decide = async (chosen: Verb, reason: string) => {
    const params = { path: { repairId: of.repairId }, query: { environment } };
    await dataOf(ops.POST(`/ops/batch-repairs/{repairId}/${chosen}`, { params, body: { reason } }));
  };
  return (
    <>
      {isWaiting && isOwn && (
        <Alert>
          You requested it: another person of finance approves it.{may('approve') && ' You may decline it.'}
        </Alert>
      )}
      {verbs.length > 0 && (
        <Group>
          {verbs.map((name) => (
            <Button
              key={name}
              color={VERBS[name].color}
              variant={name === 'approve' ? 'filled' : 'light'}
              onClick={() => setVerb(name)}
            >
              {VERBS[name].label}
            </Button>
          ))}
        </Group>
      )}
      {verb && (
        <ReasonDialog
          done={VERBS[verb].done}
          title={`${VERBS[verb].label}: ${BATCH_ACTIONS[of.action].label}`}
          onClose={() => setVerb(null)}
          submit={(reason) => decide(verb, reason)}
          label={VERBS[verb].label}
          color={VERBS[verb].color}
        >
          <Text size="sm">{itemsOfRepair(of)}</Text>
        </ReasonDialog>
      )}
    </>
  );
}

const PER_PAGE = 50;
const RESULT_COLORS: Record<keyof typeof ITEM_RESULTS, string> = {
  WAITING: 'blue',
  DONE: 'green',
  REFUSED: 'red',
  UNKNOWN: 'yellow',
  SKIPPED: 'gray',
};

function Items({ of: { items, status: whole } }: { readonly of: BatchRepairDetails }) {
  const [status, setStatus] = useState('');
  const [page, setPage] = useState(1);
  const wanted = items.filter((item) => status === '' || item.status === status);
  const shown = wanted.slice((page - 1) * PER_PAGE, page * PER_PAGE);
  const statuses = [...new Set(items.map((item) => item.status))];
  return (
    <Section
      title="Items"
      extra={
        <NativeSelect
          aria-label="Result"
          data={[
            { value: '', label: 'All results' },
            ...statuses.map((value) => ({ value, label: ITEM_RESULTS[value] })),
          ]}
          value={status}
          onChange={({ currentTarget: { value } }) => {
            setStatus(value);
            setPage(1);
          }}
        />
      }
    >
      <Rows
        label="Items of the batch repair"
        empty="No item has this result."
        rows={shown}
        columns={{
          Item: ({ transactionId }) => <SubjectLink id={transactionId} />,
          Kind: (item) => STUCK_CLASSES[item.class],
          ...(whole === 'WAITS_FOR_APPROVAL'
            ? { 'To move': amount('amount') }
            : { Moved: amount('movedAmount') }),
          Result: ({ status: result }) => (
            <Status color={RESULT_COLORS[result]}>{ITEM_RESULTS[result]}</Status>
          ),
          Effect: ({ status, detail, preview }) =>
            detail ?? (status === 'WAITING' ? `Expected: ${preview}` : '–'),
        }}
      />
      <Pages
        of={{
          currentPage: page,
          totalPages: Math.max(1, Math.ceil(wanted.length / PER_PAGE)),
          totalItems: wanted.length,
        }}
        onChange={setPage}
      />
    </Section>
  );
}

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
        columns={{
          Action: ({ repairId, action }) => (
            <PageLink to="/operators/$environment/repairs/$repairId" params={{ repairId }}>
              {BATCH_ACTIONS[action].label}
            </PageLink>
          ),
          Status: (repair) => <RepairStatus of={repair} />,
          Progress: ({ counts }) => progressOf(counts),
          Amount: (repair) => amountOfRepair(repair) || '–',
          'Requested by': ({ by }) => by,
          'Decided by': ({ decidedBy }) => decidedBy ?? '–',
          Requested: ({ createdAt }) => <Moment at={createdAt} />,
        }}
      />
    </Page>
  );
}

/** `17 of 20 done, 3 refused`. */
function progressOf({ waiting, done, refused, unknown, skipped }: BatchRepair['counts']): string {
  const all = waiting + done + refused + unknown + skipped;
  const rest = Object.entries({ refused, unknown, skipped })
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `, ${count.toLocaleString()} ${word}`);
  return `${done.toLocaleString()} of ${all.toLocaleString()} done${rest.join('')}`;
}
