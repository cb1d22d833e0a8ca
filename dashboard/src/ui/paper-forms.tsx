/** What papers have on all pages: who they name, months, and what an invoice is called. */
import { Group, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ApiSchemas } from '../api/client.ts';
import { DownloadCsv, DownloadFile, type File } from './download-csv.tsx';
import { formatDay } from './format.ts';
import { amount, type Columns } from './rows.tsx';

/** How a paper is asked for as a file. */
export const PDF = { headers: { Accept: 'application/pdf' }, parseAs: 'blob' } as const;
export const CSV = { headers: { Accept: 'text/csv' }, parseAs: 'blob' } as const;

type ListedInvoice = ApiSchemas['ListedInvoice'];

const INVOICE_KINDS: Readonly<Record<ListedInvoice['kind'], string>> = {
  INVOICE: 'Invoice',
  CREDIT_NOTE: 'Credit note',
};

const monthFormat = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });
export const formatMonth = (month: string): string => monthFormat.format(new Date(`${month}-01`));

export interface PartyFields {
  legalName: string;
  /** A line each. */
  addressLines: string;
  country: string;
  taxNumber: string;
}

export interface Party {
  readonly legalName: string;
  readonly addressLines: readonly string[];
  readonly country: string;
  readonly taxNumber: string | null;
}

export const partyFields = (party: Party | null): PartyFields => ({
  legalName: party?.legalName ?? '',
  addressLines: party?.addressLines.join('\n') ?? '',
  country: party?.country ?? '',
  taxNumber: party?.taxNumber ?? '',
});

export const partyOf = ({ legalName, addressLines, country, taxNumber }: PartyFields) => ({
  legalName: legalName.trim(),
  addressLines: addressLines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== ''),
  country: country.trim().toUpperCase(),
  taxNumber: taxNumber.trim() === '' ? null : taxNumber.trim(),
});

export const PARTY_FAULTS = {
  legalName: (name: string) => (name.trim() === '' ? 'Enter the name' : null),
  addressLines: (lines: string) => (lines.trim() === '' ? 'Enter the address' : null),
  country: (code: string) => (/^[a-z]{2}$/i.test(code.trim()) ? null : 'Two letters, such as NG'),
};

/** The fields of a form whose values are, or include, those of a party. */
export function PartyInputs<Values extends PartyFields>({
  form,
}: {
  readonly form: UseFormReturnType<Values>;
}) {
  return (
    <>
      <TextInput label="Legal name" required maxLength={200} {...form.getInputProps('legalName')} />
      <Textarea
        label="Address"
        description="Up to six lines, without the country"
        required
        autosize
        minRows={2}
        {...form.getInputProps('addressLines')}
      />
      <TextInput
        label="Country"
        description="Two letters, such as NG"
        required
        maxLength={2}
        {...form.getInputProps('country')}
      />
      <TextInput
        label="Tax number"
        description="Leave empty if there is none"
        maxLength={50}
        {...form.getInputProps('taxNumber')}
      />
    </>
  );
}

/** Of a list of invoices. `read`: an invoice's file in one of the two forms. */
export const invoiceColumns = (
  read: (number: string, how: typeof PDF | typeof CSV) => () => Promise<File>,
): Columns<ListedInvoice> => ({
  Number: ({ number }) => number,
  What: ({ kind, month }) => `${INVOICE_KINDS[kind]}, ${formatMonth(month)}`,
  Date: ({ issuedAt }) => formatDay(issuedAt.slice(0, 10)),
  Tax: amount('tax'),
  Total: amount('gross'),
  Download: ({ number }) => (
    <Group gap="xs">
      <DownloadFile
        label="PDF"
        aria-label={`${number} as PDF`}
        name={`invoice-${number}.pdf`}
        read={read(number, PDF)}
      />
      <DownloadCsv
        label="CSV"
        aria-label={`${number} as CSV`}
        name={`invoice-${number}.csv`}
        read={read(number, CSV)}
      />
    </Group>
  ),
});
