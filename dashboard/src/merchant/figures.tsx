import { Group, Progress, SegmentedControl, SimpleGrid, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { TimeChart, ChartValues } from '../ui/chart.tsx';
import { DAY_MS, dayOf, formatAmount, formatBytes, formatDay, formatTick } from '../ui/format.ts';
import { Figure, QueryView, Moment, Section, Page } from '../ui/parts.tsx';
import { RowsSection } from '../ui/rows.tsx';
import { FIGURE_DAYS, figureFilters } from './filters.ts';
import { useRead } from './place.ts';
import { ToCatalogue } from './to-catalogue.tsx';

const FROM = '/m/$accountId/$environment/figures';
const GB = 1024 ** 3;

export function FiguresPage() {
  const navigate = useNavigate({ from: FROM });
  const { days = '30' } = useSearch({ from: FROM });
  return (
    <Page
      title="Figures"
      about="Days begin and end at midnight UTC."
      extra={
        <SegmentedControl
          aria-label="Range"
          data={Object.entries(FIGURE_DAYS).map(([value, label]) => ({ value, label }))}
          value={days}
          onChange={(next) => void navigate({ search: figureFilters({ days: next }), replace: true })}
        />
      }
    >
      <Spending days={Number(days)} />
    </Page>
  );
}

function Spending({ days }: { readonly days: number }) {
  const [from, to] = [dayOf(Date.now() - (days - 1) * DAY_MS), dayOf(Date.now())];
  const query = useRead('/api/esim/spending', { query: { from, to } }, { keepsOld: true });
  return (
    <QueryView query={query} rows={8}>
      {({ currency, usageAsOf, total, days: found, topDestinations }) => {
        const daily = { rows: found, at: dayOfRow, timeZone: 'UTC', formatAt: formatDay } as const;
        const newest = found.toReversed();
        return (
          <>
            <SimpleGrid cols={{ base: 2, sm: 4 }}>
              <Figure name="Spent" value={formatAmount(total.spent, currency)} />
              <Figure name="Purchases" value={total.purchases.toLocaleString()} />
              <Figure name="Data bought" value={formatBytes(total.dataBytes)} />
              <Figure name="Data used" value={formatBytes(total.usedBytes)} />
            </SimpleGrid>
            <Text size="sm" c="dimmed">
              Spent: charged for delivered purchases. Money that was given back or is disputed is left out.
            </Text>
            {usageAsOf !== '' && (
              <Text size="sm" c="dimmed">
                Data used was last read at <Moment at={usageAsOf} /> or later.
              </Text>
            )}
            <Section title={`Spent per day, ${currency}`}>
              <TimeChart
                {...daily}
                label="Spent per day"
                kind="bars"
                lines={[{ name: 'Spent', color: 'blue', of: ({ spent }) => spent }]}
                formatValue={(value) => formatAmount(value, currency)}
                formatTick={formatTick}
              />
              <ChartValues
                label="Spent per day"
                titles={['Day', 'Spent', 'Purchases']}
                rows={newest.map(({ day, spent, purchases }) => [
                  formatDay(day),
                  formatAmount(spent, currency),
                  purchases.toLocaleString(),
                ])}
              />
            </Section>
            <Section title="Data per day, GB">
              <Text size="sm" c="dimmed">
                Data used: what eSIMs ordered on that day have used so far.
              </Text>
              <TimeChart
                {...daily}
                label="Data per day, GB"
                kind="bars"
                lines={[
                  { name: 'Data bought', color: 'blue', of: ({ dataBytes }) => dataBytes / GB },
                  { name: 'Data used', color: 'teal', of: ({ usedBytes }) => usedBytes / GB },
                ]}
                formatValue={(value) => value.toLocaleString(undefined, { maximumFractionDigits: 2 })}
              />
              <ChartValues
                label="Data per day"
                titles={['Day', 'Data bought', 'Data used']}
                rows={newest.map(({ day, dataBytes, usedBytes }) => [
                  formatDay(day),
                  formatBytes(dataBytes),
                  formatBytes(usedBytes),
                ])}
              />
            </Section>
            <RowsSection
              title="Top destinations"
              label="Purchases by destination"
              rows={topDestinations}
              empty="No purchases in this time."
              emptyAction={<ToCatalogue />}
              columns={{
                Destination: ({ regionName }) => regionName,
                Purchases: { number: ({ purchases }) => purchases.toLocaleString() },
                Share: ({ purchases }) => <Share percent={(100 * purchases) / total.purchases} />,
              }}
            />
          </>
        );
      }}
    </QueryView>
  );
}

const dayOfRow = ({ day }: { readonly day: string }): string => day;

function Share({ percent }: { readonly percent: number }) {
  const text = `${percent.toLocaleString(undefined, { maximumFractionDigits: 1 })} %`;
  return (
    <Group gap="sm" wrap="nowrap">
      <Progress flex={1} miw={60} value={percent} color="teal" aria-label={`${text} of all purchases`} />
      <Text size="sm" className="amount" aria-hidden>
        {text}
      </Text>
    </Group>
  );
}
