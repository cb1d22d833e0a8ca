import { Button, Group, Stack, Tabs, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { UseQueryResult } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ops, type OpsSchemas } from '../api/client.ts';
import type { Days, Environment } from '../ui/address.ts';
import { DownloadCsv, type File } from '../ui/download-csv.tsx';
import { DAY_MS, dayOf, formatDay } from '../ui/format.ts';
import { QueryView, Empty, Moment, Status, ShortId, Page } from '../ui/parts.tsx';
import { Rows, type Columns, amount } from '../ui/rows.tsx';
import { BookCharts } from './book-charts.tsx';
import { Months } from './months.tsx';
import { useEnvironment, useOps } from './place.ts';
import { BOOKS, type Book } from './search.ts';
import { currencyName, LEDGER_ACCOUNTS, LEDGER_CLASSES, WAITS_FOR } from './words.ts';

const FROM = '/operators/$environment/books';
const SHOWN_DAYS = 30;

interface ShownDays {
  readonly from: string;
  readonly to: string;
}

function daysOf({ from, to }: Days): ShownDays {
  const today = Date.now();
  return { from: from ?? dayOf(today - (SHOWN_DAYS - 1) * DAY_MS), to: to ?? dayOf(today) };
}

export function BooksPage() {
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const book = search.book ?? 'trial-balance';
  const days = daysOf(search);
  return (
    <Page title="Books" extra={book !== 'months' && <Download book={book} days={days} />}>
      <Tabs
        value={book}
        keepMounted={false}
        onChange={(next) =>
          void navigate({ search: (old) => ({ ...old, book: BOOKS.find((known) => known === next) }) })
        }
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="trial-balance">Trial balance</Tabs.Tab>
          <Tabs.Tab value="charts">Charts</Tabs.Tab>
          <Tabs.Tab value="daily">By day</Tabs.Tab>
          <Tabs.Tab value="merchants">By merchant</Tabs.Tab>
          <Tabs.Tab value="waiting">Money waiting</Tabs.Tab>
          <Tabs.Tab value="months">Months</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="trial-balance">
          <TrialBalance />
        </Tabs.Panel>
        <Tabs.Panel value="charts">
          <DayFields days={days} />
          <BookCharts days={days} />
        </Tabs.Panel>
        <Tabs.Panel value="daily">
          <DayFields days={days} />
          <Daily days={days} />
        </Tabs.Panel>
        <Tabs.Panel value="merchants">
          <DayFields days={days} />
          <Merchants days={days} />
        </Tabs.Panel>
        <Tabs.Panel value="waiting">
          <Waiting />
        </Tabs.Panel>
        <Tabs.Panel value="months">
          <Months />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function DayFields({ days }: { readonly days: ShownDays }) {
  const navigate = useNavigate({ from: FROM });
  const form = useForm({
    initialValues: days,
    validate: {
      from: (from) => (from === '' ? 'Choose a day' : null),
      to: (to, { from }) =>
        to === '' ? 'Choose a day' : to < from ? 'Must not be before the first day' : null,
    },
  });
  return (
    <form
      onSubmit={form.onSubmit((range) => void navigate({ search: (old) => ({ ...old, ...range }) }))}
      noValidate
    >
      <Group align="flex-start" mb="md">
        <TextInput type="date" label="First day (UTC)" {...form.getInputProps('from')} />
        <TextInput type="date" label="Last day (UTC)" {...form.getInputProps('to')} />
        <Button type="submit" variant="default" mt={25}>
          Show
        </Button>
      </Group>
    </form>
  );
}

function TrialBalance() {
  const balance = useOps('/ops/books/trial-balance', {});
  return (
    <QueryView query={balance}>
      {({ lines, totals }) =>
        lines.length === 0 ? (
          <Empty>No entries.</Empty>
        ) : (
          <Stack>
            <Rows
              label="Trial balance"
              rows={lines}
              columns={{
                Account: ({ account, kind, currency }) => (
                  <>
                    {`${LEDGER_ACCOUNTS[kind].label}, ${currencyName(currency)}`}
                    <Text size="xs" c="dimmed">
                      {account}: {LEDGER_ACCOUNTS[kind].is}
                    </Text>
                  </>
                ),
                Class: ({ class: kind }) => LEDGER_CLASSES[kind],
                Accounts: { number: ({ accounts }) => accounts.toLocaleString() },
                Debit: amount('debit'),
                Credit: amount('credit'),
              }}
            />
            <Totals
              of={totals}
              columns={{
                Debit: amount('debit'),
                Credit: amount('credit'),
                Balanced: ({ isBalanced }) => <Status>{isBalanced ? 'Yes' : 'No: an error'}</Status>,
              }}
            />
          </Stack>
        )
      }
    </QueryView>
  );
}

function Totals<T extends { readonly currency: string }>({
  of,
  columns,
}: {
  readonly of: readonly T[];
  readonly columns: Columns<T>;
}) {
  return (
    <Rows
      label="Totals"
      rows={of}
      columns={{ 'Total of': ({ currency }) => currencyName(currency), ...columns }}
    />
  );
}

type Schemas = OpsSchemas;
type Day = Schemas['Daily']['data']['lines'][number];
type EarnedTotals = Schemas['Daily']['data']['totals'];
type Merchant = Schemas['BooksByMerchant']['data']['lines'][number];

const EARNED: Columns<EarnedTotals[number]> = {
  Deliveries: { number: ({ deliveries }) => deliveries.toLocaleString() },
  Sold: amount('sold'),
  'Given back': amount('corrected'),
  Revenue: amount('revenue'),
  Cost: amount('cost'),
  Margin: amount('margin'),
  'Margin %': {
    number: ({ marginPercent }) => (marginPercent === null ? '–' : `${marginPercent.toLocaleString()} %`),
  },
};

const KIND: Columns<Pick<Day, 'packageType'>> = {
  Kind: ({ packageType }) => (packageType === null ? '–' : packageType === 'TOPUP' ? 'Top-up' : 'New eSIM'),
};

const DAILY: Columns<Day> = { Day: ({ day }) => formatDay(day), ...KIND, ...EARNED };

const MERCHANTS: Columns<Merchant> = {
  Merchant: ({ accountId, email }) =>
    accountId === null ? 'Without a purchase' : (email ?? <ShortId>{accountId}</ShortId>),
  ...KIND,
  ...EARNED,
};

function Daily({ days }: { readonly days: ShownDays }) {
  const daily = useOps('/ops/books/daily', { query: { ...days } }, { keepsOld: true });
  return <Earned query={daily} label="Earned by day" columns={DAILY} />;
}

function Merchants({ days }: { readonly days: ShownDays }) {
  const merchants = useOps('/ops/books/merchants', { query: { ...days } }, { keepsOld: true });
  return <Earned query={merchants} label="Earned by merchant" columns={MERCHANTS} />;
}

function Earned<Line>({
  query,
  ...table
}: Omit<Parameters<typeof Rows<Line>>[0], 'rows'> & {
  readonly query: UseQueryResult<{ readonly lines: readonly Line[]; readonly totals: EarnedTotals }>;
}) {
  return (
    <QueryView query={query}>
      {({ lines, totals }) =>
        lines.length === 0 ? (
          <Empty>No revenue on these days.</Empty>
        ) : (
          <Stack>
            <Totals of={totals} columns={EARNED} />
            <Rows rows={lines} {...table} />
          </Stack>
        )
      }
    </QueryView>
  );
}

function Waiting() {
  const waiting = useOps('/ops/books/waiting', {});
  return (
    <QueryView query={waiting}>
      {({ lines }) => (
        <Rows
          label="Money waiting"
          empty="No money waiting."
          rows={lines}
          columns={{
            'Waits for': ({ waitsFor }) => WAITS_FOR[waitsFor],
            Items: { number: ({ items }) => items.toLocaleString() },
            Amount: amount('amount'),
            Oldest: ({ oldestAt }) => <Moment at={oldestAt} />,
          }}
        />
      )}
    </QueryView>
  );
}

type Report = Exclude<Book, 'months'>;

function Download({ book, days }: { readonly book: Report; readonly days: ShownDays }) {
  const environment = useEnvironment();
  return <DownloadCsv name={`${book}-${environment}.csv`} read={() => csvOf(book, environment, days)} />;
}

const CSV = { headers: { Accept: 'text/csv' }, parseAs: 'blob' } as const;

function csvOf(book: Report, environment: Environment, days: ShownDays): Promise<File> {
  const of = { ...CSV, params: { query: { environment } } };
  const ofDays = { ...CSV, params: { query: { environment, ...days } } };
  return {
    'trial-balance': () => ops.GET('/ops/books/trial-balance', of),
    charts: () => ops.GET('/ops/books/balances', ofDays),
    waiting: () => ops.GET('/ops/books/waiting', of),
    daily: () => ops.GET('/ops/books/daily', ofDays),
    merchants: () => ops.GET('/ops/books/merchants', ofDays),
  }[book]();
}
