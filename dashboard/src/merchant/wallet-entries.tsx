import { Group, Stack } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { api, readApi, type ApiSchemas } from '../api/client.ts';
import { timesOf } from '../ui/address.ts';
import { DayRange } from '../ui/day-range.tsx';
import { DownloadCsv } from '../ui/download-csv.tsx';
import { ChoiceField } from '../ui/filters.tsx';
import { Moment, Section } from '../ui/parts.tsx';
import { amount, CursorList } from '../ui/rows.tsx';
import { ENTRY_KINDS, entryFilters, type EntryFilters } from './filters.ts';
import { ItemLink } from './item-link.tsx';
import { usePages } from './place.ts';

const HOLD_STATUSES = {
  HELD: 'On hold',
  CHARGED: 'Charged',
  RELEASED: 'Hold, given back',
} as const;

/** A CSV answer has at most this many rows; the next one begins after its last. */
const ROWS_OF_AN_ANSWER = 10_000;
/** A spreadsheet opens a million rows. */
const MAX_ANSWERS = 100;

const kindOf = ({ kind, holdStatus }: ApiSchemas['WalletEntry']): string =>
  holdStatus === null ? ENTRY_KINDS[kind] : HOLD_STATUSES[holdStatus];

const FROM = '/m/$accountId/$environment/wallet';

/** Every change of the balance. Its filters are in the address. */
export function WalletEntries() {
  const navigate = useNavigate({ from: FROM });
  const filters = useSearch({ from: FROM });
  const show = (next: EntryFilters) => void navigate({ search: { ...filters, ...next }, replace: true });
  const query = usePages(['wallet', 'entries', filters], (after) =>
    readApi('/api/wallet/entries', { query: { limit: 25, ...filters, ...timesOf(filters), after } }),
  );
  return (
    <Section
      title="Changes of the balance"
      extra={<DownloadCsv name="wallet-entries.csv" read={() => readCsv(filters)} />}
    >
      <Stack>
        <Group align="end">
          <ChoiceField
            label="Kind"
            data={ENTRY_KINDS}
            value={filters.kind}
            onChange={(kind) => show(entryFilters({ ...filters, kind }))}
          />
          <DayRange of={filters} onChange={show} />
        </Group>
        <CursorList
          query={query}
          label="Changes of the balance"
          keyOf={({ id }) => id}
          empty={Object.values(filters).some(Boolean) ? 'No results.' : 'No changes yet.'}
          columns={{
            When: ({ at }) => <Moment at={at} />,
            What: ({ description, transactionId }) =>
              transactionId === null ? (
                description
              ) : (
                <ItemLink kind="purchase" id={transactionId}>
                  {description}
                </ItemLink>
              ),
            Kind: kindOf,
            Amount: amount('amount'),
            Balance: amount('balanceAfter'),
          }}
        />
      </Stack>
    </Section>
  );
}

/** All rows that match, from as many answers as they take. */
async function readCsv(filters: EntryFilters): Promise<Blob> {
  const parts: string[] = [];
  let after: string | undefined;
  for (let answers = 0; answers < MAX_ANSWERS; answers += 1) {
    const { data } = await api.GET('/api/wallet/entries', {
      headers: { Accept: 'text/csv' },
      params: { query: { ...filters, ...timesOf(filters), after } },
      parseAs: 'text',
    });
    const [head = '', ...rows] = String(data).trimEnd().split('\r\n');
    parts.push(...(answers === 0 ? [head] : []), ...rows);
    if (rows.length < ROWS_OF_AN_ANSWER) return new Blob([`${parts.join('\r\n')}\r\n`], { type: 'text/csv' });
    after = rows.at(-1)?.split(',', 1)[0];
  }
  throw new Error('There are more than a million rows. Choose fewer days.');
}
