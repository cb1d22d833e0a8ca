/** Months of the books: their close by two people, their papers, and the company that papers name. */
import { Alert, Button, Group, List, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, ops, type OpsSchemas } from '../api/client.ts';
import { ConfirmDialog } from '../ui/dialogs.tsx';
import { DownloadCsv, DownloadFile } from '../ui/download-csv.tsx';
import { formatAmount, formatPercent } from '../ui/format.ts';
import { NumberField } from '../ui/number-field.tsx';
import { numberText, readNumber } from '../ui/numbers.ts';
import { formatMonth, PARTY_FAULTS, PartyInputs, partyFields, partyOf } from '../ui/paper-forms.tsx';
import { Facts, Moment, QuerySection, QueryView, Status } from '../ui/parts.tsx';
import { WholeRows } from '../ui/rows.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { ReasonField, reasonError } from './form-dialog.tsx';
import { inPath, LIVE, useEnvironment, useOperator, useOps } from './place.ts';

type Month = OpsSchemas['BookedMonth'];
type Company = NonNullable<OpsSchemas['CompanyDetails']['data']['company']>;
type Step = 'ask-close' | 'withdraw-close' | 'close';

const STATES: Readonly<Record<Month['state'], readonly [label: string, color: string]>> = {
  OPEN: ['Open', 'gray'],
  ENDED: ['Ended, not closed', 'yellow'],
  ASKED: ['Needs a second person', 'orange'],
  CLOSED: ['Closed', 'green'],
};

const PDF = { headers: { Accept: 'application/pdf' }, parseAs: 'blob' } as const;
const CSV = { headers: { Accept: 'text/csv' }, parseAs: 'blob' } as const;

export function Months() {
  const months = useOps('/ops/months', {}, LIVE);
  const [step, setStep] = useState<{ readonly month: Month; readonly step: Step } | null>(null);
  return (
    <Stack>
      <WholeRows
        query={months}
        label="Months"
        keyOf={({ month }) => month}
        columns={{
          Month: ({ month }) => formatMonth(month),
          State: ({ state }) => <Status color={STATES[state][1]}>{STATES[state][0]}</Status>,
          'Asked by': ({ askedBy }) => askedBy ?? '–',
          Closed: ({ closedBy, closedAt }) =>
            closedAt === null ? (
              '–'
            ) : (
              <>
                <Moment at={closedAt} />
                <Text size="xs">{closedBy}</Text>
              </>
            ),
          Invoices: ({ closedAt, invoicedAt }) =>
            closedAt === null ? '–' : invoicedAt === null ? 'Being written' : 'Written',
          Files: ({ month }) => <Files month={month} />,
          Close: (month) => <Steps month={month} onChoose={(next) => setStep({ month, step: next })} />,
        }}
      />
      {step && <StepDialog {...step} onClose={() => setStep(null)} />}
      <CompanySection />
    </Stack>
  );
}

function Files({ month }: { readonly month: string }) {
  const environment = useEnvironment();
  return (
    <Group gap="xs">
      <DownloadFile
        label="PDF"
        aria-label={`Books at the end of ${formatMonth(month)} as PDF`}
        name={`books-${month}.pdf`}
        read={() => ops.GET('/ops/months/{month}', { ...PDF, ...inPath(environment, { month }) })}
      />
      <DownloadCsv
        label="Journal"
        aria-label={`Journal of ${formatMonth(month)} as CSV`}
        name={`journal-${month}.csv`}
        read={() => ops.GET('/ops/months/{month}/journal', { ...CSV, ...inPath(environment, { month }) })}
      />
    </Group>
  );
}

const STEPS = {
  'ask-close': {
    label: 'Ask to close',
    title: (month: string) => `Close ${month}?`,
    does: 'You ask for it. Another person of finance must sign it off.',
    done: 'Asked. A second person must sign it off.',
  },
  'withdraw-close': {
    label: 'Withdraw',
    title: (month: string) => `Do not close ${month} yet?`,
    does: 'The month stays open. It can be asked for again.',
    done: 'Withdrawn.',
  },
  close: {
    label: 'Sign off',
    title: (month: string) => `Sign off ${month}?`,
    does: 'From then on nothing is booked into the month, and its invoices are written. It cannot be undone.',
    done: 'Closed. Its invoices are being written.',
  },
} as const satisfies Record<Step, unknown>;

function Steps({ month, onChoose }: { readonly month: Month; readonly onChoose: (step: Step) => void }) {
  const { may, email } = useOperator();
  if (!may('closing')) return null;
  if (month.state === 'OPEN')
    return (
      <Text size="sm" c="dimmed">
        Once it has ended
      </Text>
    );
  const isOwn = month.askedBy === email;
  const fitting: Step[] =
    month.state === 'ENDED'
      ? ['ask-close']
      : month.state === 'ASKED'
        ? [...(isOwn ? [] : (['close'] as const)), 'withdraw-close']
        : [];
  return (
    <Group gap="xs">
      {fitting.map((step) => (
        <Button
          key={step}
          size="compact-sm"
          variant="default"
          aria-label={`${STEPS[step].label} ${formatMonth(month.month)}`}
          onClick={() => onChoose(step)}
        >
          {STEPS[step].label}
        </Button>
      ))}
    </Group>
  );
}

function StepDialog({
  month: { month },
  step,
  onClose,
}: {
  readonly month: Month;
  readonly step: Step;
  readonly onClose: () => void;
}) {
  const environment = useEnvironment();
  const queries = useQueryClient();
  const preview = useOps('/ops/months/{month}', { path: { month } });
  const { label, title, does, done } = STEPS[step];
  const act = async () => {
    await ops.POST(`/ops/months/{month}/${step}`, inPath(environment, { month }));
    notifications.show({ message: done, color: 'green' });
    await queries.invalidateQueries({ queryKey: ['ops', environment] });
  };
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={title(formatMonth(month))}
      confirmLabel={label}
      act={act}
      color={step === 'withdraw-close' ? 'red' : 'blue'}
    >
      <Stack gap="sm">
        <Text size="sm">{does}</Text>
        {step !== 'withdraw-close' && (
          <QueryView query={preview} rows={3}>
            {(found) => <Preview of={found} />}
          </QueryView>
        )}
      </Stack>
    </ConfirmDialog>
  );
}

function Preview({ of }: { readonly of: OpsSchemas['MonthPreview']['data'] }) {
  const { isBalanced, openDifferences, openHolds, hasCompany, toInvoice } = of;
  return (
    <Stack gap="xs">
      {!isBalanced && <Alert color="red" title="The trial balance is not balanced: an error" />}
      {!hasCompany && <Alert color="yellow" title="Set the details of the company first" />}
      <List size="sm">
        <List.Item>{openDifferences.toLocaleString()} open differences</List.Item>
        <List.Item>{openHolds.toLocaleString()} purchases that are open now</List.Item>
        {toInvoice.map(({ currency, count, gross }) => (
          <List.Item key={currency}>
            {count.toLocaleString()} invoices in {currency}: {formatAmount(gross, currency)}
          </List.Item>
        ))}
        {toInvoice.length === 0 && <List.Item>No invoices: nothing was sold</List.Item>}
      </List>
    </Stack>
  );
}

function CompanySection() {
  const { may } = useOperator();
  const query = useOps('/ops/company', {});
  const [isEdited, setEdited] = useState(false);
  return (
    <QuerySection title="Company on papers" query={query} rows={3}>
      {({ company }) =>
        isEdited ? (
          <CompanyForm company={company} onClose={() => setEdited(false)} />
        ) : (
          <Stack align="flex-start">
            {company === null ? (
              <Text size="sm">Not set. A month can be closed once papers can name the company.</Text>
            ) : (
              <Facts
                of={{
                  'Legal name': company.legalName,
                  Address: company.addressLines.join(', '),
                  Country: company.country,
                  'Tax number': company.taxNumber,
                  Tax: `${company.taxName}, ${formatPercent(company.taxRatePercent)}, included in prices`,
                  Set: (
                    <>
                      <Moment at={company.setAt} />, by {company.setBy}
                    </>
                  ),
                }}
              />
            )}
            {may('closing') && (
              <Button size="compact-sm" variant="default" onClick={() => setEdited(true)}>
                Change
              </Button>
            )}
          </Stack>
        )
      }
    </QuerySection>
  );
}

const RATE = { max: 100, required: true };

function CompanyForm({
  company,
  onClose,
}: {
  readonly company: Company | null;
  readonly onClose: () => void;
}) {
  const environment = useEnvironment();
  const queries = useQueryClient();
  const form = useForm({
    initialValues: {
      ...partyFields(company),
      taxName: company?.taxName ?? 'VAT',
      taxRate: numberText(company?.taxRatePercent),
      reason: '',
    },
    validate: {
      ...PARTY_FAULTS,
      taxName: (name: string) => (name.trim() === '' ? 'Enter the name of the tax' : null),
      taxRate: (typed: string) => readNumber(typed, RATE).fault,
      reason: reasonError,
    },
  });
  const sending = useSending(
    form,
    ({ taxName, taxRate, reason, ...party }) =>
      dataOf(
        ops.PUT('/ops/company', {
          params: { query: { environment } },
          body: {
            ...partyOf(party),
            taxName: taxName.trim(),
            taxRateBps: Math.round((readNumber(taxRate, RATE).value ?? 0) * 100),
            reason,
          },
        }),
      ),
    async () => {
      notifications.show({
        message: 'Saved. New invoices, and all statements and receipts, show it.',
        color: 'green',
      });
      await queries.invalidateQueries({ queryKey: ['ops', environment] });
      onClose();
    },
  );
  return (
    <SendForm sending={sending} label="Save" at="flex-start" onBack={onClose} maw={480}>
      <PartyInputs form={form} />
      <TextInput label="Name of the tax" required maxLength={30} {...form.getInputProps('taxName')} />
      <NumberField
        label="Rate of the tax"
        description="Prices include it"
        rightSection="%"
        rules={RATE}
        {...form.getInputProps('taxRate')}
      />
      <ReasonField {...form.getInputProps('reason')} />
    </SendForm>
  );
}
