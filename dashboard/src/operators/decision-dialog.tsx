import { Alert } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ops, dataOf } from '../api/client.ts';
import { Amount, Facts } from '../ui/parts.tsx';
import { useSending } from '../ui/send-form.tsx';
import { inPath, type ActionRecord } from './data.ts';
import { EffectSection } from './effect.tsx';
import { reasonError, FormDialog, ReasonField } from './form-dialog.tsx';
import { useOperator, useEnvironment, useRefresh, opsQuery } from './place.ts';
import { ACTIONS } from './words.ts';

/** Approves or declines an action that another person requested. Declining needs a reason. */
export function DecisionDialog({
  record,
  decision,
  onClose,
}: {
  readonly record: ActionRecord;
  readonly decision: 'approve' | 'decline';
  readonly onClose: () => void;
}) {
  const environment = useEnvironment();
  const queries = useQueryClient();
  const refresh = useRefresh();
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
          ops.POST(`/ops/actions/{actionId}/${decision}`, {
            ...inPath(environment, { actionId }),
            body,
          }),
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
      } finally {
        void refresh();
      }
    },
    (result) => {
      notifications.show({
        message: result.outcome === 'done' ? result.did : 'It still awaits approval',
        color: 'green',
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
