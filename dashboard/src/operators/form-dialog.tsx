import { Alert, Textarea, type TextareaProps, Modal, Stack, Text, Button, Group, List } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useSending, type SendFormProps, SendForm } from '../ui/send-form.tsx';
import { type OpsSchemas, ops, dataOf } from '../api/client.ts';
import { Amount, ShortId, QuerySection, QueryView } from '../ui/parts.tsx';
import { Rows } from '../ui/rows.tsx';
import { useEnvironment, inPath } from './place.ts';
import { ACTIONS, REPLAY } from './words.ts';

export interface Dialog {
  readonly onClose: () => void;
}

const MIN_REASON = 3;
const MAX_REASON = 500;

export function reasonError(reason: string): string | null {
  return reason.trim().length < MIN_REASON
    ? `Give a reason of at least ${String(MIN_REASON)} characters. It is logged`
    : null;
}

/** The reason of an action. Check it with `reasonError`. */
export function ReasonField(field: TextareaProps) {
  return (
    <Textarea
      label="Reason"
      description="Logged under your name"
      required
      maxLength={MAX_REASON}
      autosize
      minRows={2}
      {...field}
    />
  );
}

export function FormDialog({
  title,
  size,
  onClose,
  color,
  ...form
}: Omit<SendFormProps, 'button'> & {
  readonly title: string;
  readonly size?: string;
  readonly onClose: () => void;
  readonly color?: string;
}) {
  return (
    <Modal opened onClose={onClose} title={title} size={size}>
      <SendForm at="flex-end" onBack={onClose} button={{ color }} {...form} />
    </Modal>
  );
}

/** Asks for the reason that is logged, and shows once more what is about to be done. */
export function ReasonDialog({
  submit,
  done,
  children,
  ...dialog
}: Omit<Parameters<typeof FormDialog>[0], 'sending'> & {
  readonly submit: (reason: string) => Promise<unknown>;
  readonly done: string;
}) {
  const form = useForm({ initialValues: { reason: '' }, validate: { reason: reasonError } });
  const sending = useSending(
    form,
    async ({ reason }) => {
      await submit(reason);
      notifications.show({ message: done, color: 'green' });
    },
    dialog.onClose,
  );
  return (
    <FormDialog {...dialog} sending={sending}>
      {children}
      <ReasonField data-autofocus {...form.getInputProps('reason')} />
    </FormDialog>
  );
}

/** The one who proposed it cannot confirm it, but may end it as others may. */
export function DecideProposal({
  isOwn,
  yours,
  name,
  onChoose,
}: {
  readonly isOwn: boolean;
  /** In place of confirming it. */
  readonly yours: string;
  /** For those who do not see the row. */
  readonly name: string;
  readonly onChoose: (decision: 'confirm' | 'decline') => void;
}) {
  const decline = isOwn ? 'Withdraw' : 'Decline';
  return (
    <Group gap="xs">
      {isOwn ? (
        <Text size="sm">{yours}</Text>
      ) : (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => onChoose('confirm')}
          aria-label={`Confirm ${name}`}
        >
          Confirm
        </Button>
      )}
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => onChoose('decline')}
        aria-label={`${decline} ${name}`}
      >
        {decline}
      </Button>
    </Group>
  );
}

/** Ends what waits for a second person. */
export function DeclineProposal({
  isOwn,
  what,
  ...dialog
}: Dialog & {
  readonly isOwn: boolean;
  readonly what: string;
  readonly submit: (reason: string) => Promise<unknown>;
}) {
  const verb = isOwn ? 'Withdraw' : 'Decline';
  return (
    <ReasonDialog
      done={`${isOwn ? 'Withdrawn' : 'Declined'}. Prices stay as they are`}
      title={`${verb} ${what}`}
      label={verb}
      color="red"
      {...dialog}
    >
      <Text size="sm">Nobody can confirm it then. Prices stay as they are.</Text>
    </ReasonDialog>
  );
}

export function EffectSection({
  query,
}: {
  readonly query: UseQueryResult<OpsSchemas['ActionEffect']['data']>;
}) {
  return (
    <QuerySection title="Effect" query={query} rows={2}>
      {({ outcome, what, amount, currency, entries, refunds, needsSecondPerson }) => (
        <Stack gap="xs">
          {outcome === 'refused' ? (
            <Alert color="red" title="Not possible now">
              {what}
            </Alert>
          ) : (
            <Text size="sm">{what}</Text>
          )}
          {amount !== null && (
            <Text size="sm">
              Amount: <Amount of={amount} currency={currency} />
            </Text>
          )}
          {refunds.map((refund, index) => (
            <Text size="sm" key={index}>
              Through the gateway: <Amount of={refund.amount} currency={refund.currency} />
            </Text>
          ))}
          {entries.length > 0 && (
            <Rows
              label="Ledger entries that would be booked"
              rows={entries}
              columns={{
                Account: ({ account }) => <ShortId>{account}</ShortId>,
                Debit: {
                  amount: ({ debit, currency: code }) => <Amount of={debit || null} currency={code} />,
                },
                Credit: {
                  amount: ({ credit, currency: code }) => <Amount of={credit || null} currency={code} />,
                },
              }}
            />
          )}
          {needsSecondPerson === true && <Text size="sm">A second person must approve it first.</Text>}
        </Stack>
      )}
    </QuerySection>
  );
}

type Report = OpsSchemas['Replay']['data'];

const OUTCOMES: Record<Report['steps'][number]['outcome'], string> = {
  done: 'Done',
  'waits-for-approval': 'Awaits second approval',
  refused: 'Refused',
  unknown: 'Unknown',
  'would-do': 'Would be done',
};

export function ReplayDialog({ of: transactionId, onClose }: Dialog & { readonly of: string }) {
  const environment = useEnvironment();
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
  const sending = useSending(form, ({ reason }) => ask(reason, false));
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
