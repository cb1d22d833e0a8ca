/** The papers of one account, as operators see them. */
import { Group, Text } from '@mantine/core';
import { useState } from 'react';
import { ops } from '../api/client.ts';
import { DownloadCsv, DownloadFile } from '../ui/download-csv.tsx';
import { formatDay, formatPercent } from '../ui/format.ts';
import { formatMonth, INVOICE_KINDS } from '../ui/paper-forms.tsx';
import { Section } from '../ui/parts.tsx';
import { amount, PagedRows } from '../ui/rows.tsx';
import { inPath, useEnvironment, useOps } from './place.ts';

const PDF = { headers: { Accept: 'application/pdf' }, parseAs: 'blob' } as const;
const CSV = { headers: { Accept: 'text/csv' }, parseAs: 'blob' } as const;

export function AccountPapers({ accountId }: { readonly accountId: string }) {
  const environment = useEnvironment();
  const [page, setPage] = useState(1);
  const invoices = useOps('/ops/invoices', { query: { accountId, page, limit: 12 } }, { keepsOld: true });
  const { data: billing } = useOps('/ops/accounts/{accountId}/billing', { path: { accountId } });
  const read = (number: string, how: typeof PDF | typeof CSV) => async () =>
    (await ops.GET('/ops/invoices/{number}', { ...how, ...inPath(environment, { number }) })).data as never;
  return (
    <Section title="Invoices">
      {billing && (
        <Text size="sm" mb="xs">
          {billing.details === null
            ? 'The account has set no billing details. '
            : `On papers: ${billing.details.legalName}, ${billing.details.country}. `}
          {billing.taxRatePercent !== null &&
            `Its own rate of tax: ${formatPercent(billing.taxRatePercent)}.`}
        </Text>
      )}
      <PagedRows
        query={invoices}
        onPage={setPage}
        label="Invoices"
        empty="No invoices."
        columns={{
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
        }}
      />
    </Section>
  );
}
