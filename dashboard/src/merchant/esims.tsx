import { Group, Select, Stack, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../api/client.ts';
import { bodyOf } from 'simway-client';
import { listEsimsStatus } from 'simway-client/generated/api-lists.ts';
import { CursorList } from '../ui/cursor-list.tsx';
import { formatBytes } from '../ui/format.ts';
import { PageLink } from '../ui/page-link.tsx';
import { Moment, PageHead, ShortId } from '../ui/parts.tsx';
import { EsimStatus } from './esim-status.tsx';
import { usePages, usePlace } from './place.ts';

const TYPING_MS = 300;

export function EsimsPage() {
  const place = usePlace();
  const navigate = useNavigate();
  const { search = '', status: named } = useSearch({ from: '/m/$accountId/$environment/esims' });
  const status = listEsimsStatus.find((one) => one === named);
  const [typed, setTyped] = useState(search);
  const show = (next: { readonly search?: string | undefined; readonly status?: string | undefined }) =>
    void navigate({ to: '/m/$accountId/$environment/esims', params: place, search: next, replace: true });
  const showSoon = useDebouncedCallback(
    (text: string) => show({ status, search: text === '' ? undefined : text }),
    TYPING_MS,
  );
  const query = usePages(['esims', { search, status }], async (after) => {
    const { esims, nextCursor } = await bodyOf(
      api.GET('/api/esim/my-esims', {
        params: {
          query: { limit: 25, search, ...(status ? { status } : {}), ...(after === '' ? {} : { after }) },
        },
      }),
    );
    return { items: esims, nextCursor };
  });
  return (
    <Stack>
      <PageHead title="eSIMs" />
      <Group align="end">
        <TextInput
          label="Search"
          placeholder="Package, ICCID or transaction"
          w={280}
          value={typed}
          onChange={({ currentTarget }) => {
            setTyped(currentTarget.value);
            showSoon(currentTarget.value);
          }}
        />
        <Select
          label="Status"
          placeholder="All"
          clearable
          clearButtonProps={{ 'aria-label': 'Show all' }}
          data={[...listEsimsStatus]}
          value={status ?? null}
          onChange={(next) => show({ search: search === '' ? undefined : search, status: next ?? undefined })}
        />
      </Group>
      <CursorList
        query={query}
        label="eSIMs"
        keyOf={({ _id }) => _id}
        empty={search === '' && !status ? 'No eSIMs yet.' : 'No results.'}
        columns={[
          {
            title: 'eSIM',
            cell: ({ _id: esimId, packageName }) => (
              <PageLink to="/m/$accountId/$environment/esims/$esimId" params={{ ...place, esimId }}>
                {packageName}
              </PageLink>
            ),
          },
          { title: 'ICCID', cell: ({ iccid }) => (iccid === '' ? '–' : <ShortId>{iccid}</ShortId>) },
          { title: 'Status', cell: ({ esimStatus }) => <EsimStatus>{esimStatus}</EsimStatus> },
          {
            title: 'Data left',
            isNumber: true,
            cell: (one) => `${formatBytes(one.data_usage_remain)} of ${formatBytes(one.totalVolume)}`,
          },
          { title: 'Bought', cell: ({ createdAt }) => <Moment at={createdAt} /> },
        ]}
      />
    </Stack>
  );
}
