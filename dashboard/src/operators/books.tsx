import { Button, Group, Stack, Tabs, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ops } from '../api/client.ts';
import type { components } from 'simway-client/generated/ops.ts';
import { DownloadCsv } from '../ui/download-csv.tsx';
import { DAY_MS, dayOf, formatDay } from '../ui/format.ts';
import { Amount, QueryView, Empty, Moment, PageHead, Status, ShortId } from '../ui/parts.tsx';
import { Rows, type Column } from '../ui/rows.tsx';
import type { Environment } from '../ui/environment.ts';
import { dailyQuery, merchantsQuery, trialBalanceQuery, waitingMoneyQuery, type Days } from './data.ts';
import { useEnvironment } from './place.ts';
import { BOOKS, type Book } from './search.ts';
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
                {
                  title: 'Debit',
                  cell: ({ debit, currency }) => <Amount of={debit} currency={currency} />,
                  isNumber: true,
                },
                {
                  title: 'Credit',
                  cell: ({ credit, currency }) => <Amount of={credit} currency={currency} />,
                  isNumber: true,
                },
              ]}
            />
            <Rows
              label="Totals"
              rows={totals}
              keyOf={({ currency }) => currency}
              columns={[
                { title: 'Total of', cell: ({ currency }) => currency },
                {
                  title: 'Debit',
                  cell: ({ debit, currency }) => <Amount of={debit} currency={currency} />,
                  isNumber: true,
                },
                {
                  title: 'Credit',
                  cell: ({ credit, currency }) => <Amount of={credit} currency={currency} />,
                  isNumber: true,
                },
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

type Earned = components['schemas']['Daily']['data']['totals'][number];

const EARNED: readonly Column<Earned>[] = [
  { title: 'Deliveries', cell: ({ deliveries }) => deliveries.toLocaleString(), isNumber: true },
  { title: 'Sold', cell: ({ sold, currency }) => <Amount of={sold} currency={currency} />, isNumber: true },
  {
    title: 'Corrected',
    cell: ({ corrected, currency }) => <Amount of={corrected} currency={currency} />,
    isNumber: true,
  },
  {
    title: 'Revenue',
    cell: ({ revenue, currency }) => <Amount of={revenue} currency={currency} />,
    isNumber: true,
  },
  { title: 'Cost', cell: ({ cost, currency }) => <Amount of={cost} currency={currency} />, isNumber: true },
  {
    title: 'Margin',
    cell: ({ margin, currency }) => <Amount of={margin} currency={currency} />,
    isNumber: true,
  },
  {
    title: 'Margin %',
    cell: ({ marginPercent }) => (marginPercent === null ? '–' : `${marginPercent.toLocaleString()} %`),
    isNumber: true,
  },
];

function Totals({ of }: { readonly of: readonly Earned[] }) {
  return (
    <Rows
      label="Totals"
      rows={of}
      keyOf={({ currency }) => currency}
      columns={[{ title: 'Total of', cell: ({ currency }) => currency }, ...EARNED]}
    />
  );
}

const nameOfType = (type: string | null): string =>
  type === null ? '–' : type === 'TOPUP' ? 'Top-up' : 'New eSIM';

function Daily({ days }: { readonly days: Days }) {
  const daily = useQuery(dailyQuery(useEnvironment(), apiDays(days)));
  return (
    <QueryView query={daily}>
      {({ lines, totals }) =>
        lines.length === 0 ? (
          <Empty>No revenue on these days.</Empty>
        ) : (
          <Stack>
            <Totals of={totals} />
            <Rows
              label="Earned by day"
              rows={lines}
              keyOf={({ day, currency, packageType }) => `${day} ${currency} ${String(packageType)}`}
              columns={[
                { title: 'Day', cell: ({ day }) => formatDay(day) },
                { title: 'Kind', cell: ({ packageType }) => nameOfType(packageType) },
                ...EARNED,
              ]}
            />
          </Stack>
        )
      }
    </QueryView>
  );
}

function Merchants({ days }: { readonly days: Days }) {
  const merchants = useQuery(merchantsQuery(useEnvironment(), apiDays(days)));
  return (
    <QueryView query={merchants}>
      {({ lines, totals }) =>
        lines.length === 0 ? (
          <Empty>No revenue on these days.</Empty>
        ) : (
          <Stack>
            <Totals of={totals} />
            <Rows
              label="Earned by merchant"
              rows={lines}
              keyOf={({ accountId, currency, packageType }) =>
                `${String(accountId)} ${currency} ${String(packageType)}`
              }
              columns={[
                {
                  title: 'Merchant',
                  cell: ({ accountId, email }) =>
                    accountId === null ? 'Without a purchase' : (email ?? <ShortId>{accountId}</ShortId>),
                },
                { title: 'Kind', cell: ({ packageType }) => nameOfType(packageType) },
                ...EARNED,
              ]}
            />
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
      {({ lines }) =>
        lines.length === 0 ? (
          <Empty>No money waiting.</Empty>
        ) : (
          <Rows
            label="Money waiting"
            rows={lines}
            keyOf={({ waitsFor, currency }) => `${waitsFor} ${currency}`}
            columns={[
              { title: 'Waits for', cell: ({ waitsFor }) => plain(waitsFor) },
              { title: 'Items', cell: ({ items }) => items.toLocaleString(), isNumber: true },
              {
                title: 'Amount',
                cell: ({ amount, currency }) => <Amount of={amount} currency={currency} />,
                isNumber: true,
              },
              { title: 'Oldest', cell: ({ oldestAt }) => <Moment at={oldestAt} /> },
            ]}
          />
        )
      }
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
