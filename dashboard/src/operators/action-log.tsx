import { Stack, Text } from '@mantine/core';
import type { ActionRecord } from './data.ts';
import { Moment, Status } from '../ui/parts.tsx';
import { amountColumn, RowsOrNone } from './tables.tsx';
import { ACTIONS } from './words.ts';

/** Every action that operators requested for one purchase, refused ones too. */
export function ActionLog({ records }: { readonly records: readonly ActionRecord[] }) {
  return (
    <RowsOrNone
      label="Operator actions"
      empty="No actions yet."
      rows={records}
      keyOf={({ actionId }) => actionId}
      columns={[
        { title: 'When', cell: ({ createdAt }) => <Moment at={createdAt} /> },
        { title: 'Action', cell: ({ action }) => ACTIONS[action].label },
        {
          title: 'By',
          cell: ({ by, approvedBy, status }) =>
            approvedBy === null
              ? by
              : `${by}, ${status === 'DECLINED' ? 'declined' : 'approved'} by ${approvedBy}`,
        },
        amountColumn('Amount', 'amount'),
        { title: 'Reason', cell: (record) => <Why record={record} /> },
        { title: 'Result', cell: (record) => <Result record={record} /> },
      ]}
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
