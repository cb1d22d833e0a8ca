/** Statements, invoices and receipts, and whom they name. */
import { Checkbox, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { WIDTHS } from '../app/theme.ts';
import { api } from '../api/client.ts';
import { DownloadCsv, DownloadFile } from '../ui/download-csv.tsx';
import {
  CSV,
  formatMonth,
  invoiceColumns,
  PDF,
  PARTY_FAULTS,
  PartyInputs,
  type Party,
  partyFields,
  partyOf,
} from '../ui/paper-forms.tsx';
import { Facts, QuerySection, Section } from '../ui/parts.tsx';
import { PagedRows, Rows } from '../ui/rows.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { useMembership, useRead, useRefresh } from './place.ts';

export function ReceiptButton({ transactionId }: { readonly transactionId: string }) {
  const path = { transactionId };
  return (
    <DownloadFile
      name={`receipt-${transactionId}.pdf`}
      label="Receipt"
      read={() => api.GET('/api/esim/transactions/{transactionId}/receipt', { ...PDF, params: { path } })}
    />
  );
}

export function Papers() {
  return (
    <>
      <Statements />
      <Invoices />
      <BillingDetails />
    </>
  );
}

/** The present month and those before it: older ones are there by the API. */
const SHOWN_MONTHS = 6;

function monthsBack(count: number): string[] {
  const now = new Date();
  return Array.from({ length: count }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 7),
  );
}

function Statements() {
  const read = (month: string, how: typeof PDF | typeof CSV) => () =>
    api.GET('/api/wallet/statements/{month}', { ...how, params: { path: { month } } });
  return (
    <Section title="Statements">
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          Opening balance, every change and closing balance of a month (UTC).
        </Text>
        <Rows
          label="Statements"
          rows={monthsBack(SHOWN_MONTHS)}
          columns={{
            Month: (month) => formatMonth(month),
            Download: (month) => (
              <Group gap="xs">
                <DownloadFile
                  label="PDF"
                  aria-label={`Statement of ${formatMonth(month)} as PDF`}
                  name={`statement-${month}.pdf`}
                  read={read(month, PDF)}
                />
                <DownloadCsv
                  label="CSV"
                  aria-label={`Statement of ${formatMonth(month)} as CSV`}
                  name={`statement-${month}.csv`}
                  read={read(month, CSV)}
                />
              </Group>
            ),
          }}
        />
      </Stack>
    </Section>
  );
}

function Invoices() {
  const [page, setPage] = useState(1);
  const query = useRead('/api/wallet/invoices', { query: { page, limit: 12 } });
  const read = (number: string, how: typeof PDF | typeof CSV) => () =>
    api.GET('/api/wallet/invoices/{number}', { ...how, params: { path: { number } } });
  return (
    <Section title="Invoices">
      <PagedRows
        query={query}
        onPage={setPage}
        label="Invoices"
        empty="No invoices yet. We write one for each month with sales, when we close the month."
        columns={invoiceColumns(read)}
      />
    </Section>
  );
}

function BillingDetails() {
  const { may } = useMembership();
  const query = useRead('/api/wallet/billing-details', {});
  return (
    <QuerySection title="Billing details" query={query} rows={4}>
      {({ details }) =>
        may('fund') ? (
          <DetailsForm details={details} />
        ) : details === null ? (
          <Text size="sm">An owner or a member of finance has not set them yet.</Text>
        ) : (
          <Facts
            of={{
              'Legal name': details.legalName,
              Address: details.addressLines.join(', '),
              Country: details.country,
              'Tax number': details.taxNumber,
              'Papers by mail': details.papersByMail ? 'Yes' : 'No',
            }}
          />
        )
      }
    </QuerySection>
  );
}

interface Details extends Party {
  readonly papersByMail: boolean;
}

function DetailsForm({ details }: { readonly details: Details | null }) {
  const refresh = useRefresh();
  const form = useForm({
    initialValues: { ...partyFields(details), papersByMail: details?.papersByMail ?? false },
    validate: PARTY_FAULTS,
  });
  const sending = useSending(
    form,
    ({ papersByMail, ...party }) =>
      api.PUT('/api/wallet/billing-details', { body: { ...partyOf(party), papersByMail } }),
    () => {
      notifications.show({ message: 'Saved. New invoices, and all statements and receipts, show them.' });
      return refresh();
    },
  );
  return (
    <SendForm
      sending={sending}
      label="Save"
      at="flex-start"
      maw={WIDTHS.form}
      button={{ variant: 'default' }}
    >
      <PartyInputs form={form} />
      <Checkbox
        label="Send a mail for each invoice"
        description="To the address of the account"
        {...form.getInputProps('papersByMail', { type: 'checkbox' })}
      />
    </SendForm>
  );
}
