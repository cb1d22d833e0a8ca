import { Alert, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { readOps } from '../api/client.ts';
import { formatRate } from '../ui/format.ts';
import { PageLink } from '../ui/page-link.tsx';
import { QueryView, Moment, Section, Page } from '../ui/parts.tsx';
import { Rows, amount } from '../ui/rows.tsx';
import { useReading } from '../ui/use-reading.ts';
import type { BatchRepair, ActionRecord, Rates } from './data.ts';
import { DecisionDialog } from './decision-dialog.tsx';
import { SubjectLink } from './links.tsx';
import { useOperator, useEnvironment, LIVE } from './place.ts';
import { ACTIONS, APPROVE, BATCH_ACTIONS } from './words.ts';

interface Choice {
  readonly record: ActionRecord;
  readonly decision: 'approve' | 'decline';
}

type OnChoose = (choice: Choice) => void;

/** Read together so that the page does not jump. Exchange rates: for those who may confirm them. */
function useWaiting() {
  const environment = useEnvironment();
  const { may } = useOperator();
  const withRates = may('pricing');
  return useReading({
    queryKey: ['ops', environment, 'approvals', withRates],
    queryFn: async () => {
      const [actions, open, rates] = await Promise.all([
        readOps('/ops/actions/pending', { query: { environment } }),
        readOps('/ops/batch-repairs', { query: { environment, open: 'true', limit: 100 } }),
        withRates ? readOps('/ops/rates', { query: { environment } }) : undefined,
      ]);
      const repairs = open.items.filter(({ status }) => status === 'WAITS_FOR_APPROVAL');
      return { actions: actions.items, repairs, rates: rates?.waiting ?? [] };
    },
    ...LIVE,
  });
}

export function ApprovalsPage() {
  const waiting = useWaiting();
  // Not kept in the row: when another person decides, the row goes and the dialog says so.
  const [chosen, setChosen] = useState<Choice | null>(null);
  return (
    <Page
      title="Approvals"
      about="Actions and batch repairs awaiting second approval, at most 7 days, and exchange rates, at most 24 hours."
    >
      <QueryView query={waiting}>
        {({ actions, repairs, rates }) => (
          <>
            <WaitingRates of={rates} />
            <Repairs of={repairs} />
            <Rows
              label="Actions awaiting second approval"
              empty="No actions await approval."
              rows={actions}
              keyOf={({ actionId }) => actionId}
              columns={{
                Action: ({ action }) => ACTIONS[action].label,
                Purchase: ({ transactionId }) => <SubjectLink id={transactionId} />,
                Amount: amount('amount'),
                'Requested by': ({ by }) => by,
                Reason: ({ reason }) => reason,
                Requested: ({ createdAt }) => <Moment at={createdAt} />,
                Expires: ({ expiresAt }) => <Moment at={expiresAt} />,
                Decide: (record) => <Decide record={record} onChoose={setChosen} />,
              }}
            />
          </>
        )}
      </QueryView>
      {chosen && <DecisionDialog {...chosen} onClose={() => setChosen(null)} />}
    </Page>
  );
}

/** Exchange rates are confirmed on their own page, beside their history. */
function WaitingRates({ of }: { readonly of: Rates['waiting'] }) {
  if (of.length === 0) return null;
  return (
    <Section title="Exchange rates">
      <Rows
        label="Exchange rates awaiting confirmation"
        rows={of}
        keyOf={({ rateId }) => rateId}
        columns={{
          Currency: ({ currency }) => currency,
          'Current rate': { number: ({ currentRate }) => formatRate(currentRate) },
          'New rate': { number: ({ rate }) => formatRate(rate) },
          From: ({ proposedBy, source }) => proposedBy ?? source,
          Since: ({ observedAt }) => <Moment at={observedAt} />,
          Decide: ({ currency, rate }) => (
            <PageLink to="/operators/$environment/rates" search={{ currency }}>
              Review {formatRate(rate)} {currency}
            </PageLink>
          ),
        }}
      />
    </Section>
  );
}

function Repairs({ of }: { readonly of: readonly BatchRepair[] }) {
  return of.map(({ repairId, action, counts, by }) => (
    <Alert key={repairId} title={`Batch repair: ${BATCH_ACTIONS[action].label}`}>
      {`${counts.waiting.toLocaleString()} items, requested by ${by}. `}
      <PageLink
        size="sm"
        c="inherit"
        underline="always"
        to="/operators/$environment/repairs/$repairId"
        params={{ repairId }}
      >
        Review and decide
      </PageLink>
    </Alert>
  ));
}

function Decide({ record, onChoose }: { readonly record: ActionRecord; readonly onChoose: OnChoose }) {
  const { may, email } = useOperator();
  if (!may('approve')) return <Text size="sm">Finance decides</Text>;
  if (record.by === email) return <Text size="sm">Yours: another person of finance decides</Text>;
  return (
    <Group gap="xs">
      <Button size="compact-sm" onClick={() => onChoose({ record, decision: 'approve' })}>
        {APPROVE}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => onChoose({ record, decision: 'decline' })}>
        Decline
      </Button>
    </Group>
  );
}
