import { Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { ops, type OpsSchemas, dataOf } from '../api/client.ts';
import { QueryView } from '../ui/parts.tsx';
import { useSending, SendForm } from '../ui/send-form.tsx';
import { inPath } from './data.ts';
import { reasonError, ReasonField } from './form-dialog.tsx';
import { useEnvironment, useRefresh } from './place.ts';
import { ACTIONS, REPLAY } from './words.ts';

type Report = OpsSchemas['Replay']['data'];

const OUTCOMES: Record<Report['steps'][number]['outcome'], string> = {
  done: 'Done',
  'waits-for-approval': 'Awaits second approval',
  refused: 'Refused',
  unknown: 'Unknown',
  'would-do': 'Would be done',
};

/** Retries one item: what would be done, the reason, then what was done. */
export function ReplayDialog({
  of: transactionId,
  onClose,
}: {
  readonly of: string;
  readonly onClose: () => void;
}) {
  const environment = useEnvironment();
  const refresh = useRefresh();
  const ask = (reason: string, dryRun: boolean) =>
    dataOf(
      ops.POST('/ops/purchases/{transactionId}/replay', {
        ...inPath(environment, { transactionId }),
        body: { reason, dryRun },
      }),
    );
  const preview = useQuery({
    queryKey: ['ops', environment, 'purchase', transactionId, 'replay'],
    queryFn: () => ask('preview', true),
    staleTime: 0,
  });
  const form = useForm({ initialValues: { reason: '' }, validate: { reason: reasonError } });
  const sending = useSending(form, ({ reason }) => ask(reason, false).finally(() => refresh()));
  return (
    <Modal opened onClose={onClose} title={REPLAY.label}>
      {sending.result ? (
        <Stack>
          <Text role="status">
            Before: {sending.result.before ?? '–'}. Now: {sending.result.after ?? '–'}.
          </Text>
          <Steps of={sending.result} />
          <Group justify="flex-end">
            <Button onClick={onClose}>Close</Button>
          </Group>
        </Stack>
      ) : (
        <SendForm sending={sending} label={`${REPLAY.label} now`} at="flex-end" onBack={onClose}>
          <QueryView query={preview} rows={2}>
            {(report) => <Steps of={report} />}
          </QueryView>
          <ReasonField data-autofocus {...form.getInputProps('reason')} />
        </SendForm>
      )}
    </Modal>
  );
}

function Steps({ of: { steps } }: { readonly of: Report }) {
  if (steps.length === 0) return <Text>There is no step to retry.</Text>;
  return (
    <List size="sm">
      {steps.map(({ step, outcome, detail }) => (
        <List.Item key={step}>
          {nameOf(step)}: {OUTCOMES[outcome].toLowerCase()}
          {detail !== '' && `. ${detail}`}
        </List.Item>
      ))}
    </List>
  );
}

const isAction = (step: string): step is keyof typeof ACTIONS => step in ACTIONS;
const nameOf = (step: string): string => (isAction(step) ? ACTIONS[step].label : step);
