import { Group, Select, Stack, Text, TextInput, type OptionsFilter } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { isFoundIn } from 'simway-client/search-text.ts';
import { api, type ApiSchemas } from '../api/client.ts';
import { DownloadCsv } from '../ui/download-csv.tsx';
import { SearchField } from '../ui/filters.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { numberText, readNumber } from '../ui/numbers.ts';
import { LinkButton, QueryView, Page } from '../ui/parts.tsx';
import { amount, Rows } from '../ui/rows.tsx';
import { ItemLink } from './item-link.tsx';
import { isFit, packageFilters, type PackageFilters } from './filters.ts';
import { useMembership, usePlace, useRead } from './place.ts';

type Package = ApiSchemas['Package'];
type Region = ApiSchemas['Region'];

const TYPES = { LC: 'Countries', RG: 'Regions', GL: 'Global' } as const;

const FROM = '/m/$accountId/$environment/catalogue';

/** Changes filters in the address. Only another region is a step that the browser's Back undoes. */
function useShow() {
  const navigate = useNavigate({ from: FROM });
  return (change: PackageFilters) =>
    void navigate({ search: (old) => packageFilters({ ...old, ...change }), replace: !('region' in change) });
}

export function CataloguePage() {
  const { region } = useSearch({ from: FROM });
  const show = useShow();
  const regions = useRead('/api/esim/regions', {});
  return (
    <Page
      title="Catalogue"
      about="With your prices, in the currency of your wallet."
      extra={<DownloadCsv name="price-list.csv" label="Download the price list" read={readPriceList} />}
    >
      <QueryView query={regions} rows={1}>
        {(found) => (
          <Select
            label="Country or region"
            placeholder="Type to search"
            searchable
            nothingFoundMessage="No results"
            maw={420}
            data={groupsOf(found)}
            filter={findRegions}
            value={region ?? null}
            onChange={(next) => show({ region: next ?? undefined })}
          />
        )}
      </QueryView>
      {region === undefined ? <ByCode /> : <Packages region={region} />}
    </Page>
  );
}

const readPriceList = async (): Promise<Blob> => {
  const { data } = await api.GET('/api/esim/price-list', {
    ...{ headers: { Accept: 'text/csv' }, parseAs: 'blob' },
  });
  return data as unknown as Blob;
};

/** Countries are found by other names too, and without their accents. */
const findRegions: OptionsFilter = ({ options, search }) =>
  options.flatMap((option) => {
    if (!('group' in option)) return isFoundIn(option.label, search) ? option : [];
    const items = option.items.filter(({ label }) => isFoundIn(label, search));
    return items.length > 0 ? { ...option, items } : [];
  });

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
          placeholder={place.environment === 'test' ? 'SIM-OK' : ''}
          value={code}
          onChange={({ currentTarget }) => setCode(currentTarget.value.trim())}
        />
        <LinkButton
          variant="default"
          disabled={code === ''}
          to="/m/$accountId/$environment/catalogue/$packageCode"
          params={{ packageCode: code === '' ? 'SIM-OK' : code }}
        >
          Open
        </LinkButton>
      </Group>
      {place.environment === 'test' && (
        <Text size="sm" c="dimmed">
          Sandbox package codes simulate a scenario. SIM-OK is delivered at once; docs/SANDBOX.md in the
          source lists all.
        </Text>
      )}
    </Stack>
  );
}

function Filters() {
  const filters = useSearch({ from: FROM });
  const { currency } = useMembership();
  const show = useShow();
  return (
    <Group align="end" role="search" aria-label="Filter the packages">
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
      w={170}
      value={typed}
      onChange={(next) => {
        setTyped(next);
        onChange(readNumber(next).value);
      }}
    />
  );
}

function Packages({ region }: { readonly region: string }) {
  const filters = useSearch({ from: FROM });
  const query = useRead('/api/esim/packages', { query: { regionCode: region } });
  return (
    <Stack>
      <Filters />
      <QueryView query={query}>
        {(found) => {
          const packages = found as Package[];
          const rows = packages
            .filter((one) => isFit(one, filters))
            .toSorted((one, other) => one.price - other.price);
          return (
            <>
              <Text size="sm" c="dimmed" role="status">
                {rows.length.toLocaleString()} of {packages.length.toLocaleString()} packages, cheapest first
              </Text>
              <Rows
                label="Packages"
                rows={rows}
                empty="No results."
                columns={{
                  Package: ({ packageName, packageCode }) => (
                    <ItemLink kind="package" id={packageCode}>
                      {packageName}
                    </ItemLink>
                  ),
                  Data: ({ data }) => data,
                  Days: { number: ({ validity }) => validity },
                  Speed: ({ speed }) => speed,
                  'Top-up': ({ topUpAvailable }) => (topUpAvailable ? 'Yes' : 'No'),
                  Price: amount('price'),
                }}
              />
            </>
          );
        }}
      </QueryView>
    </Stack>
  );
}
