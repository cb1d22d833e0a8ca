import { Alert, Anchor, Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { listedAccountCurrency } from 'simway-client/generated/ops-lists.ts';
import { ops, dataOf } from '../api/client.ts';
import { formatAmount } from '../ui/format.ts';
import { Empty, Failed, Section, ShortId, Page } from '../ui/parts.tsx';
import { amount, Rows } from '../ui/rows.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { readNumber } from '../ui/numbers.ts';
import { useSending, SendForm } from '../ui/send-form.tsx';
import {
  type BatchRepairAction,
  type BatchRepairPlan,
  type StuckClass,
  useOperator,
  useEnvironment,
} from './place.ts';
import { reasonError, ReasonField } from './form-dialog.tsx';
import { AGES } from './search.ts';
import { CLASS_CHOICES } from './stuck.tsx';
import { BATCH_ACTIONS, STUCK_CLASSES } from './words.ts';

const MAX_ROWS = 500;
const ROWS = { decimals: 0, min: 1, max: MAX_ROWS, required: true };

interface RepairRequest {
  readonly action: BatchRepairAction;
  readonly class: StuckClass | '';
  readonly olderThanSeconds: string;
  readonly currency: string;
  readonly maxRows: string;
  readonly evidence: string;
  /** Rows that were chosen on the stuck list, with commas between them; empty: what the filter finds. */
  readonly ids: string;
}

const bodyOf = (request: RepairRequest) => ({
  action: request.action,
  filter: {
    class: request.class || undefined,
    olderThanSeconds: Number(request.olderThanSeconds) || undefined,
    currency: request.currency || undefined,
    transactionIds: request.ids === '' ? undefined : request.ids.split(','),
  },
  maxRows: readNumber(request.maxRows, ROWS).value ?? MAX_ROWS,
  evidence: request.evidence.trim() || undefined,
});

export function NewBatchRepairPage() {
  const environment = useEnvironment();
  const search = useSearch({ from: '/operators/$environment/repairs/new' });
  const { mayRepair } = useOperator();
  const actions = (Object.keys(BATCH_ACTIONS) as BatchRepairAction[]).filter(mayRepair);
  /** The previewed request; asking sends the same one. */
  const [tried, setTried] = useState<{
    readonly request: RepairRequest;
    readonly plan: BatchRepairPlan;
  } | null>(null);
  const form = useForm<RepairRequest>({
    initialValues: {
      action: actions[0] ?? 'check-gateway',
      class: search.class ?? '',
      olderThanSeconds: String(search.olderThanSeconds ?? 0),
      currency: search.currency ?? '',
      maxRows: '100',
      evidence: '',
      ids: search.ids ?? '',
    },
    validate: {
      maxRows: (typed) => readNumber(typed, ROWS).fault,
      class: (_value, { class: kind, olderThanSeconds, currency, ids }) =>
        ids === '' && kind === '' && olderThanSeconds === '0' && currency === ''
          ? 'Choose a kind, an age or a currency'
          : null,
    },
    onValuesChange: () => setTried(null),
  });
  const trying = useMutation({
    meta: { changesNothing: true },
    mutationFn: async (request: RepairRequest) => ({
      request,
      plan: await dataOf(
        ops.POST('/ops/batch-repairs/preview', { params: { query: { environment } }, body: bodyOf(request) }),
      ),
    }),
    onSuccess: setTried,
  });
  return (
    <Page
      title="New batch repair"
      about="Preview the effect, then ask for approval. Nothing is done before another person approves."
    >
      <form onSubmit={form.onSubmit((request) => trying.mutate(request))} noValidate>
        <Stack>
          <NativeSelect
            label="Action"
            description={BATCH_ACTIONS[form.values.action].does}
            data={actions.map((value) => ({ value, label: BATCH_ACTIONS[value].label }))}
            {...form.getInputProps('action')}
          />
          {form.values.ids !== '' && (
            <Alert>
              {`Only the ${String(form.values.ids.split(',').length)} chosen on the stuck list. `}
              <Anchor
                component="button"
                type="button"
                size="sm"
                onClick={() => form.setFieldValue('ids', '')}
              >
                Use the filter alone
              </Anchor>
            </Alert>
          )}
          <Group align="flex-start">
            <NativeSelect label="Kind" data={CLASS_CHOICES} {...form.getInputProps('class')} />
            <NativeSelect label="Stuck for" data={[...AGES]} {...form.getInputProps('olderThanSeconds')} />
            <NativeSelect
              label="Currency"
              data={[{ value: '', label: 'All' }, ...listedAccountCurrency]}
              {...form.getInputProps('currency')}
            />
            <NumberField
              label="At most"
              description="Items, the longest stuck first"
              rules={ROWS}
              {...form.getInputProps('maxRows')}
            />
          </Group>
          <TextInput
            label="Evidence"
            description="If the action needs proof: a ticket, a link, a line of a statement"
            maxLength={500}
            {...form.getInputProps('evidence')}
          />
          {trying.error && <Failed error={trying.error} />}
          <Group>
            <Button type="submit" variant={tried ? 'default' : 'filled'} loading={trying.isPending}>
              Preview
            </Button>
            <Text size="sm" c="dimmed">
              Changes nothing
            </Text>
          </Group>
        </Stack>
      </form>
      {tried && <Plan key={JSON.stringify(tried.request)} {...tried} />}
    </Page>
  );
}

function Plan({ request, plan }: { readonly request: RepairRequest; readonly plan: BatchRepairPlan }) {
  const possible = plan.items.filter((item) => item.isPossible).length;
  const unsure = plan.items.filter((item) => item.isPossible && !item.isSure).length;
  const left = plan.matches - plan.items.length;
  return (
    <Section title="Preview">
      <Stack>
        {!plan.temporalAsked && (
          <Alert color="yellow">
            Temporal does not respond. Purchases without a workflow are missing here.
          </Alert>
        )}
        {plan.items.length === 0 ? (
          <Empty>No stuck items match.</Empty>
        ) : (
          <>
            <Text role="status">
              {`Possible on ${possible.toLocaleString()} of ${plan.items.length.toLocaleString()} items`}
              {plan.totals.length > 0 &&
                `, ${plan.totals.map(({ amount, currency }) => formatAmount(amount, currency)).join(' and ')}`}
              {left > 0 && `. ${left.toLocaleString()} more match; raise “At most” to include them`}.
            </Text>
            {unsure > 0 && (
              <Alert color="yellow">
                {`${unsure.toLocaleString()} ${unsure === 1 ? 'item is' : 'items are'} not sure: the effect says why.`}
              </Alert>
            )}
            <Rows
              label="Effect on each item"
              rows={plan.items}
              columns={{
                Item: ({ transactionId }) => <ShortId>{transactionId}</ShortId>,
                Kind: (item) => STUCK_CLASSES[item.class],
                Amount: amount('amount'),
                Possible: ({ isPossible, isSure }) => (isSure ? 'Yes' : isPossible ? 'Not sure' : 'No'),
                Effect: ({ preview }) => preview,
              }}
            />
          </>
        )}
        {possible > 0 && <AskFor request={request} count={possible} />}
      </Stack>
    </Section>
  );
}

function AskFor({ request, count }: { readonly request: RepairRequest; readonly count: number }) {
  const environment = useEnvironment();
  const navigate = useNavigate();
  // One for this form, so that pressing the button twice sends one request.
  const [repairKey] = useState(() => crypto.randomUUID());
  const form = useForm({ initialValues: { reason: '' }, validate: { reason: reasonError } });
  const asking = useSending(
    form,
    ({ reason }) =>
      dataOf(
        ops.POST('/ops/batch-repairs', {
          params: { query: { environment } },
          body: { ...bodyOf(request), reason, repairKey },
        }),
      ),
    async ({ repairId }) => {
      await navigate({ to: '/operators/$environment/repairs/$repairId', params: { environment, repairId } });
    },
  );
  return (
    <SendForm
      sending={asking}
      label={`Ask for approval of ${count.toLocaleString()} ${count === 1 ? 'item' : 'items'}`}
      at="flex-start"
    >
      <ReasonField {...form.getInputProps('reason')} />
    </SendForm>
  );
}
