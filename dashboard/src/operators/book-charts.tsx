/** Sales, refunds, margin and what the wallets had, as charts: of the days that the books have. */
import { SegmentedControl, Stack, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { listedAccountCurrency } from 'simway-client/generated/ops-lists.ts';
import { readOps, type OpsSchemas } from '../api/client.ts';
import { ChartValues, TimeChart } from '../ui/chart.tsx';
import { DAY_MS, dayOf, formatAmount, formatDay } from '../ui/format.ts';
import { QueryView, Section } from '../ui/parts.tsx';
import { useReading } from '../ui/use-reading.ts';
import { useEnvironment } from './place.ts';
import { booksSearch } from './search.ts';

const FROM = '/operators/$environment/books';
type Sale = OpsSchemas['Daily']['data']['lines'][number];
type Balance = OpsSchemas['WalletBalances']['data']['lines'][number];
type Currency = (typeof listedAccountCurrency)[number];

interface ChartDay {
  readonly day: string;
  readonly sold: number;
  readonly givenBack: number;
  readonly margin: number;
  readonly balance: number;
}

const LEAST_DAYS = 7;

/** Each day of the range once, also those on which nothing was sold. */
function daysOf(
  { from, to }: { readonly from: string; readonly to: string },
  sales: readonly Sale[],
  balances: readonly Balance[],
): ChartDay[] {
  const salesOf = Map.groupBy(sales, ({ day }) => day);
  const balanceOf = new Map(balances.map(({ day, balance }) => [day, balance]));
  const days: ChartDay[] = [];
  const last = dayOf(Math.min(Date.parse(to), Date.now()));
  for (let at = Date.parse(from); dayOf(at) <= last; at += DAY_MS) {
    const day = dayOf(at);
    const own = salesOf.get(day) ?? [];
    const sum = (of: (one: Sale) => number) => own.reduce((all, one) => all + of(one), 0);
    days.push({
      ...{ day, sold: sum(({ sold }) => sold), givenBack: -sum(({ corrected }) => corrected) },
      ...{ margin: sum(({ margin }) => margin), balance: balanceOf.get(day) ?? 0 },
    });
  }
  // A chart of a young book begins where the book does, with a week at least.
  const began = days.findIndex(
    ({ sold, givenBack, margin, balance }) => sold || givenBack || margin || balance,
  );
  return began === -1 ? days : days.slice(Math.max(0, Math.min(began - 1, days.length - LEAST_DAYS)));
}

export function BookCharts({
  days: range,
}: {
  readonly days: { readonly from: string; readonly to: string };
}) {
  const environment = useEnvironment();
  const navigate = useNavigate({ from: FROM });
  const search = useSearch({ from: FROM });
  const query = useReading({
    queryKey: ['ops', environment, 'book-charts', range],
    queryFn: async () => {
      const asked = { query: { environment, ...range } };
      const [sales, balances] = await Promise.all([
        readOps('/ops/books/daily', asked),
        readOps('/ops/books/balances', asked),
      ]);
      return { sales: sales.lines, balances: balances.lines };
    },
    keepsOld: true,
  });
  return (
    <QueryView query={query} rows={24}>
      {({ sales, balances }) => {
        const found = listedAccountCurrency.filter((code) =>
          [...sales, ...balances].some(({ currency }) => currency === code),
        );
        const [first] = found;
        const currency = found.find((code) => code === search.currency) ?? first;
        if (currency === undefined) return <Text size="sm">No wallets and no sales yet.</Text>;
        const own = <Line extends { readonly currency: string }>(lines: readonly Line[]) =>
          lines.filter((line) => line.currency === currency);
        return (
          <Stack>
            {found.length > 1 && (
              <SegmentedControl
                aria-label="Currency"
                data={[...found]}
                value={currency}
                onChange={(next) =>
                  void navigate({ search: booksSearch({ ...search, currency: next }), replace: true })
                }
              />
            )}
            <Charts days={daysOf(range, own(sales), own(balances))} currency={currency} />
          </Stack>
        );
      }}
    </QueryView>
  );
}

const CHARTS = [
  {
    title: 'Sales and what was given back, by day',
    about: 'Sold: prices of what was delivered. Given back: refunds, credits, returns and lost disputes.',
    kind: 'bars',
    lines: [
      { name: 'Sold', color: 'blue', of: ({ sold }: ChartDay) => sold },
      { name: 'Given back', color: 'teal', of: ({ givenBack }: ChartDay) => Math.max(0, givenBack) },
    ],
  },
  {
    title: 'Margin by day',
    about: 'Revenue less the supplier’s cost at the rates of the sales. The gateway’s fees are not in it.',
    kind: 'steps',
    lines: [{ name: 'Margin', color: 'blue', of: ({ margin }: ChartDay) => margin }],
  },
  {
    title: 'In all wallets at the end of the day',
    about: 'What merchants can spend: it is theirs, not ours.',
    kind: 'steps',
    lines: [{ name: 'Balance', color: 'blue', of: ({ balance }: ChartDay) => balance }],
  },
] as const;

function Charts({ days, currency }: { readonly days: readonly ChartDay[]; readonly currency: Currency }) {
  const format = (value: number) => formatAmount(value, currency);
  const newest = days.toReversed();
  return CHARTS.map(({ title, about, kind, lines }) => (
    <Section key={title} title={title}>
      <Text size="sm" c="dimmed">
        {about}
      </Text>
      <TimeChart
        label={title}
        rows={days}
        at={({ day }) => day}
        timeZone="UTC"
        formatAt={formatDay}
        kind={kind}
        lines={lines}
        formatValue={format}
      />
      <ChartValues
        label={title}
        titles={['Day', ...lines.map(({ name }) => name)]}
        rows={newest.map((day) => [formatDay(day.day), ...lines.map(({ of }) => format(of(day)))])}
      />
    </Section>
  ));
}
