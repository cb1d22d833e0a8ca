/** The papers of one account, as operators see them. */
import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { dataOf, ops } from '../api/client.ts';
import { DownloadCsv, DownloadFile } from '../ui/download-csv.tsx';
import { formatPercent } from '../ui/format.ts';
import { NumberField } from '../ui/number-field.tsx';
import { numberText, readNumber } from '../ui/numbers.ts';
import { CSV, formatMonth, invoiceColumns, PDF } from '../ui/paper-forms.tsx';
import { Section } from '../ui/parts.tsx';
import { PagedRows } from '../ui/rows.tsx';
import { useSending } from '../ui/send-form.tsx';
import { FormDialog, ReasonDialog, ReasonField, reasonError, type Dialog } from './form-dialog.tsx';
import { inPath, useEnvironment, useOperator, useOps } from './place.ts';

type How = typeof PDF | typeof CSV;

export function AccountPapers({ accountId }: { readonly accountId: string }) {
  const environment = useEnvironment();
  const { may } = useOperator();
  const [page, setPage] = useState(1);
  const [corrected, setCorrected] = useState<string | null>(null);
  const [isTaxing, setTaxing] = useState(false);
  const invoices = useOps('/ops/invoices', { query: { accountId, page, limit: 12 } }, { keepsOld: true });
  const { data: billing } = useOps('/ops/accounts/{accountId}/billing', { path: { accountId } });
  const read = (number: string, how: How) => () =>
    ops.GET('/ops/invoices/{number}', { ...how, ...inPath(environment, { number }) });
  const columns = invoiceColumns(read);
  return (
    <>
      <Statements accountId={accountId} />
      <Section
        title="Invoices"
        extra={
          may('closing') && (
            <Button size="compact-sm" variant="default" disabled={!billing} onClick={() => setTaxing(true)}>
              Change its rate of tax
            </Button>
          )
        }
      >
        {billing && (
          <Text size="sm" mb="xs">
            {billing.details === null
              ? 'The account has set no billing details. '
              : `On papers: ${billing.details.legalName}, ${billing.details.country}. `}
            {billing.taxRatePercent === null
              ? 'The company’s rate of tax counts.'
              : `Its own rate of tax: ${formatPercent(billing.taxRatePercent)}.`}
          </Text>
        )}
        <PagedRows
          query={invoices}
          onPage={setPage}
          label="Invoices"
          empty="No invoices. One is written for each month with sales, once the month is closed."
          columns={
            may('closing')
              ? {
                  ...columns,
                  Correct: ({ number, kind }) =>
                    kind === 'INVOICE' ? (
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={`Correct ${number}`}
                        onClick={() => setCorrected(number)}
                      >
                        Correct
                      </Button>
                    ) : (
                      '–'
                    ),
                }
              : columns
          }
        />
        {corrected !== null && (
          <ReasonDialog
            title={`Correct ${corrected}?`}
            label="Correct the invoice"
            done="A credit note and a new invoice are written"
            onClose={() => setCorrected(null)}
            submit={(reason) =>
              dataOf(
                ops.POST('/ops/invoices/{number}/correct', {
                  ...inPath(environment, { number: corrected }),
                  body: { reason },
                }),
              )
            }
          >
            <Text size="sm">
              A credit note takes it back, and a new invoice with the details and the tax of now stands in its
              place. It cannot be undone. Each invoice is corrected once.
            </Text>
          </ReasonDialog>
        )}
        {isTaxing && billing && (
          <TaxDialog
            accountId={accountId}
            percent={billing.taxRatePercent}
            onClose={() => setTaxing(false)}
          />
        )}
      </Section>
    </>
  );
}

const SHOWN_MONTHS = 24;

function monthsBack(): string[] {
  const now = new Date();
  return Array.from({ length: SHOWN_MONTHS }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 7),
  );
}

function Statements({ accountId }: { readonly accountId: string }) {
  const environment = useEnvironment();
  const [months] = useState(monthsBack);
  const [month, setMonth] = useState(months[0] ?? '');
  const read = (how: How) => () =>
    ops.GET('/ops/accounts/{accountId}/statements/{month}', {
      ...how,
      ...inPath(environment, { accountId, month }),
    });
  return (
    <Section title="Statements">
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          As the account reads it: opening balance, every change and closing balance of a month (UTC).
        </Text>
        <Group align="end">
          <NativeSelect
            label="Month"
            data={months.map((value) => ({ value, label: formatMonth(value) }))}
            value={month}
            onChange={({ currentTarget }) => setMonth(currentTarget.value)}
          />
          <DownloadFile
            label="PDF"
            aria-label={`Statement of ${formatMonth(month)} as PDF`}
            name={`statement-${month}.pdf`}
            read={read(PDF)}
          />
          <DownloadCsv
            label="CSV"
            aria-label={`Statement of ${formatMonth(month)} as CSV`}
            name={`statement-${month}.csv`}
            read={read(CSV)}
          />
        </Group>
      </Stack>
    </Section>
  );
}

const RATE = { min: 0, max: 100 } as const;

/** Empty: the company's rate counts again. */
function TaxDialog({
  accountId,
  percent,
  onClose,
}: Dialog & { readonly accountId: string; readonly percent: number | null }) {
  const environment = useEnvironment();
  const form = useForm({
    initialValues: { taxRate: percent === null ? '' : numberText(percent), reason: '' },
    validate: { taxRate: (typed) => readNumber(typed, RATE).fault ?? null, reason: reasonError },
  });
  const sending = useSending(
    form,
    ({ taxRate, reason }) => {
      const { value } = readNumber(taxRate, RATE);
      const taxRateBps = value === undefined ? null : Math.round(value * 100);
      return dataOf(
        ops.PUT('/ops/accounts/{accountId}/tax', {
          ...inPath(environment, { accountId }),
          body: { taxRateBps, reason },
        }),
      );
    },
    () => {
      onClose();
      notifications.show({ message: 'Its later papers have this rate', color: 'green' });
    },
  );
  return (
    <FormDialog title="Rate of tax of the account" onClose={onClose} sending={sending} label="Save">
      <NumberField
        label="Rate of tax, in percent"
        description="Such as 0 for a buyer abroad. Empty: the company’s rate counts"
        rules={RATE}
        {...form.getInputProps('taxRate')}
      />
      <ReasonField {...form.getInputProps('reason')} />
    </FormDialog>
  );
}
