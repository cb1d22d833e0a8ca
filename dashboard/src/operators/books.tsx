import { Button, Group, Stack, Tabs, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ops } from '../api/client.ts';
import type { components } from 'simway-client/generated/ops.ts';
import { DownloadCsv } from '../ui/download-csv.tsx';
import { DAY_MS, dayOf, formatDay } from '../ui/format.ts';
import { QueryView, Empty, Moment, PageHead, Status, ShortId } from '../ui/parts.tsx';
import { Rows, type Column } from '../ui/rows.tsx';
import type { Environment } from '../ui/environment.ts';
import { dailyQuery, merchantsQuery, trialBalanceQuery, waitingMoneyQuery, type Days } from './data.ts';
import { useEnvironment } from './place.ts';
import { BOOKS, type Book } from './search.ts';
import { amountColumn, RowsOrNone } from './tables.tsx';
import { plain } from './words.ts';

const FROM = '/operators/$environment/books';
const SHOWN_DAYS = 30;

function daysOf({
  from,
  to,
}: {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}): Days {
  const today = Date.now();
  return { from: from ?? dayOf(today - (SHOWN_DAYS - 1) * DAY_MS), to: to ?? dayOf(today) };
}

/** The API excludes `to`; the page names the last day that is shown. */
const apiDays = ({ from, to }: Days): Days => ({ from, to: dayOf(Date.parse(to) + DAY_MS) });

export function BooksPage() {
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const book = search.book ?? 'trial-balance';
  const days = daysOf(search);
  return (
    <Stack>
      <PageHead title="Books">
        <Download book={book} days={days} />
      </PageHead>
      <Tabs
        value={book}
        keepMounted={false}
        onChange={(next) =>
          void navigate({ search: (old) => ({ ...old, book: BOOKS.find((known) => known === next) }) })
        }
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="trial-balance">Trial balance</Tabs.Tab>
          <Tabs.Tab value="daily">By day</Tabs.Tab>
          <Tabs.Tab value="merchants">By merchant</Tabs.Tab>
          <Tabs.Tab value="waiting">Money waiting</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="trial-balance">
          <TrialBalance />
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
      </Tabs>
    </Stack>
  );
}

function DayFields({ days }: { readonly days: Days }) {
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
  const balance = useQuery(trialBalanceQuery(useEnvironment()));
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
              keyOf={({ account, currency }) => `${account} ${currency}`}
              columns={[
                { title: 'Account', cell: ({ account }) => <ShortId>{account}</ShortId> },
                { title: 'Class', cell: ({ class: kind }) => plain(kind) },
                { title: 'Accounts', cell: ({ accounts }) => accounts.toLocaleString(), isNumber: true },
                amountColumn('Debit', 'debit'),
                amountColumn('Credit', 'credit'),
              ]}
            />
            <Totals
              of={totals}
              columns={[
                amountColumn('Debit', 'debit'),
                amountColumn('Credit', 'credit'),
                {
                  title: 'Balanced',
                  cell: ({ isBalanced }) => <Status>{isBalanced ? 'Yes' : 'No: an error'}</Status>,
                },
              ]}
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
  readonly columns: readonly Column<T>[];
}) {
  return (
    <Rows
      label="Totals"
      rows={of}
      keyOf={({ currency }) => currency}
      columns={[{ title: 'Total of', cell: ({ currency }) => currency }, ...columns]}
    />
  );
}

type Schemas = components['schemas'];
type Day = Schemas['Daily']['data']['lines'][number];
type EarnedTotals = Schemas['Daily']['data']['totals'];
type Merchant = Schemas['BooksByMerchant']['data']['lines'][number];

const EARNED: readonly Column<EarnedTotals[number]>[] = [
  { title: 'Deliveries', cell: ({ deliveries }) => deliveries.toLocaleString(), isNumber: true },
  amountColumn('Sold', 'sold'),
  amountColumn('Corrected', 'corrected'),
  amountColumn('Revenue', 'revenue'),
  amountColumn('Cost', 'cost'),
  amountColumn('Margin', 'margin'),
  {
    title: 'Margin %',
    cell: ({ marginPercent }) => (marginPercent === null ? '–' : `${marginPercent.toLocaleString()} %`),
    isNumber: true,
  },
];

const KIND: Column<Pick<Day, 'packageType'>> = {
  title: 'Kind',
  cell: ({ packageType }) => (packageType === null ? '–' : packageType === 'TOPUP' ? 'Top-up' : 'New eSIM'),
};

const DAILY: readonly Column<Day>[] = [{ title: 'Day', cell: ({ day }) => formatDay(day) }, KIND, ...EARNED];

const MERCHANTS: readonly Column<Merchant>[] = [
  {
    title: 'Merchant',
    cell: ({ accountId, email }) =>
      accountId === null ? 'Without a purchase' : (email ?? <ShortId>{accountId}</ShortId>),
  },
  KIND,
  ...EARNED,
];

function Daily({ days }: { readonly days: Days }) {
  const daily = useQuery(dailyQuery(useEnvironment(), apiDays(days)));
  return (
    <Earned
      query={daily}
      label="Earned by day"
      columns={DAILY}
      keyOf={({ day, currency, packageType }) => `${day} ${currency} ${String(packageType)}`}
    />
  );
}

function Merchants({ days }: { readonly days: Days }) {
  const merchants = useQuery(merchantsQuery(useEnvironment(), apiDays(days)));
  return (
    <Earned
      query={merchants}
      label="Earned by merchant"
      columns={MERCHANTS}
      keyOf={({ accountId, currency, packageType }) =>
        `${String(accountId)} ${currency} ${String(packageType)}`
      }
    />
  );
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
  const waiting = useQuery(waitingMoneyQuery(useEnvironment()));
  return (
    <QueryView query={waiting}>
      {({ lines }) => (
        <RowsOrNone
          label="Money waiting"
          empty="No money waiting."
          rows={lines}
          keyOf={({ waitsFor, currency }) => `${waitsFor} ${currency}`}
          columns={[
            { title: 'Waits for', cell: ({ waitsFor }) => plain(waitsFor) },
            { title: 'Items', cell: ({ items }) => items.toLocaleString(), isNumber: true },
            amountColumn('Amount', 'amount'),
            { title: 'Oldest', cell: ({ oldestAt }) => <Moment at={oldestAt} /> },
          ]}
        />
      )}
    </QueryView>
  );
}

/** The same report as a file for a spreadsheet. */
function Download({ book, days }: { readonly book: Book; readonly days: Days }) {
  const environment = useEnvironment();
  return (
    <DownloadCsv name={`${book}-${environment}.csv`} read={() => csvOf(book, environment, apiDays(days))} />
  );
}

const CSV = { headers: { Accept: 'text/csv' }, parseAs: 'blob' } as const;

async function csvOf(book: Book, environment: Environment, days: Days): Promise<Blob> {
  const of = { ...CSV, params: { query: { environment } } };
  const ofDays = { ...CSV, params: { query: { environment, ...days } } };
  const { data } = await {
    'trial-balance': () => ops.GET('/ops/books/trial-balance', of),
    waiting: () => ops.GET('/ops/books/waiting', of),
    daily: () => ops.GET('/ops/books/daily', ofDays),
    merchants: () => ops.GET('/ops/books/merchants', ofDays),
  }[book]();
  return data as Blob;
}
