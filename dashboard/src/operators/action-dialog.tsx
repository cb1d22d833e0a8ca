import { Alert, Button, Checkbox, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ops, type OpsSchemas, dataOf, Refusal } from '../api/client.ts';
import { formatAmount, formatMoment } from '../ui/format.ts';
import { NumberField } from '../ui/number-field.tsx';
import { readNumber } from '../ui/numbers.ts';
import { Failed } from '../ui/parts.tsx';
import { SendForm } from '../ui/send-form.tsx';
import {
  inPath,
  type Action,
  type ActionRecord,
  type PurchaseTimeline,
  useOperator,
  useEnvironment,
  opsQuery,
} from './place.ts';
import { EffectSection, ReasonField, reasonError, type Dialog } from './form-dialog.tsx';
import { ACTIONS, type ActionFields as Fields } from './words.ts';

type ActionRequest = OpsSchemas['ActionRequest'];
type Result = OpsSchemas['ActionDone']['data'] | OpsSchemas['ActionWaits']['data'];

const EVERYTHING = 'everything that can be refunded';

const EMPTY: Fields = {
  reason: '',
  evidence: '',
  amount: '',
  packageCode: '',
  goodwill: false,
  outcome: '',
  disputeId: '',
  override: false,
};

/** The refusals that are about one field. */
const FIELD_OF_REFUSAL: Readonly<Record<string, keyof Fields>> = {
  REASON_NEEDED: 'reason',
  EVIDENCE_NEEDED: 'evidence',
  AMOUNT_TOO_HIGH: 'amount',
  AMOUNT_NOT_ALLOWED: 'amount',
  AMOUNT_NEEDED: 'amount',
  OTHER_CURRENCY: 'amount',
  OUTCOME_NEEDED: 'outcome',
  DISPUTE_NEEDED: 'disputeId',
  NO_EQUAL_PACKAGE: 'packageCode',
  PACKAGE_DOES_NOT_FIT: 'packageCode',
  ALREADY_DELIVERED: 'goodwill',
};

export function ActionDialog({
  action,
  timeline,
  onClose,
}: Dialog & { readonly action: Action; readonly timeline: PurchaseTimeline }) {
  const { label, does } = ACTIONS[action];
  const { form, sending, first, isKnown } = useAction(action, timeline);
  const [checked, setChecked] = useState<ActionRequest | null>(null);
  const effect = useEffectOf(timeline.transactionId, checked);
  const back = () => {
    sending.reset();
    setChecked(null);
  };
  // A refusal about a field leads back to the field.
  const isChecking = checked !== null && !hasErrors(form.errors);
  return (
    <Modal opened onClose={onClose} title={label} size="lg">
      {sending.data ? (
        <Stack>
          <ResultShown of={sending.data} first={first} isKnown={isKnown} />
          <Group justify="flex-end">
            <Button onClick={onClose}>Close</Button>
          </Group>
        </Stack>
      ) : isChecking ? (
        <Stack>
          <Text size="sm">{does}</Text>
          <Text size="sm" c="dimmed">
            Reason: {checked.reason}
            {checked.evidence !== undefined && `. Evidence: ${checked.evidence}`}
          </Text>
          {ACTIONS[action].fields.includes('amount') && (
            <Text size="sm" fw="bold">
              Amount:{' '}
              {checked.amount === undefined || checked.currency === undefined
                ? EVERYTHING
                : formatAmount(checked.amount, checked.currency)}
            </Text>
          )}
          <EffectSection query={effect} />
          {first && <WasFirst of={first} />}
          {sending.error && <Failed error={sending.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={back}>
              Back
            </Button>
            <Button
              color={action === 'cancel' ? 'red' : 'blue'}
              loading={sending.isPending}
              disabled={effect.data?.outcome === 'refused'}
              onClick={() => sending.mutate(checked)}
              data-autofocus
            >
              {effect.data?.needsSecondPerson ? 'Ask for approval' : `${label} now`}
            </Button>
          </Group>
          {sending.isPending && (
            <Text size="sm" role="status">
              This can take 30 s: gateway and supplier are checked first.
            </Text>
          )}
        </Stack>
      ) : (
        <SendForm
          sending={{
            submit: form.onSubmit((fields) => {
              sending.reset();
              setChecked(requestOf(action, fields, timeline));
            }),
            failure: hasErrors(form.errors) ? null : sending.error,
            isSending: false,
          }}
          label="Continue"
          at="flex-end"
          onBack={onClose}
        >
          <Text size="sm">{does}</Text>
          <FieldsOf action={action} timeline={timeline} form={form} />
          <ReasonField data-autofocus {...form.getInputProps('reason')} />
        </SendForm>
      )}
    </Modal>
  );
}

const hasErrors = (errors: object): boolean => Object.keys(errors).length > 0;

function useAction(action: Action, timeline: PurchaseTimeline) {
  const environment = useEnvironment();
  const { email } = useOperator();
  const queries = useQueryClient();
  const { transactionId } = timeline;
  // What the person saw when they began.
  const [known] = useState(() => new Set(timeline.actions.map(({ actionId }) => actionId)));
  const [first, setFirst] = useState<ActionRecord | null>(null);
  const form = useForm<Fields>({
    initialValues: EMPTY,
    validate: {
      reason: reasonError,
      evidence: (evidence) =>
        ACTIONS[action].needsEvidence && evidence.trim().length < 3
          ? 'Name the proof: a ticket, a link, a line of a statement'
          : null,
      amount: (amount) => readNumber(amount).fault,
      outcome: (outcome) => (action === 'settle-dispute' && outcome === '' ? 'Choose the outcome' : null),
    },
  });
  /** The action of another person that the result belongs to, or that may have caused the refusal. */
  const findFirst = async (endedId?: string) => {
    const made = await queries
      .query({
        ...opsQuery(environment, '/ops/purchases/{transactionId}/actions', { path: { transactionId } }),
        staleTime: 0,
      })
      .then((actions) => actions.made.filter(({ by }) => by !== email))
      // The result or the refusal is shown in any case.
      .catch(() => []);
    const isFirst = ({ actionId, status }: ActionRecord) =>
      endedId === undefined ? !known.has(actionId) && status !== 'REFUSED' : actionId === endedId;
    setFirst(made.findLast(isFirst) ?? null);
  };
  const sending = useMutation({
    mutationFn: (body: ActionRequest): Promise<Result> =>
      dataOf(
        ops.POST('/ops/purchases/{transactionId}/actions', {
          ...inPath(environment, { transactionId }),
          body,
        }),
      ),
    // Of two people who ask for the same in one moment, both get the result of the first one's action.
    onSuccess: ({ actionId }) => findFirst(actionId),
    onError: async (error) => {
      if (error instanceof Refusal) form.setErrors(errorsOf(error, action));
      await findFirst();
    },
  });
  return { form, sending, first, isKnown: (actionId: string) => known.has(actionId) };
}

function errorsOf(error: Refusal, action: Action): Readonly<Record<string, string>> {
  const field = error.refusal === undefined ? undefined : FIELD_OF_REFUSAL[error.refusal];
  const isShown = field === 'reason' || (field !== undefined && ACTIONS[action].fields.includes(field));
  return { ...error.byField(), ...(isShown ? { [field]: error.message } : {}) };
}

/** A refund is in the currency of the payment, anything else in that of the purchase. */
const currencyOf = (action: Action, { currency, payments }: PurchaseTimeline) =>
  action === 'refund-to-source' ? (payments[0]?.currency ?? currency) : currency;

function requestOf(action: Action, fields: Fields, timeline: PurchaseTimeline): ActionRequest {
  const has = (name: keyof Fields) => ACTIONS[action].fields.includes(name);
  const text = (name: 'evidence' | 'packageCode' | 'disputeId') =>
    has(name) ? fields[name].trim() || undefined : undefined;
  const currency = currencyOf(action, timeline);
  const amount = readNumber(fields.amount).value;
  return {
    action,
    reason: fields.reason.trim(),
    evidence: text('evidence'),
    packageCode: text('packageCode'),
    disputeId: text('disputeId'),
    ...(has('amount') && amount !== undefined && currency !== null ? { amount, currency } : {}),
    goodwill: (has('goodwill') && fields.goodwill) || undefined,
    outcome: (has('outcome') && fields.outcome) || undefined,
    override: (has('override') && fields.override) || undefined,
  };
}

function FieldsOf({
  action,
  timeline,
  form,
}: {
  readonly action: Action;
  readonly timeline: PurchaseTimeline;
  readonly form: ReturnType<typeof useAction>['form'];
}) {
  const has = (name: keyof Fields) => ACTIONS[action].fields.includes(name);
  const openDisputes = timeline.disputes.filter(({ settledAt }) => settledAt === null);
  const currency = currencyOf(action, timeline);
  return (
    <>
      {has('outcome') && (
        <NativeSelect
          label="Outcome"
          required
          data={[
            { value: '', label: 'Choose' },
            { value: 'won', label: 'Won: we keep the money' },
            { value: 'lost', label: 'Lost: the money is gone' },
          ]}
          {...form.getInputProps('outcome')}
        />
      )}
      {has('disputeId') && (
        <NativeSelect
          label="Dispute"
          description="Needed where several are open"
          data={[
            { value: '', label: openDisputes.length === 0 ? 'No dispute is open' : 'The one that is open' },
            ...openDisputes.map(({ disputeId, gatewayStatus }) => ({
              value: disputeId,
              label: `${disputeId}: ${gatewayStatus ?? 'not checked yet'}`,
            })),
          ]}
          {...form.getInputProps('disputeId')}
        />
      )}
      {has('amount') && (
        <NumberField
          label={`Amount in ${currency ?? 'the currency of the payment'}`}
          description={`Empty: ${EVERYTHING}`}
          currency={currency ?? undefined}
          {...form.getInputProps('amount')}
        />
      )}
      {has('packageCode') && (
        <TextInput
          label="Package"
          description="Its code. Empty: the cheapest equal package"
          {...form.getInputProps('packageCode')}
        />
      )}
      {has('evidence') && (
        <TextInput
          label="Evidence"
          description="The proof: a ticket, a link, a line of a statement"
          required={ACTIONS[action].needsEvidence}
          {...form.getInputProps('evidence')}
        />
      )}
      {has('goodwill') && (
        <Checkbox
          label="Goodwill: refund although it was delivered"
          {...form.getInputProps('goodwill', { type: 'checkbox' })}
        />
      )}
      {has('override') && (
        <Checkbox
          label="Override the gateway’s outcome (needs a second person)"
          {...form.getInputProps('override', { type: 'checkbox' })}
        />
      )}
    </>
  );
}

/** What the request would do now; asked for once it is complete. */
function useEffectOf(transactionId: string, request: ActionRequest | null) {
  const environment = useEnvironment();
  return useQuery({
    queryKey: ['ops', environment, 'effect', transactionId, request],
    queryFn:
      request === null
        ? skipToken
        : () =>
            dataOf(
              ops.POST('/ops/purchases/{transactionId}/actions/preview', {
                ...inPath(environment, { transactionId }),
                body: request,
              }),
            ),
    staleTime: 0,
    gcTime: 0,
  });
}

function ResultShown({
  of,
  first,
  isKnown,
}: {
  readonly of: Result;
  readonly first: ActionRecord | null;
  readonly isKnown: (actionId: string) => boolean;
}) {
  if (of.outcome === 'waits-for-approval')
    return first ? (
      <WasFirst of={first} />
    ) : (
      <Alert color="yellow" title="Awaits second approval" role="status">
        The amount is above a limit, or the gateway reports otherwise. Another person of finance approves it
        until {formatMoment(of.expiresAt)}.
      </Alert>
    );
  if (first) return <WasFirst of={first} />;
  // Of two people in one moment the second one's request may be what carried out the first one's action.
  const isAgain = of.again && isKnown(of.actionId);
  return (
    <Alert color={isAgain ? 'yellow' : 'green'} title={isAgain ? 'Already done' : 'Done'} role="status">
      {of.did}
      {isAgain && '. It was not done twice.'}
    </Alert>
  );
}

/** Shows the second of two people what the first one did. */
function WasFirst({ of: { by, action, createdAt, reason, status } }: { readonly of: ActionRecord }) {
  const waits = status === 'WAITS_FOR_APPROVAL';
  return (
    <Alert color="yellow" title={`Already ${waits ? 'requested' : 'done'} by ${by}`} role="status">
      {ACTIONS[action].label}, at {formatMoment(createdAt)}. Reason: {reason}.{' '}
      {waits ? 'It awaits second approval, and was not requested twice.' : 'It was not done twice.'}
    </Alert>
  );
}
