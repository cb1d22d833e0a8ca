import { Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../api/client.ts';
import { bodyOf } from '../api/data-of.ts';
import type { components } from '../api/generated/api.ts';
import { Amount, QueryView, Empty, PageHead } from '../ui/parts.tsx';
import { Rows } from '../ui/rows.tsx';
import { PageLink } from '../ui/page-link.tsx';
import { useAccountQuery, usePlace } from './place.ts';

type Package = components['schemas']['Package'];
type Region = components['schemas']['Region'];

const TYPES = { LC: 'Countries', RG: 'Regions', GL: 'Global' } as const;

export function CataloguePage() {
  const place = usePlace();
  const { region } = useSearch({ from: '/m/$accountId/$world/catalogue' });
  const navigate = useNavigate();
  const regions = useAccountQuery(['regions'], () => bodyOf(api.GET('/api/esim/regions')));
  return (
    <Stack>
      <PageHead title="Catalogue" about="With your prices, in the currency of your wallet." />
      <QueryView query={regions} rows={1}>
        {(found) => (
          <Select
            label="Country or region"
            placeholder="Type to search"
            searchable
            nothingFoundMessage="No results"
            maw={420}
            data={groupsOf(found)}
            value={region ?? null}
            onChange={(next) =>
              void navigate({
                to: '/m/$accountId/$world/catalogue',
                params: place,
                search: { region: next ?? undefined },
              })
            }
          />
        )}
      </QueryView>
      {region === undefined ? <ByCode /> : <Packages region={region} />}
    </Stack>
  );
}

function groupsOf(regions: readonly Region[]) {
  return Object.entries(TYPES).map(([type, group]) => ({
    group,
    items: regions
      .filter(({ regionType }) => regionType === type)
      .map(({ regionCode, regionName, packageCount }) => ({
        value: regionCode,
        label: `${regionName} (${String(packageCount)})`,
      })),
  }));
}

/** For packages that are in no list, such as those of the sandbox. */
function ByCode() {
  const place = usePlace();
  const [code, setCode] = useState('');
  return (
    <Stack gap="xs">
      <Text c="dimmed">Choose a country or region, or open a package by its code.</Text>
      <Group align="end">
        <TextInput
          label="Package code"
          placeholder={place.world === 'test' ? 'SIM-OK' : ''}
          value={code}
          onChange={({ currentTarget }) => setCode(currentTarget.value.trim())}
        />
        <Button
          variant="default"
          disabled={code === ''}
          renderRoot={(props) => (
            <Link
              {...props}
              to="/m/$accountId/$world/catalogue/$packageCode"
              params={{ ...place, packageCode: code === '' ? 'SIM-OK' : code }}
            />
          )}
        >
          Open
        </Button>
      </Group>
      {place.world === 'test' && (
        <Text size="sm" c="dimmed">
          Sandbox package codes simulate a scenario. SIM-OK is delivered at once; docs/SANDBOX.md lists all.
        </Text>
      )}
    </Stack>
  );
}

function Packages({ region }: { readonly region: string }) {
  const place = usePlace();
  const [text, setText] = useState('');
  const [days, setDays] = useState<number | string>('');
  const query = useAccountQuery(['packages', region], () =>
    bodyOf(api.GET('/api/esim/packages', { params: { query: { regionCode: region } } })),
  );
  const fits = (one: Package): boolean =>
    `${one.packageName} ${one.packageCode} ${one.data}`.toLowerCase().includes(text.toLowerCase()) &&
    (typeof days !== 'number' || one.validity >= days);
  return (
    <Stack>
      <Group align="end">
        <TextInput
          label="Search"
          placeholder="Name, code or data"
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <NumberInput label="Minimum days" min={1} max={365} value={days} onChange={setDays} />
      </Group>
      <QueryView query={query}>
        {(found) => {
          const rows = (found as Package[]).filter(fits).toSorted((a, b) => a.price - b.price);
          if (rows.length === 0) return <Empty>No results.</Empty>;
          return (
            <Rows
              label="Packages"
              rows={rows}
              keyOf={({ packageCode }) => packageCode}
              columns={[
                {
                  title: 'Package',
                  cell: ({ packageName, packageCode }) => (
                    <PageLink
                      to="/m/$accountId/$world/catalogue/$packageCode"
                      params={{ ...place, packageCode }}
                    >
                      {packageName}
                    </PageLink>
                  ),
                },
                { title: 'Data', cell: ({ data }) => data },
                { title: 'Days', isNumber: true, cell: ({ validity }) => validity },
                { title: 'Speed', cell: ({ speed }) => speed },
                { title: 'Top-up', cell: ({ topUpAvailable }) => (topUpAvailable ? 'Yes' : 'No') },
                {
                  title: 'Price',
                  isNumber: true,
                  cell: ({ price, currency }) => <Amount of={price} currency={currency} />,
                },
              ]}
            />
          );
        }}
      </QueryView>
    </Stack>
  );
}
