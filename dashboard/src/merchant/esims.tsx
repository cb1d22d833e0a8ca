import { Group } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { listEsimsStatus } from 'simway-client/generated/api-lists.ts';
import { readApi } from '../api/client.ts';
import type { Search } from '../ui/address.ts';
import { SearchField, ChoiceField } from '../ui/filters.tsx';
import { formatBytes } from '../ui/format.ts';
import { Moment, ShortId, Page, Status } from '../ui/parts.tsx';
import { CursorList } from '../ui/rows.tsx';
import { esimFilters } from './filters.ts';
import { ItemLink } from './item-link.tsx';
import { usePages } from './place.ts';

const FROM = '/m/$accountId/$environment/esims';

export function EsimsPage() {
  const navigate = useNavigate({ from: FROM });
  const filters = useSearch({ from: FROM });
  const { search = '', status } = filters;
  const show = (next: Search) =>
    void navigate({ search: esimFilters({ ...filters, ...next }), replace: true });
  const query = usePages(['esims', { search, status }], async (after) => {
    const { esims, nextCursor } = await readApi('/api/esim/my-esims', {
      query: { limit: 25, search, status, after },
    });
    return { items: esims, nextCursor };
  });
  return (
    <Page title="eSIMs">
      <Group align="end">
        <SearchField
          placeholder="Package, ICCID or transaction"
          w={280}
          value={search}
          onSearch={(text) => show({ search: text })}
        />
        <ChoiceField
          label="Status"
          data={listEsimsStatus}
          value={status}
          onChange={(next) => show({ status: next })}
        />
      </Group>
      <CursorList
        query={query}
        label="eSIMs"
        keyOf={({ _id }) => _id}
        empty={search === '' && !status ? 'No eSIMs yet.' : 'No results.'}
        columns={{
          eSIM: ({ _id: esimId, packageName }) => (
            <ItemLink kind="esim" id={esimId}>
              {packageName}
            </ItemLink>
          ),
          ICCID: ({ iccid }) => (iccid === '' ? '–' : <ShortId>{iccid}</ShortId>),
          Status: ({ esimStatus }) => <EsimStatus>{esimStatus}</EsimStatus>,
          'Data left': {
            number: (one) => `${formatBytes(one.data_usage_remain)} of ${formatBytes(one.totalVolume)}`,
          },
          Bought: ({ createdAt }) => <Moment at={createdAt} />,
        }}
      />
    </Page>
  );
}

const ESIM_COLORS = {
  PENDING: 'yellow',
  CREATED: 'blue',
  ACTIVE: 'green',
  EXPIRED: 'gray',
  FAILED: 'red',
  CANCELLED: 'gray',
  SUSPENDED: 'orange',
} as const;

export const EsimStatus = ({ children }: { readonly children: keyof typeof ESIM_COLORS }) => (
  <Status color={ESIM_COLORS[children]}>{children}</Status>
);
