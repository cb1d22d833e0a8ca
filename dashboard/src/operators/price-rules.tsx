/** Prices for some buyers or some packages, in place of the markups. */
import { Alert, Button, Group, NativeSelect, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  changeAccountTermsRequestPlan as plans,
  pricePreviewDataTotalsAccountType as accountTypes,
  pricePreviewDataTotalsCurrency as currencies,
  priceRuleRounding as roundings,
  priceRuleScope as scopes,
  priceRuleTarget as targets,
} from 'simway-client/generated/ops-lists.ts';
import { dataOf, ops } from '../api/client.ts';
import { DownloadCsv } from '../ui/download-csv.tsx';
import { formatAmount, formatPercent } from '../ui/format.ts';
import { NumberField } from '../ui/number-field.tsx';
import { readNumber } from '../ui/numbers.ts';
import { Amount, Moment, Pages, QueryView, Section } from '../ui/parts.tsx';
import { PagedRows, Rows } from '../ui/rows.tsx';
import { ACCOUNT_TYPES, PLANS } from '../ui/words.ts';
import { DecideProposal, DeclineProposal, ReasonDialog, type Dialog } from './form-dialog.tsx';
import { SubjectLink } from './links.tsx';
import { COST, PACKAGE } from './on-sale.tsx';
import {
  inPath,
  useEnvironment,
  useOperator,
  useOps,
  type PriceRule,
  type PriceRulePreview,
  type PriceRuleRequest,
} from './place.ts';

const SCOPES: Record<PriceRule['scope'], string> = {
  ACCOUNT: 'One account',
  PLAN: 'A plan',
  ACCOUNT_TYPE: 'A type of account',
  ALL: 'Everybody',
};
const TARGETS: Record<PriceRule['target'], string> = {
  PACKAGE: 'One package',
  COUNTRY: 'A country',
  REGION: 'A region',
  ALL: 'Everything',
};
const ROUNDINGS: Record<PriceRule['rounding'], string> = {
  NONE: 'Not rounded',
  TO_99: 'Up to .99',
  TO_HUNDREDS: 'Up to hundreds of NGN',
};
const STATUSES: Record<PriceRule['status'], string> = {
  WAITS: 'Awaits another person',
  SCHEDULED: 'Begins later',
  IN_FORCE: 'In force',
  ENDED: 'Ended',
  DECLINED: 'Declined',
  LAPSED: 'Not confirmed in time',
};

/** Who has the price. */
function Scope({ scope, scopeId }: Pick<PriceRule, 'scope' | 'scopeId'>) {
  if (scope === 'ACCOUNT') return <SubjectLink id={scopeId} />;
  if (scope === 'ALL') return <>{SCOPES.ALL}</>;
  return <>{scope === 'PLAN' ? PLANS[scopeId as 'STANDARD'] : ACCOUNT_TYPES[scopeId as 'USER']}</>;
}

const targetText = ({ target, targetId }: Pick<PriceRule, 'target' | 'targetId'>): string =>
  target === 'ALL' ? TARGETS.ALL : `${TARGETS[target].replace(/^\w+ /, '')} ${targetId}`;

const amountText = (rule: PriceRule): string =>
  rule.price === null || rule.currency === null
    ? `Cost + ${formatPercent(rule.markupPercent ?? 0)}`
    : formatAmount(rule.price, rule.currency);

/** Those of one account, or all. */
export function PriceRules({ accountId }: { readonly accountId?: string }) {
  const [page, setPage] = useState(1);
  const [adding, setAdding] = useState(false);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const { email } = useOperator();
  const rules = useOps(
    '/ops/price-rules',
    { query: { page, ...(accountId === undefined ? {} : { accountId }) } },
    { keepsOld: true },
  );
  return (
    <>
      <Section
        title={accountId === undefined ? 'Price rules' : 'Prices of this account alone'}
        extra={
          !adding && (
            <Button size="compact-sm" variant="default" onClick={() => setAdding(true)}>
              Set a price
            </Button>
          )
        }
      >
        <PagedRows
          countsNone
          query={rules}
          onPage={setPage}
          label="Price rules"
          keyOf={({ ruleId }) => ruleId}
          empty="No rules: the markups make every price."
          columns={{
            ...(accountId === undefined && { Who: (rule: PriceRule) => <Scope {...rule} /> }),
            What: targetText,
            Price: (rule) => (
              <>
                {amountText(rule)}
                {rule.rounding !== 'NONE' && <Text size="sm">{ROUNDINGS[rule.rounding]}</Text>}
              </>
            ),
            'From, until': (rule) => (
              <>
                <Moment at={rule.validFrom} /> – <Until of={rule} />
              </>
            ),
            Status: ({ status }) => STATUSES[status],
            By: ({ by, confirmedBy, reason }) => (
              <span className="breakable">
                {by}
                {confirmedBy !== null && `, confirmed by ${confirmedBy}`}: {reason}
              </span>
            ),
            Change: (rule) => <Decide rule={rule} isOwn={rule.by === email} onChoose={setChosen} />,
          }}
        />
      </Section>
      {adding && <NewRule accountId={accountId} onClose={() => setAdding(false)} />}
      {chosen && (
        <DecideDialog {...chosen} isOwn={chosen.rule.by === email} onClose={() => setChosen(null)} />
      )}
    </>
  );
}

function Until({ of: { status, closedAt, validUntil } }: { readonly of: PriceRule }) {
  const at = status === 'ENDED' && closedAt !== null ? closedAt : validUntil;
  return at === null ? <>open</> : <Moment at={at} />;
}

interface Chosen {
  readonly rule: PriceRule;
  readonly decision: 'confirm' | 'decline' | 'end';
}

function Decide({
  rule,
  isOwn,
  onChoose,
}: {
  readonly rule: PriceRule;
  readonly isOwn: boolean;
  readonly onChoose: (chosen: Chosen) => void;
}) {
  if (rule.status === 'WAITS')
    return (
      <DecideProposal
        isOwn={isOwn}
        yours="Yours: another person confirms it"
        name={`rule ${rule.ruleId}`}
        onChoose={(decision) => onChoose({ rule, decision })}
      />
    );
  if (rule.status !== 'IN_FORCE' && rule.status !== 'SCHEDULED') return null;
  return (
    <Button
      size="compact-sm"
      variant="default"
      onClick={() => onChoose({ rule, decision: 'end' })}
      aria-label={`End rule ${rule.ruleId}`}
    >
      End
    </Button>
  );
}

function DecideDialog({ rule, decision, isOwn, onClose }: Chosen & Dialog & { readonly isOwn: boolean }) {
  const environment = useEnvironment();
  const submit = (reason: string) =>
    ops.POST(`/ops/price-rules/{ruleId}/${decision}`, {
      ...inPath(environment, { ruleId: rule.ruleId }),
      body: { reason },
    });
  const what = (
    <Alert color="yellow">
      <Scope {...rule} />, {targetText(rule)}: {amountText(rule)}, {ROUNDINGS[rule.rounding].toLowerCase()}
    </Alert>
  );
  if (decision === 'decline')
    return <DeclineProposal isOwn={isOwn} what="this rule" submit={submit} onClose={onClose} />;
  const isEnd = decision === 'end';
  return (
    <ReasonDialog
      title={isEnd ? 'End this rule' : 'Confirm this rule'}
      label={isEnd ? 'End the rule' : 'Confirm and apply'}
      done={isEnd ? 'Ended. Prices are without it within a second' : 'Confirmed. It applies from its time on'}
      {...(isEnd ? { color: 'red' } : {})}
      submit={submit}
      onClose={onClose}
    >
      {what}
      {isEnd && <Text size="sm">The next rule, or the markup, makes these prices then.</Text>}
    </ReasonDialog>
  );
}

const EMPTY = {
  ...{
    scope: 'ACCOUNT' as PriceRule['scope'],
    scopeId: '',
    target: 'ALL' as PriceRule['target'],
    targetId: '',
  },
  ...{ kind: 'MARKUP' as PriceRule['kind'], amount: '', currency: 'USD' as (typeof currencies)[number] },
  ...{ rounding: 'NONE' as PriceRule['rounding'], from: '', until: '' },
};
type Fields = typeof EMPTY;

const MAX_CODE_CHARACTERS = 64;
const MARKUP = { max: 1000, required: true };
const PRICE = { min: 0.01, required: true };
const rulesOf = ({ kind }: Pick<Fields, 'kind'>) => (kind === 'MARKUP' ? MARKUP : PRICE);

const timeOf = (local: string) => (local === '' ? {} : { at: new Date(local).toISOString() });

function requestOf(fields: Fields): PriceRuleRequest {
  const { scope, scopeId, target, targetId, kind, amount, currency, rounding, from, until } = fields;
  const value = readNumber(amount, rulesOf(fields)).value ?? 0;
  const [begins, ends] = [timeOf(from).at, timeOf(until).at];
  return {
    ...{ scope, scopeId: scope === 'ALL' ? '' : scopeId.trim() },
    ...{ target, targetId: target === 'ALL' ? '' : targetId.trim() },
    ...(kind === 'MARKUP'
      ? { markupPercent: value, rounding }
      : { price: value, currency, rounding: 'NONE' as const }),
    ...(begins === undefined ? {} : { from: begins }),
    ...(ends === undefined ? {} : { until: ends }),
  };
}

const choices = <Value extends string>(values: readonly Value[], words: Readonly<Record<Value, string>>) =>
  values.map((value) => ({ value, label: words[value] }));

function NewRule({ accountId, onClose }: Dialog & { readonly accountId: string | undefined }) {
  const [previewed, setPreviewed] = useState<PriceRuleRequest | null>(null);
  const form = useForm<Fields>({
    initialValues: { ...EMPTY, scopeId: accountId ?? '' },
    validate: {
      scopeId: (id, { scope }) => (scope !== 'ALL' && id.trim() === '' ? 'Say whom it is for' : null),
      targetId: (id, { target }) => (target !== 'ALL' && id.trim() === '' ? 'Enter the code' : null),
      amount: (typed, fields) => readNumber(typed, rulesOf(fields)).fault ?? null,
    },
    onValuesChange: () => setPreviewed(null),
  });
  return (
    <>
      <Section title="New price">
        <form onSubmit={form.onSubmit((fields) => setPreviewed(requestOf(fields)))} noValidate>
          <Stack>
            <SimpleGrid cols={{ base: 1, sm: 2, md: 4 }}>
              {accountId === undefined && <WhoFields form={form} />}
              <WhatFields form={form} />
              <AmountFields form={form} />
              <TextInput
                label="From"
                description="At once, if left empty"
                type="datetime-local"
                {...form.getInputProps('from')}
              />
              <TextInput
                label="Until"
                description="Until it is ended, if left empty"
                type="datetime-local"
                {...form.getInputProps('until')}
              />
            </SimpleGrid>
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit">Preview</Button>
            </Group>
          </Stack>
        </form>
      </Section>
      {previewed && <Preview rule={previewed} onSaved={onClose} />}
    </>
  );
}

interface FieldsOf {
  readonly form: Pick<ReturnType<typeof useForm<Fields>>, 'values' | 'getInputProps' | 'setValues'>;
}

function WhoFields({ form }: FieldsOf) {
  const { scope } = form.values;
  const given = form.getInputProps('scopeId');
  const ids = scope === 'PLAN' ? choices(plans, PLANS) : choices(accountTypes, ACCOUNT_TYPES);
  return (
    <>
      <NativeSelect
        label="Who"
        data={choices(scopes, SCOPES)}
        {...form.getInputProps('scope')}
        onChange={({ currentTarget: { value } }) => {
          const first = { PLAN: plans[0], ACCOUNT_TYPE: accountTypes[0] }[value] ?? '';
          form.setValues({ scope: value as Fields['scope'], scopeId: first });
        }}
      />
      {scope === 'ACCOUNT' && (
        <TextInput label="Account" placeholder="acc-…" required maxLength={MAX_CODE_CHARACTERS} {...given} />
      )}
      {(scope === 'PLAN' || scope === 'ACCOUNT_TYPE') && (
        <NativeSelect label={scope === 'PLAN' ? 'Plan' : 'Type of account'} data={ids} {...given} />
      )}
    </>
  );
}

function WhatFields({ form }: FieldsOf) {
  const { kind, target } = form.values;
  return (
    <>
      <NativeSelect
        label="Price"
        data={[
          { value: 'MARKUP', label: 'Markup on our cost' },
          { value: 'PRICE', label: 'Fixed price of one package' },
        ]}
        {...form.getInputProps('kind')}
        onChange={({ currentTarget: { value } }) =>
          form.setValues(
            value === 'PRICE' ? { kind: 'PRICE', target: 'PACKAGE', rounding: 'NONE' } : { kind: 'MARKUP' },
          )
        }
      />
      <NativeSelect
        label="What"
        data={choices(targets, TARGETS)}
        disabled={kind === 'PRICE'}
        {...form.getInputProps('target')}
      />
      {target !== 'ALL' && (
        <TextInput
          label={`${TARGETS[target].replace(/^\w+ /, '').replace(/^./, (first) => first.toUpperCase())} code`}
          required
          maxLength={MAX_CODE_CHARACTERS}
          {...form.getInputProps('targetId')}
        />
      )}
    </>
  );
}

function AmountFields({ form }: FieldsOf) {
  const { kind, currency } = form.values;
  return kind === 'MARKUP' ? (
    <>
      <NumberField label="Markup" rightSection="%" rules={MARKUP} {...form.getInputProps('amount')} />
      <NativeSelect
        label="Rounding"
        data={choices(roundings, ROUNDINGS)}
        {...form.getInputProps('rounding')}
      />
    </>
  ) : (
    <>
      <NativeSelect
        label="Currency"
        description="For accounts that pay in it"
        data={[...currencies]}
        {...form.getInputProps('currency')}
      />
      <NumberField label="Fixed price" currency={currency} rules={PRICE} {...form.getInputProps('amount')} />
    </>
  );
}

function Preview({ rule, onSaved }: { readonly rule: PriceRuleRequest; readonly onSaved: () => void }) {
  const environment = useEnvironment();
  const [page, setPage] = useState(1);
  const [saving, setSaving] = useState<PriceRulePreview | null>(null);
  const preview = useQuery({
    queryKey: ['ops', environment, 'price-rules', 'preview', rule, page],
    queryFn: () =>
      dataOf(ops.POST('/ops/price-rules/preview', { params: { query: { environment, page } }, body: rule })),
    // A preview is about this moment.
    ...{ staleTime: 0, gcTime: 0, placeholderData: keepPreviousData },
  });
  const readCsv = () =>
    ops.POST('/ops/price-rules/preview', {
      ...{ params: { query: { environment } }, body: rule },
      ...{ headers: { Accept: 'text/csv' }, parseAs: 'blob' },
    });
  const isRefused = preview.data?.outcome === 'below-cost' || preview.data?.outcome === 'overlaps';
  return (
    <Section
      title="Preview"
      extra={
        preview.data && (
          <Group gap="xs">
            <DownloadCsv name="price-rule.csv" label="Old and new prices as CSV" read={readCsv} />
            <Button size="compact-sm" onClick={() => setSaving(preview.data)} disabled={isRefused}>
              Set this price
            </Button>
          </Group>
        )
      }
    >
      <QueryView query={preview} rows={8}>
        {(found) => (
          <Stack>
            <Found of={found} />
            <Rows
              label="Prices that change most"
              rows={found.items.flatMap(({ prices, ...item }) =>
                prices.map((price) => ({ ...item, ...price })),
              )}
              empty="No price changes."
              columns={{
                ...PACKAGE,
                ...COST,
                For: ({ accountType, currency }) => `${ACCOUNT_TYPES[accountType]}, ${currency}`,
                Before: { amount: ({ before, currency }) => <Amount of={before} currency={currency} /> },
                After: { amount: ({ after, currency }) => <Amount of={after} currency={currency} /> },
                Change: { number: ({ changePercent }) => percentOr(changePercent) },
                Margin: { number: ({ marginPercent }) => percentOr(marginPercent) },
              }}
            />
            <Pages of={found.pagination} onChange={setPage} />
          </Stack>
        )}
      </QueryView>
      {saving && <SetDialog rule={rule} preview={saving} onClose={() => setSaving(null)} onSaved={onSaved} />}
    </Section>
  );
}

const percentOr = (value: number | null): string => (value === null ? '–' : formatPercent(value));

const WAITS =
  'A price is far from the one that the agreed markups make: another person must confirm this rule.';

function Found({ of }: { readonly of: PriceRulePreview }) {
  return (
    <>
      <Text size="sm">
        {of.changed.toLocaleString()} of {of.packages.toLocaleString()} packages and top-ups change. The
        largest change is {percentOr(of.largestChangePercent)}, the lowest margin{' '}
        {percentOr(of.lowestMarginPercent)}. Nothing is saved yet.
      </Text>
      {of.outcome === 'waits' && <Alert color="yellow">{WAITS}</Alert>}
      {of.outcome === 'overlaps' && of.overlapping && (
        <Alert color="red">
          Cannot be set: rule {of.overlapping.ruleId} ({amountText(of.overlapping)}) prices the same for the
          same buyers at that time. End it, or choose other times.
        </Alert>
      )}
      {of.belowCost > 0 && (
        <Alert color="red">
          Cannot be set: {of.belowCost.toLocaleString()} below our cost. {of.belowCostExamples.join(', ')}
        </Alert>
      )}
    </>
  );
}

function SetDialog({
  rule,
  preview,
  onClose,
  onSaved,
}: Dialog & {
  readonly rule: PriceRuleRequest;
  readonly preview: PriceRulePreview;
  readonly onSaved: () => void;
}) {
  const environment = useEnvironment();
  const waits = preview.outcome === 'waits';
  const submit = async (reason: string) => {
    await ops.POST('/ops/price-rules', { params: { query: { environment } }, body: { ...rule, reason } });
    onSaved();
  };
  return (
    <ReasonDialog
      title="Set this price"
      label={waits ? 'Ask for confirmation' : 'Set and apply'}
      done={waits ? 'Another person must confirm it' : 'Set. Prices use it within a second of its beginning'}
      submit={submit}
      onClose={onClose}
    >
      <Alert color="yellow">
        {preview.changed.toLocaleString()} packages and top-ups change. Open purchases and quotes keep their
        price.
        {waits && ` ${WAITS}`}
      </Alert>
    </ReasonDialog>
  );
}
