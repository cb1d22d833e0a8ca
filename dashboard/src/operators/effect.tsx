import { Stack, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { OpsSchemas } from '../api/client.ts';
import { Amount, ShortId, QuerySection } from '../ui/parts.tsx';
import { Rows } from '../ui/rows.tsx';

/** What an action would do, as the service previews it. */
export function EffectSection({
  query,
}: {
  readonly query: UseQueryResult<OpsSchemas['ActionEffect']['data']>;
}) {
  return (
    <QuerySection title="Effect" query={query} rows={2}>
      {({ outcome, what, amount, currency, entries, refunds, needsSecondPerson }) => (
        <Stack gap="xs">
          <Text size="sm">{outcome === 'refused' ? `Would be refused: ${what}` : what}</Text>
          {amount !== null && (
            <Text size="sm">
              Amount: <Amount of={amount} currency={currency} />
            </Text>
          )}
          {refunds.map((refund, index) => (
            <Text size="sm" key={index}>
              Through the gateway: <Amount of={refund.amount} currency={refund.currency} />
            </Text>
          ))}
          {entries.length > 0 && (
            <Rows
              label="Ledger entries that would be booked"
              rows={entries}
              keyOf={({ account }, index) => `${account} ${String(index)}`}
              columns={{
                Account: ({ account }) => <ShortId>{account}</ShortId>,
                Debit: {
                  number: ({ debit, currency: code }) => <Amount of={debit || null} currency={code} />,
                },
                Credit: {
                  number: ({ credit, currency: code }) => <Amount of={credit || null} currency={code} />,
                },
              }}
            />
          )}
          {needsSecondPerson === true && <Text size="sm">A second person must approve it first.</Text>}
        </Stack>
      )}
    </QuerySection>
  );
}
