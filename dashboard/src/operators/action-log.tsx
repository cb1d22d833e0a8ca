import { Stack, Text } from '@mantine/core';
import type { ActionRecord } from './data.ts';
import { Moment, Status } from '../ui/parts.tsx';
import { ACTIONS } from './words.ts';
import { Rows, amount } from '../ui/rows.tsx';

/** Every action that operators requested for one purchase, refused ones too. */
export function ActionLog({ records }: { readonly records: readonly ActionRecord[] }) {
  return (
    <Rows
      label="Operator actions"
      empty="No actions yet."
      rows={records}
      keyOf={({ actionId }) => actionId}
      columns={{
        When: ({ createdAt }) => <Moment at={createdAt} />,
        Action: ({ action }) => ACTIONS[action].label,
        By: ({ by, approvedBy, status }) =>
          approvedBy === null
            ? by
            : `${by}, ${status === 'DECLINED' ? 'declined' : 'approved'} by ${approvedBy}`,
        Amount: amount('amount'),
        Reason: (record) => <Why record={record} />,
        Result: (record) => <Result record={record} />,
      }}
    />
  );
}

function Why({ record: { reason, evidence, decisionReason } }: { readonly record: ActionRecord }) {
  return (
    <Stack gap={2}>
      <Text size="sm">{reason}</Text>
      {evidence !== null && <Text size="sm">Evidence: {evidence}</Text>}
      {decisionReason !== null && <Text size="sm">Decision: {decisionReason}</Text>}
    </Stack>
  );
}

function Result({ record: { status, refusal, detail } }: { readonly record: ActionRecord }) {
  return (
    <Stack gap={2} align="flex-start">
      <Status>{status}</Status>
      {(refusal ?? detail) !== null && <Text size="sm">{[refusal, detail].filter(Boolean).join(': ')}</Text>}
    </Stack>
  );
}
