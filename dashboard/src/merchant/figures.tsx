import '@mantine/charts/styles.css';
import { AreaChart, BarChart } from '@mantine/charts';
import { SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api/client.ts';
import { bodyOf } from '../api/data-of.ts';
import type { components } from '../api/generated/api.ts';
import { ChartValues } from '../ui/chart-values.tsx';
import { formatAmount, formatBytes, formatDay } from '../ui/format.ts';
import { QueryView, Empty, Moment, PageHead, Section } from '../ui/parts.tsx';
import { useAccountQuery } from './place.ts';

const RANGES = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '365', label: 'A year' },
];
const DAY_MS = 86_400_000;
const GB = 1024 ** 3;
const HEIGHT = 260;

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export function FiguresPage() {
  const [days, setDays] = useState('30');
  return (
    <Stack>
      <PageHead title="Figures">
        <SegmentedControl aria-label="Range" data={RANGES} value={days} onChange={setDays} />
      </PageHead>
      <Spending days={Number(days)} />
    </Stack>
  );
}

function Spending({ days }: { readonly days: number }) {
  const [from, to] = [dayOf(Date.now() - (days - 1) * DAY_MS), dayOf(Date.now())];
  const query = useAccountQuery(
    ['spending', from, to],
    () => bodyOf(api.GET('/api/esim/spending', { params: { query: { from, to } } })),
    { keepsOld: true },
  );
  return (
    <QueryView query={query} rows={8}>
      {({ currency, usageAsOf, total, days: found, topDestinations }) => {
        const data = found.map(({ day, spent, purchases, dataBytes, usedBytes }) => ({
          day: formatDay(day),
          Spent: spent,
          Purchases: purchases,
          'Data bought': dataBytes / GB,
          'Data used': usedBytes / GB,
        }));
        return (
          <>
            <SimpleGrid cols={{ base: 2, sm: 4 }}>
              <Figure name="Spent" value={formatAmount(total.spent, currency)} />
              <Figure name="Purchases" value={total.purchases.toLocaleString()} />
              <Figure name="Data bought" value={formatBytes(total.dataBytes)} />
              <Figure name="Data used" value={formatBytes(total.usedBytes)} />
            </SimpleGrid>
            {usageAsOf !== '' && (
              <Text size="sm" c="dimmed">
                Data used as of <Moment at={usageAsOf} /> or later.
              </Text>
            )}
            <Section title="Spent per day">
              <BarChart
                h={HEIGHT}
                data={data}
                dataKey="day"
                series={[{ name: 'Spent', color: 'blue.7' }]}
                yAxisProps={{ width: 'auto' }}
                valueFormatter={(value) => formatAmount(value, currency)}
              />
              <ChartValues
                label="Spent per day"
                titles={['Day', 'Spent', 'Purchases']}
                rows={found.map(({ day, spent, purchases }) => [
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
              <AreaChart
                h={HEIGHT}
                curveType="linear"
                data={data}
                dataKey="day"
                withLegend
                series={[
                  { name: 'Data bought', color: 'blue.7' },
                  { name: 'Data used', color: 'teal.7' },
                ]}
                valueFormatter={(value) => value.toLocaleString(undefined, { maximumFractionDigits: 2 })}
              />
              <ChartValues
                label="Data per day"
                titles={['Day', 'Data bought', 'Data used']}
                rows={found.map(({ day, dataBytes, usedBytes }) => [
                  formatDay(day),
                  formatBytes(dataBytes),
                  formatBytes(usedBytes),
                ])}
              />
            </Section>
            <Destinations of={topDestinations} />
          </>
        );
      }}
    </QueryView>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <Stack gap={0}>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text size="lg" fw={700} className="amount">
        {value}
      </Text>
    </Stack>
  );
}

function Destinations({ of: found }: { readonly of: components['schemas']['Spending']['topDestinations'] }) {
  return (
    <Section title="Top destinations">
      {found.length === 0 ? (
        <Empty>No purchases in this time.</Empty>
      ) : (
        <>
          <BarChart
            h={HEIGHT}
            orientation="vertical"
            yAxisProps={{ width: 120 }}
            xAxisProps={{ allowDecimals: false }}
            data={found.map(({ regionName, purchases }) => ({ region: regionName, Purchases: purchases }))}
            dataKey="region"
            series={[{ name: 'Purchases', color: 'teal.7' }]}
          />
          <ChartValues
            label="Purchases by destination"
            titles={['Destination', 'Purchases']}
            rows={found.map(({ regionName, purchases }) => [regionName, purchases.toLocaleString()])}
          />
        </>
      )}
    </Section>
  );
}
