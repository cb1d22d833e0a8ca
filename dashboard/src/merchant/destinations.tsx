/** Where the catalogue opens: the places that something is sold for. */
import { Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { isFoundIn } from 'simway-client/search-text.ts';
import { WIDTHS } from '../app/theme.ts';
import { readApi, type ApiSchemas } from '../api/client.ts';
import { SearchField } from '../ui/filters.tsx';
import { Flag } from '../ui/flag.tsx';
import { formatAmount } from '../ui/format.ts';
import { Empty, LinkButton, QueryView, Section } from '../ui/parts.tsx';
import { usePlace, useReads } from './place.ts';

const FROM = '/m/$accountId/$environment/catalogue';

export type Destination = ApiSchemas['OfferedRegion'];

const TYPES = { RG: 'Regions', GL: 'Global', LC: 'Countries' } as const;
const TYPE_NAMES = Object.keys(TYPES) as (keyof typeof TYPES)[];
const POPULAR = 12;
/** Of each kind, before all of it is asked for. */
const FIRST = 18;

export const useDestinations = () =>
  useReads(['catalogue', 'destinations'], async () => {
    const [regions, top] = await Promise.all([
      readApi('/api/esim/regions', {}),
      readApi('/api/esim/top-destinations', { query: { limit: POPULAR } }),
    ]);
    const byCode = new Map(regions.map((one) => [one.regionCode, one]));
    return { regions, popular: top.flatMap(({ regionCode }) => byCode.get(regionCode) ?? []) };
  });

export function Destinations() {
  const { search = '' } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const query = useDestinations();
  const [kind, setKind] = useState('All');
  const show = (text: string) =>
    void navigate({ search: { search: text === '' ? undefined : text }, replace: true });
  return (
    <>
      <Group align="end" role="search" aria-label="Find a destination">
        <SearchField
          label="Search destinations"
          placeholder="Country or region"
          w={WIDTHS.choice}
          value={search}
          onSearch={show}
        />
        <ByCode />
      </Group>
      {search === '' && (
        <SegmentedControl
          aria-label="Kind of destination"
          style={{ alignSelf: 'flex-start' }}
          data={['All', ...Object.values(TYPES)]}
          value={kind}
          onChange={setKind}
        />
      )}
      <QueryView query={query} rows={12}>
        {({ regions, popular }) =>
          search === '' ? (
            <Stack>
              {kind === 'All' && <Places title="Popular" of={popular} />}
              {TYPE_NAMES.filter((type) => kind === 'All' || TYPES[type] === kind).map((type) => (
                <Places
                  key={type}
                  title={TYPES[type]}
                  of={inOrderOfName(regions.filter(({ regionType }) => regionType === type))}
                  onAll={kind === 'All' ? () => setKind(TYPES[type]) : undefined}
                />
              ))}
            </Stack>
          ) : (
            <Found
              of={regions.filter(({ regionName }) => isFoundIn(regionName, search))}
              onAll={() => show('')}
            />
          )
        }
      </QueryView>
    </>
  );
}

function Found({ of, onAll }: { readonly of: readonly Destination[]; readonly onAll: () => void }) {
  if (of.length === 0)
    return (
      <Empty
        action={
          <Button variant="default" onClick={onAll}>
            Show all destinations
          </Button>
        }
      >
        No destination has this name.
      </Empty>
    );
  return <Places title="Found" of={inOrderOfName(of)} />;
}

const byName = new Intl.Collator('en');

const inOrderOfName = (of: readonly Destination[]): Destination[] =>
  of.toSorted((a, b) => byName.compare(a.regionName, b.regionName));

/** With `onAll` only the first of many. */
function Places({
  title,
  of,
  onAll,
}: {
  readonly title: string;
  readonly of: readonly Destination[];
  readonly onAll?: (() => void) | undefined;
}) {
  if (of.length === 0) return null;
  const isCut = onAll !== undefined && of.length > FIRST;
  return (
    <Section title={title}>
      <ul className="destinations" aria-label={title}>
        {(isCut ? of.slice(0, FIRST) : of).map((one) => (
          <li key={one.regionCode}>
            <Card of={one} />
          </li>
        ))}
      </ul>
      {isCut && (
        <Button variant="default" mt="sm" onClick={onAll}>
          Show all {of.length.toLocaleString()} {title.toLowerCase()}
        </Button>
      )}
    </Section>
  );
}

function Card({
  of: { regionCode, regionName, regionType, countryCode, packageCount, fromPrice, currency },
}: {
  readonly of: Destination;
}) {
  const count = `${packageCount.toLocaleString()} ${packageCount === 1 ? 'package' : 'packages'}`;
  return (
    <Link className="destination" to={FROM} from={FROM} search={{ region: regionCode }} title={regionName}>
      <Flag code={countryCode} isGlobal={regionType === 'GL'} />
      <Stack gap={0} miw={0}>
        <Text component="span" fw={600} size="sm" lineClamp={2}>
          {regionName}
        </Text>
        <Text component="span" size="xs" c="dimmed">
          {fromPrice === null ? count : `from ${formatAmount(fromPrice, currency)} · ${count}`}
        </Text>
      </Stack>
    </Link>
  );
}

/** For packages that are in no list, such as those of the sandbox. */
function ByCode() {
  const { environment } = usePlace();
  const [code, setCode] = useState('');
  return (
    <Group align="end" gap="xs">
      <TextInput
        label="Package code"
        placeholder={environment === 'test' ? 'SIM-OK' : ''}
        w={WIDTHS.number}
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
  );
}
