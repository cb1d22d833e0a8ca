import { Alert, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { readOps, ops, dataOf } from '../api/client.ts';
import { formatRate } from '../ui/format.ts';
import { PageLink, QueryView, Moment, Page, Amount, Facts } from '../ui/parts.tsx';
import { Rows, RowsSection, amount } from '../ui/rows.tsx';
import { useReading } from '../ui/use-reading.ts';
import { useSending } from '../ui/send-form.tsx';
import {
  type BatchRepair,
  type ActionRecord,
  type Rates,
  inPath,
  useOperator,
  useEnvironment,
  LIVE,
  opsQuery,
} from './place.ts';
import { SubjectLink } from './links.tsx';
import { WaitingAdjustments } from './wallet-adjustments.tsx';
import { ACTIONS, APPROVE, BATCH_ACTIONS, itemsOfRepair } from './words.ts';
import { EffectSection, reasonError, FormDialog, ReasonField, type Dialog } from './form-dialog.tsx';

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
      const [actions, open, byHand, rates, prices, held, rules] = await Promise.all([
        readOps('/ops/actions/pending', { query: { environment } }),
        readOps('/ops/batch-repairs', { query: { environment, open: 'true', limit: 100 } }),
        readOps('/ops/wallet-adjustments', { query: { environment, status: 'WAITS', limit: 100 } }),
        withRates ? readOps('/ops/rates', { query: { environment } }) : undefined,
        withRates ? readOps('/ops/prices', { query: { environment, limit: 1 } }) : undefined,
        withRates ? readOps('/ops/supplier-prices', { query: { environment } }) : undefined,
        withRates
          ? readOps('/ops/price-rules', { query: { environment, status: 'WAITS', limit: 1 } })
          : undefined,
      ]);
      const repairs = open.items.filter(({ status }) => status === 'WAITS_FOR_APPROVAL');
      const proposed = (prices?.waiting.length ?? 0) + (rules?.pagination.totalItems ?? 0);
      const pricing = proposed + (held?.items.length ?? 0);
      const rest = { rates: rates?.waiting ?? [], pricing };
      return { actions: actions.items, repairs, byHand: byHand.items, ...rest };
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
      about="What waits for a second person. Actions, wallet adjustments and batch repairs wait at most 7 days; rates, markups and price rules at most 24 hours."
    >
      <QueryView query={waiting}>
        {({ actions, repairs, byHand, rates, pricing }) => (
          <>
            <WaitingRates of={rates} />
            {pricing > 0 && (
              <Alert title="Prices">
                {pricing.toLocaleString()} await confirmation.{' '}
                <PageLink size="sm" c="inherit" underline="always" to="/operators/$environment/prices">
                  Review and decide
                </PageLink>
              </Alert>
            )}
            <Repairs of={repairs} />
            <WaitingAdjustments of={byHand} />
            <Rows
              label="Actions awaiting second approval"
              empty={
                repairs.length + byHand.length + rates.length + pricing === 0
                  ? 'Nothing awaits approval.'
                  : 'No other action awaits approval.'
              }
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

function WaitingRates({ of }: { readonly of: Rates['waiting'] }) {
  if (of.length === 0) return null;
  return (
    <RowsSection
      title="Exchange rates"
      label="Exchange rates awaiting confirmation"
      rows={of}
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
  );
}

function Repairs({ of }: { readonly of: readonly BatchRepair[] }) {
  return of.map(({ repairId, ...repair }) => (
    <Alert key={repairId} title={`Batch repair: ${BATCH_ACTIONS[repair.action].label}`}>
      {`${itemsOfRepair(repair)}. `}
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

function DecisionDialog({
  record,
  decision,
  onClose,
}: Dialog & { readonly record: ActionRecord; readonly decision: 'approve' | 'decline' }) {
  const environment = useEnvironment();
  const queries = useQueryClient();
  const { actionId, transactionId } = record;
  const { email } = useOperator();
  const [decided, setDecided] = useState<ActionRecord | null>(null);
  const isApproval = decision === 'approve';
  const form = useForm({
    initialValues: { reason: '' },
    validate: { reason: (reason) => (isApproval && reason.trim() === '' ? null : reasonError(reason)) },
  });
  const sending = useSending(
    form,
    async ({ reason }) => {
      const body = reason.trim() === '' ? {} : { reason: reason.trim() };
      try {
        return await dataOf(
          ops.POST(`/ops/actions/{actionId}/${decision}`, { ...inPath(environment, { actionId }), body }),
        );
      } catch (error) {
        const actions = await queries
          .query({
            ...opsQuery(environment, '/ops/purchases/{transactionId}/actions', { path: { transactionId } }),
            staleTime: 0,
          })
          // The refusal is shown in any case.
          .catch(() => null);
        setDecided(
          actions?.made.find(
            (one) => one.actionId === actionId && one.approvedBy !== null && one.approvedBy !== email,
          ) ?? null,
        );
        throw error;
      }
    },
    (result) => {
      notifications.show({
        message: result.outcome === 'done' ? result.did : 'It still awaits approval',
        color: result.outcome === 'done' ? 'green' : 'yellow',
      });
      onClose();
    },
  );
  return (
    <FormDialog
      title={`${isApproval ? 'Approve' : 'Decline'}: ${ACTIONS[record.action].label}`}
      size="lg"
      onClose={onClose}
      sending={decided ? { ...sending, failure: null } : sending}
      label={isApproval ? 'Approve and start' : 'Decline'}
      color={isApproval ? 'blue' : 'red'}
    >
      <Facts
        of={{
          Purchase: record.transactionId,
          Amount: <Amount of={record.amount} currency={record.currency} />,
          'Requested by': record.by,
          Reason: record.reason,
          Evidence: record.evidence,
          Package: record.packageCode,
          Goodwill: record.goodwill && 'Yes: it was delivered',
        }}
      />
      {isApproval && <ApprovalEffect actionId={actionId} />}
      <ReasonField
        label="Reason for your decision"
        required={!isApproval}
        {...form.getInputProps('reason')}
      />
      {decided && <WasDecided of={decided} />}
    </FormDialog>
  );
}

/** Shows the second of two people what the first one decided. */
function WasDecided({ of: { status, approvedBy, decisionReason } }: { readonly of: ActionRecord }) {
  const decision = status === 'DECLINED' ? 'declined' : 'approved';
  return (
    <Alert color="yellow" title={`Already ${decision} by ${approvedBy ?? ''}`} role="status">
      {decisionReason !== null && `Reason: ${decisionReason}. `}Your decision changed nothing.
    </Alert>
  );
}

function ApprovalEffect({ actionId }: { readonly actionId: string }) {
  const environment = useEnvironment();
  const effect = useQuery({
    // Not read again with the other queries after the decision: then it waits no more.
    queryKey: ['effect', environment, actionId],
    queryFn: () => dataOf(ops.GET('/ops/actions/{actionId}/preview', inPath(environment, { actionId }))),
    staleTime: 0,
    gcTime: 0,
  });
  return <EffectSection query={effect} />;
}
