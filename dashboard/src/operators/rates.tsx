import {
  Alert,
  Button,
  Checkbox,
  Group,
  NativeSelect,
  SegmentedControl,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ops, dataOf } from '../api/client.ts';
import { TimeChart, ChartValues } from '../ui/chart.tsx';
import { formatAge, formatMoment, formatPercent, formatRate } from '../ui/format.ts';
import { NumberField } from '../ui/number-field.tsx';
import { readNumber } from '../ui/numbers.ts';
import { QueryView, Empty, Moment, Section, Page, Status } from '../ui/parts.tsx';
import { Rows, RowsSection } from '../ui/rows.tsx';
import { useSending } from '../ui/send-form.tsx';
import { inPath, type Rates, useOperator, useEnvironment, useOps, LIVE } from './place.ts';
import {
  DecideProposal,
  DeclineProposal,
  ReasonDialog,
  reasonError,
  FormDialog,
  ReasonField,
  type Dialog,
} from './form-dialog.tsx';
import { RATE_DAYS, ratesSearch } from './search.ts';

const FROM = '/operators/$environment/rates';
/** A larger change needs a second person. */
const FAR_OFF = 0.1;
const DAY_SECONDS = 86_400;

export function RatesPage() {
  const { currency = 'NGN', days = 30 } = useSearch({ from: FROM });
  const rates = useOps('/ops/rates', { query: { currency, days } }, { ...LIVE, keepsOld: true });
  // Not in the row, which goes once another person confirms: the dialog keeps what was typed.
  const [chosen, setChosen] = useState<Chosen | null>(null);
  return (
    <Page title="Rates" about="Units of each currency for one US dollar.">
      <QueryView query={rates} rows={8}>
        {(found) => (
          <>
            <Waiting of={found.waiting} onChoose={setChosen} />
            <Current of={found.items} />
            <History of={found} currency={currency} days={days} />
            <Changes of={found.changes} />
          </>
        )}
      </QueryView>
      {chosen && <DecideRate {...chosen} onClose={() => setChosen(null)} />}
    </Page>
  );
}

const inDollars = (rate: number | null, currency: string): string =>
  rate === null ? 'None' : `${formatRate(rate)} ${currency}`;

type WaitingRate = Rates['waiting'][number];

interface Chosen {
  readonly rate: WaitingRate;
  readonly decision: 'confirm' | 'decline';
}

function Waiting({
  of,
  onChoose,
}: {
  readonly of: readonly WaitingRate[];
  readonly onChoose: (chosen: Chosen) => void;
}) {
  const { email } = useOperator();
  if (of.length === 0) return null;
  return (
    <Section title="Awaiting confirmation">
      <Text size="sm" mb="xs">
        These are the first of their currency, more than 10 % off the current rate or off every trusted one,
        or together with the markups they move a price too far or below cost. They are not used for prices.
        They expire after 24 hours.
      </Text>
      <Rows
        label="Rates awaiting confirmation"
        keyOf={({ rateId }) => rateId}
        rows={of}
        columns={{
          Currency: ({ currency }) => currency,
          Rate: { number: ({ rate }) => formatRate(rate) },
          'Current rate': { number: ({ currentRate }) => formatRate(currentRate) },
          Change: {
            number: ({ changePercent }) => (
              <span className="amount">{changePercent === null ? '–' : formatPercent(changePercent)}</span>
            ),
          },
          From: ({ proposedBy, source }) => proposedBy ?? source,
          Reason: ({ reason }) => reason ?? '–',
          Since: ({ observedAt }) => <Moment at={observedAt} />,
          Decide: (rate) => (
            <DecideProposal
              isOwn={rate.proposedBy === email}
              yours="Yours: another person confirms it"
              name={`${formatRate(rate.rate)} ${rate.currency}`}
              onChoose={(decision) => onChoose({ rate, decision })}
            />
          ),
        }}
      />
    </Section>
  );
}

function DecideRate({ rate, decision, onClose }: Dialog & Chosen) {
  const environment = useEnvironment();
  const { email } = useOperator();
  const submit = (reason: string) =>
    ops.POST(`/ops/rates/{rateId}/${decision}`, {
      ...inPath(environment, { rateId: rate.rateId }),
      body: { reason },
    });
  if (decision === 'decline') {
    const what = `the rate ${inDollars(rate.rate, rate.currency)}`;
    return (
      <DeclineProposal isOwn={rate.proposedBy === email} what={what} submit={submit} onClose={onClose} />
    );
  }
  return (
    <ReasonDialog
      done="Confirmed. Prices use it within a second"
      title="Confirm the rate"
      onClose={onClose}
      submit={submit}
      label="Confirm the rate"
    >
      <Alert color="yellow">
        One US dollar: {inDollars(rate.currentRate, rate.currency)} → {inDollars(rate.rate, rate.currency)}
        {rate.changePercent !== null && `, ${formatPercent(rate.changePercent)}`}. Prices use it within a
        second.
      </Alert>
    </ReasonDialog>
  );
}

function Current({ of }: { readonly of: Rates['items'] }) {
  const [setting, setSetting] = useState<string | null>(null);
  const [text, setText] = useState('');
  const wanted = text.trim().toUpperCase();
  const shown = of.filter(({ currency }) => currency.includes(wanted));
  return (
    <Section title="Current rates" extra={<Button onClick={() => setSetting('')}>Set a rate</Button>}>
      <TextInput
        label="Find a currency"
        value={text}
        onChange={({ currentTarget: { value } }) => setText(value)}
        maw={240}
        mb="sm"
      />
      <Rows
        label="Current rates"
        keyOf={({ currency }) => currency}
        empty={of.length === 0 ? 'No rates yet.' : 'No results.'}
        rows={shown}
        columns={{
          Currency: ({ currency }) => currency,
          Rate: { number: ({ rate }) => formatRate(rate) },
          From: ({ source }) => (source === 'operator' ? 'Set by an operator' : source),
          Age: ({ ageSeconds }) => formatAge(ageSeconds),
          State: ({ isSold }) => (isSold ? 'In use' : <Status color="red">Too old, not used</Status>),
          Set: ({ currency }) => (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => setSetting(currency)}
              aria-label={`Set ${currency}`}
            >
              Set
            </Button>
          ),
        }}
      />
      {setting !== null && <SetDialog currency={setting} rates={of} onClose={() => setSetting(null)} />}
    </Section>
  );
}

const RATE = { decimals: 6, min: 0.000001, required: true };

/** `currency`: empty if the person chooses it. */
function SetDialog({
  currency,
  rates,
  onClose,
}: Dialog & { readonly currency: string; readonly rates: Rates['items'] }) {
  const environment = useEnvironment();
  const form = useForm({
    initialValues: { currency, rate: '', isConfigured: false, reason: '' },
    validate: {
      currency: (code) => (/^[A-Z]{3}$/.test(code) ? null : 'Three capital letters, such as NGN'),
      rate: (typed, { isConfigured }) => (isConfigured ? null : readNumber(typed, RATE).fault),
      reason: reasonError,
    },
  });
  const sending = useSending(
    form,
    ({ isConfigured: isReturned, ...fields }) =>
      dataOf(
        ops.POST('/ops/rates', {
          params: { query: { environment } },
          body: { ...fields, rate: isReturned ? null : (readNumber(fields.rate, RATE).value ?? 0) },
        }),
      ),
    ({ outcome, rateId }) => {
      notifications.show(
        outcome === 'waits'
          ? { message: 'Another person must confirm it', color: 'yellow' }
          : {
              message:
                rateId === null
                  ? 'The configured rate applies after its next refresh, within 10 minutes'
                  : 'The rate is set',
              color: 'green',
            },
      );
      onClose();
    },
  );
  const { currency: code, rate, isConfigured } = form.getValues();
  const before = rates.find((one) => one.currency === code)?.rate ?? null;
  const after = isConfigured ? undefined : readNumber(rate, RATE).value;
  return (
    <FormDialog title="Set a rate" onClose={onClose} sending={sending} label="Set the rate">
      <TextInput
        label="Currency"
        required
        maxLength={3}
        data-autofocus={currency === '' || undefined}
        {...form.getInputProps('currency')}
        onChange={({ currentTarget: { value } }) => form.setFieldValue('currency', value.toUpperCase())}
      />
      <NumberField
        label="Rate"
        description="Units for one US dollar"
        rules={{ ...RATE, required: !isConfigured }}
        disabled={isConfigured}
        data-autofocus={currency !== '' || undefined}
        {...form.getInputProps('rate')}
      />
      <Checkbox
        label="Return to the configured rate"
        {...form.getInputProps('isConfigured', { type: 'checkbox' })}
      />
      {after !== undefined && <Effect before={before} after={after} currency={code} />}
      <ReasonField {...form.getInputProps('reason')} />
    </FormDialog>
  );
}

function Effect({
  before,
  after,
  currency,
}: {
  readonly before: number | null;
  readonly after: number;
  readonly currency: string;
}) {
  const isFarOff = before === null || Math.abs(after - before) > before * FAR_OFF;
  const change = before === null ? '' : `, ${formatPercent((100 * (after - before)) / before)}`;
  return (
    <Alert color={isFarOff ? 'yellow' : 'blue'} role="status">
      {inDollars(before, currency)} → {inDollars(after, currency)}
      {change}.{' '}
      {isFarOff ? 'Another person must confirm it before it is used.' : 'Prices use it within a second.'}
    </Alert>
  );
}

function History({
  of: { items, history },
  currency,
  days,
}: {
  readonly of: Rates;
  readonly currency: string;
  readonly days: number;
}) {
  const navigate = useNavigate({ from: FROM });
  const known = items.map((item) => item.currency);
  const choices = known.includes(currency) ? known : [currency, ...known];
  const [first, last] = [history[0], history.at(-1)];
  const nowSeconds = Date.now() / 1_000;
  return (
    <Section
      title="History"
      extra={
        <Group align="flex-end">
          <NativeSelect
            aria-label="Currency of the history"
            data={choices}
            value={currency}
            onChange={({ currentTarget: { value } }) =>
              void navigate({ search: (old) => ({ ...old, currency: value }), replace: true })
            }
          />
          <SegmentedControl
            aria-label="Range"
            data={RATE_DAYS.map((value) => ({ value: String(value), label: `${String(value)} days` }))}
            value={String(days)}
            onChange={(value) =>
              void navigate({ search: (old) => ratesSearch({ ...old, days: value }), replace: true })
            }
          />
        </Group>
      }
    >
      {!first || !last ? (
        <Empty>No rate of {currency} in this time.</Empty>
      ) : (
        <>
          <Text size="sm" mb="xs">
            {first.rate === last.rate
              ? `${currency}: ${formatRate(last.rate)} since ${formatMoment(first.at)}.`
              : `${currency}: from ${formatRate(first.rate)} on ${formatMoment(first.at)} to ${formatRate(last.rate)} on ${formatMoment(last.at)}.`}
          </Text>
          <TimeChart
            label={`Rate of ${currency}`}
            kind="steps"
            range={[nowSeconds - days * DAY_SECONDS, nowSeconds]}
            rows={history}
            at={({ at }) => at}
            lines={[{ name: 'Rate', color: 'blue', of: ({ rate }) => rate }]}
            formatAt={formatMoment}
            formatValue={formatRate}
          />
          <ChartValues
            label={`Rates of ${currency}`}
            titles={['When', 'Rate']}
            rows={history.map(({ at, rate }) => [formatMoment(at), formatRate(rate)])}
          />
        </>
      )}
    </Section>
  );
}

function Changes({ of }: { readonly of: Rates['changes'] }) {
  return (
    <RowsSection
      title="Changes by operators"
      empty="No operator has set or confirmed a rate."
      rows={of}
      columns={{
        When: ({ at }) => <Moment at={at} />,
        Currency: ({ currency }) => currency,
        'Old rate': { number: ({ before }) => formatRate(before) },
        'New rate': { number: ({ rate }) => (rate === null ? 'As configured' : formatRate(rate)) },
        By: ({ by, reason }) => <PersonAndReason person={by} reason={reason} />,
        'Confirmed by': ({ confirmedBy, confirmReason }) =>
          confirmedBy === null ? (
            'Not needed'
          ) : (
            <PersonAndReason person={confirmedBy} reason={confirmReason ?? ''} />
          ),
      }}
    />
  );
}

function PersonAndReason({ person, reason }: { readonly person: string; readonly reason: string }) {
  return (
    <div className="breakable">
      {person}
      {reason !== '' && <Text size="sm">{reason}</Text>}
    </div>
  );
}
