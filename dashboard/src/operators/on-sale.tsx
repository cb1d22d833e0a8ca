import { Button, Group, TextInput, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { Amount, Empty, Moment, Pages, QueryView, Section, ShortId } from '../ui/parts.tsx';
import { Rows } from '../ui/rows.tsx';
import { type OnSale, useOps } from './place.ts';

export const PACKAGE = {
  Package: ({ packageCode, name }: { readonly packageCode: string; readonly name: string }) => (
    <>
      <ShortId>{packageCode}</ShortId>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
    </>
  ),
};

export const COST = {
  Cost: { amount: ({ costUsd }: { readonly costUsd: number }) => <Amount of={costUsd} currency="USD4" /> },
};

interface OnSaleSearch {
  readonly at: string;
  readonly packageCode: string | undefined;
  readonly regionCode: string | undefined;
}

const EMPTY = { at: '', packageCode: '', regionCode: '' };
/** As the API takes them. */
const MAX_CODE_CHARACTERS = 64;

export function OnSaleSection() {
  const [search, setSearch] = useState<OnSaleSearch | null>(null);
  const form = useForm({
    initialValues: EMPTY,
  });
  const show = ({ at, packageCode, regionCode }: typeof EMPTY) =>
    setSearch({
      at: (at === '' ? new Date() : new Date(at)).toISOString(),
      packageCode: packageCode.trim() || undefined,
      regionCode: regionCode.trim() || undefined,
    });
  return (
    <Section title="On sale at a given time">
      <form role="search" aria-label="What was on sale" onSubmit={form.onSubmit(show)} noValidate>
        <Group align="flex-start" mb="md">
          <TextInput
            label="On sale at"
            description="Now, if left empty"
            type="datetime-local"
            step={1}
            {...form.getInputProps('at')}
          />
          <TextInput
            label="Package code"
            placeholder="All"
            maxLength={MAX_CODE_CHARACTERS}
            {...form.getInputProps('packageCode')}
          />
          <TextInput
            label="Region code"
            placeholder="All"
            maxLength={MAX_CODE_CHARACTERS}
            {...form.getInputProps('regionCode')}
          />
          <Button type="submit" variant="default" mt={25}>
            Show
          </Button>
        </Group>
      </form>
      {search && <Result key={JSON.stringify(search)} search={search} />}
    </Section>
  );
}

function Result({ search }: { readonly search: OnSaleSearch }) {
  const [page, setPage] = useState(1);
  const onSale = useOps('/ops/on-sale', { query: { page, ...search } }, { keepsOld: true });
  return (
    <QueryView query={onSale}>
      {(found) =>
        found.items.length === 0 ? (
          <Nothing found={found} isFiltered={Boolean(search.packageCode ?? search.regionCode)} />
        ) : (
          <>
            <Rows
              label="Packages on sale then"
              rows={found.items}
              columns={{
                ...PACKAGE,
                Region: ({ regionCode }) => regionCode,
                ...COST,
                'Consumers, USD': {
                  amount: ({ userPriceUsd }) => <Amount of={userPriceUsd} currency="USD" />,
                },
                'Merchants, USD': {
                  amount: ({ merchantPriceUsd }) => <Amount of={merchantPriceUsd} currency="USD" />,
                },
                'Package from': ({ validFrom }) => <Moment at={validFrom} />,
                'Package until': ({ validTo }) => <Moment at={validTo} />,
              }}
            />
            <Pages of={found.pagination} onChange={setPage} />
          </>
        )
      }
    </QueryView>
  );
}

function Nothing({
  found: { at, knownSince },
  isFiltered,
}: {
  readonly found: OnSale;
  readonly isFiltered: boolean;
}) {
  if (knownSince === null) return <Empty>Not known: no catalogue is stored yet.</Empty>;
  if (Date.parse(at) < Date.parse(knownSince))
    return (
      <Empty>
        Not known: the catalogue is stored since <Moment at={knownSince} />.
      </Empty>
    );
  return <Empty>{isFiltered ? 'No such package was on sale then.' : 'Nothing was on sale then.'}</Empty>;
}
