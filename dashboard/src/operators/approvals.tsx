import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { formatRate } from '../ui/format.ts';
import { PageLink } from '../ui/page-link.tsx';
import { QueryView, Moment, PageHead, Section } from '../ui/parts.tsx';
import { Rows } from '../ui/rows.tsx';
import { approvalsQuery, type BatchRepair, type ActionRecord, type Rates } from './data.ts';
import { DecisionDialog } from './decision-dialog.tsx';
import { useOperator, useEnvironment } from './place.ts';
import { SubjectLink } from './subject-link.tsx';
import { amountColumn, RowsOrNone } from './tables.tsx';
import { ACTIONS, APPROVE, BATCH_ACTIONS } from './words.ts';

interface Choice {
  readonly record: ActionRecord;
  readonly decision: 'approve' | 'decline';
}

type OnChoose = (choice: Choice) => void;

export function ApprovalsPage() {
  const environment = useEnvironment();
  const { may } = useOperator();
  const waiting = useQuery(approvalsQuery(environment, may('pricing')));
  // Not kept in the row: when another person decides, the row goes and the dialog says so.
  const [chosen, setChosen] = useState<Choice | null>(null);
  return (
    <Stack>
      <PageHead
        title="Approvals"
        about="Actions and batch repairs awaiting second approval, at most 7 days, and exchange rates, at most 24 hours."
      />
      <QueryView query={waiting}>
        {({ actions, repairs, rates }) => (
          <>
            <WaitingRates of={rates} />
            <Repairs of={repairs} />
            <List items={actions} onChoose={setChosen} />
          </>
        )}
      </QueryView>
      {chosen && <DecisionDialog {...chosen} onClose={() => setChosen(null)} />}
    </Stack>
  );
}

/** Exchange rates are confirmed on their own page, beside their history. */
function WaitingRates({ of }: { readonly of: Rates['waiting'] }) {
  const environment = useEnvironment();
  if (of.length === 0) return null;
  return (
    <Section title="Exchange rates">
      <Rows
        label="Exchange rates awaiting confirmation"
        rows={of}
        keyOf={({ rateId }) => rateId}
        columns={[
          { title: 'Currency', cell: ({ currency }) => currency },
          {
            title: 'Current rate',
            cell: ({ currentRate }) => (currentRate === null ? 'None' : formatRate(currentRate)),
            isNumber: true,
          },
          { title: 'New rate', cell: ({ rate }) => formatRate(rate), isNumber: true },
          { title: 'From', cell: ({ proposedBy, source }) => proposedBy ?? source },
          { title: 'Since', cell: ({ observedAt }) => <Moment at={observedAt} /> },
          {
            title: 'Decide',
            cell: ({ currency, rate }) => (
              <PageLink to="/operators/$environment/rates" params={{ environment }} search={{ currency }}>
                Review {formatRate(rate)} {currency}
              </PageLink>
            ),
          },
        ]}
      />
    </Section>
  );
}

function Repairs({ of }: { readonly of: readonly BatchRepair[] }) {
  const environment = useEnvironment();
  return of.map(({ repairId, action, counts, by }) => (
    <Alert key={repairId} title={`Batch repair: ${BATCH_ACTIONS[action].label}`}>
      {`${counts.waiting.toLocaleString()} items, requested by ${by}. `}
      <PageLink
        size="sm"
        c="inherit"
        underline="always"
        to="/operators/$environment/repairs/$repairId"
        params={{ environment, repairId }}
      >
        Review and decide
      </PageLink>
    </Alert>
  ));
}

function List({ items, onChoose }: { readonly items: readonly ActionRecord[]; readonly onChoose: OnChoose }) {
  return (
    <RowsOrNone
      label="Actions awaiting second approval"
      empty="No actions await approval."
      rows={items}
      keyOf={({ actionId }) => actionId}
      columns={[
        { title: 'Action', cell: ({ action }) => ACTIONS[action].label },
        {
          title: 'Purchase',
          cell: ({ transactionId }) => <SubjectLink id={transactionId} />,
        },
        amountColumn('Amount', 'amount'),
        { title: 'Requested by', cell: ({ by }) => by },
        { title: 'Reason', cell: ({ reason }) => reason },
        { title: 'Requested', cell: ({ createdAt }) => <Moment at={createdAt} /> },
        { title: 'Expires', cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
        { title: 'Decide', cell: (record) => <Decide record={record} onChoose={onChoose} /> },
      ]}
    />
  );
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
