/** The papers of one account, as operators see them. */
import { Text } from '@mantine/core';
import { useState } from 'react';
import { ops } from '../api/client.ts';
import { formatPercent } from '../ui/format.ts';
import { type CSV, invoiceColumns, type PDF } from '../ui/paper-forms.tsx';
import { Section } from '../ui/parts.tsx';
import { PagedRows } from '../ui/rows.tsx';
import { inPath, useEnvironment, useOps } from './place.ts';

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
        columns={invoiceColumns(read)}
      />
    </Section>
  );
}
