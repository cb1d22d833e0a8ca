import { Anchor, Button, Group, Select, Stack, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { WIDTHS } from '../app/theme.ts';
import { api, type ApiSchemas } from '../api/client.ts';
import { DownloadCsv } from '../ui/download-csv.tsx';
import { SearchField } from '../ui/filters.tsx';
import { Flag } from '../ui/flag.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { numberText, readNumber } from '../ui/numbers.ts';
import { Amount, LinkButton, Page, QueryView } from '../ui/parts.tsx';
import { amount, Rows, type Columns } from '../ui/rows.tsx';
import { Destinations, useDestinations } from './destinations.tsx';
import { ItemLink } from './item-link.tsx';
import {
  inOrder,
  isFit,
  PACKAGE_ORDERS,
  packageFilters,
  pricePerGb,
  type PackageFilters,
  type PackageOrder,
} from './filters.ts';
import { useMembership, usePlace, useRead } from './place.ts';

type Package = ApiSchemas['Package'];

const FROM = '/m/$accountId/$environment/catalogue';

/** Changes filters in the address: not a step that the browser's Back undoes. */
function useShow() {
  const navigate = useNavigate({ from: FROM });
  return (change: PackageFilters) =>
    void navigate({ search: (old) => packageFilters({ ...old, ...change }), replace: true });
}

export function CataloguePage() {
  const { region } = useSearch({ from: FROM });
  return region === undefined ? <AllDestinations /> : <OneDestination key={region} region={region} />;
}

const PriceList = () => (
  <DownloadCsv name="price-list.csv" label="Download the price list" read={readPriceList} />
);

function AllDestinations() {
  const { environment } = usePlace();
  return (
    <Page title="Catalogue" about="With your prices, in the currency of your wallet." extra={<PriceList />}>
      <Destinations />
      {environment === 'test' && (
        <Text size="sm" c="dimmed">
          Sandbox package codes simulate a scenario. SIM-OK is delivered at once.{' '}
          <Anchor href="/docs/sandbox" underline="always">
            All codes
          </Anchor>
        </Text>
      )}
    </Page>
  );
}

function OneDestination({ region }: { readonly region: string }) {
  const { data } = useDestinations();
  const found = data?.regions.find(({ regionCode }) => regionCode === region);
  return (
    <Page
      title={found?.regionName ?? 'Catalogue'}
      about="With your prices, in the currency of your wallet."
      before={<Flag code={found?.countryCode ?? null} isGlobal={found?.regionType === 'GL'} />}
      extra={
        <Group>
          <LinkButton variant="default" size="compact-sm" to={FROM}>
            All destinations
          </LinkButton>
          <PriceList />
        </Group>
      }
    >
      <Packages region={region} />
    </Page>
  );
}

const readPriceList = () =>
  api.GET('/api/esim/price-list', {
    ...{ headers: { Accept: 'text/csv' }, parseAs: 'blob' },
  });

function Filters() {
  const filters = useSearch({ from: FROM });
  const { currency } = useMembership();
  const show = useShow();
  return (
    <Group align="end" role="search" aria-label="Filter the packages" className="filters">
      <SearchField
        placeholder="Name, code or data"
        value={filters.search}
        onSearch={(search) => show({ search })}
      />
      <NumberFilter label="Minimum data, GB" value={filters.data} onChange={(data) => show({ data })} />
      <NumberFilter label="Minimum days" value={filters.days} onChange={(days) => show({ days })} />
      <NumberFilter
        label={`Maximum price, ${currency}`}
        value={filters.price}
        onChange={(price) => show({ price })}
      />
      <Select
        label="Sort by"
        w={WIDTHS.number}
        allowDeselect={false}
        data={Object.entries(PACKAGE_ORDERS).map(([value, label]) => ({ value, label }))}
        value={filters.sort ?? 'price'}
        onChange={(sort) => show({ sort: sort as PackageOrder })}
      />
    </Group>
  );
}

/** Keeps what is typed, such as `1,`, also where that is no filter yet. */
function NumberFilter({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
}) {
  const [typed, setTyped] = useState(numberText(value));
  return (
    <NumberField
      label={label}
      w={WIDTHS.number}
      value={typed}
      onChange={(next) => {
        setTyped(next);
        onChange(readNumber(next).value);
      }}
    />
  );
}

const SHOWN_NAMES = 3;

/** The first of many; the title has all. */
function Names({ of }: { readonly of: readonly string[] }) {
  const more = of.length - SHOWN_NAMES;
  const shown = of.slice(0, SHOWN_NAMES).join(', ');
  if (of.length === 0) return '–';
  return <span title={of.join(', ')}>{more > 0 ? `${shown} and ${more.toLocaleString()} more` : shown}</span>;
}

const COLUMNS: Columns<Package> = {
  Package: ({ packageName, packageCode }) => (
    <ItemLink kind="package" id={packageCode}>
      {packageName}
    </ItemLink>
  ),
  Data: ({ data }) => data,
  Days: { number: ({ validity }) => validity },
  Price: amount('price'),
  'Per GB': { amount: (one) => <Amount of={pricePerGb(one)} currency={one.currency} /> },
  Networks: ({ networkProviders }) => <Names of={networkProviders} />,
  Speed: ({ speed }) => speed,
  'Top-up': ({ topUpAvailable }) => (topUpAvailable ? 'Yes' : 'No'),
};

const { Networks, ...REST } = COLUMNS;

/** Of several countries each package covers another number of them. */
const REGION_COLUMNS: Columns<Package> = {
  ...REST,
  Countries: { number: ({ coverage }) => <span title={coverage.join(', ')}>{coverage.length}</span> },
  ...(Networks && { Networks }),
};

function Packages({ region }: { readonly region: string }) {
  const filters = useSearch({ from: FROM });
  const query = useRead('/api/esim/packages', { query: { regionCode: region } });
  const navigate = useNavigate({ from: FROM });
  const [cleared, setCleared] = useState(0);
  const clear = async () => {
    await navigate({ search: { region, sort: filters.sort }, replace: true });
    // The fields keep what was typed until they are made anew.
    setCleared((before) => before + 1);
  };
  return (
    <Stack>
      <Filters key={cleared} />
      <QueryView query={query}>
        {(found) => {
          const packages = found as Package[];
          const { sort = 'price' } = filters;
          const rows = inOrder(
            packages.filter((one) => isFit(one, filters)),
            sort,
          );
          return (
            <>
              <Text size="sm" c="dimmed" role="status">
                {rows.length.toLocaleString()} of {packages.length.toLocaleString()} packages
              </Text>
              <Rows
                label="Packages"
                rows={rows}
                keyOf={({ packageCode }) => packageCode}
                empty="No results."
                emptyAction={
                  <Button variant="default" onClick={() => void clear()}>
                    Remove the filters
                  </Button>
                }
                columns={packages.some(({ coverage }) => coverage.length > 1) ? REGION_COLUMNS : COLUMNS}
              />
            </>
          );
        }}
      </QueryView>
    </Stack>
  );
}
