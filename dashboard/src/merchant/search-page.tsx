import { Stack, Text } from '@mantine/core';
import { Navigate, useSearch, type LinkProps } from '@tanstack/react-router';
import { api } from '../api/client.ts';
import { dataOf } from '../api/data-of.ts';
import type { components } from '../api/generated/api.ts';
import { PageLink } from '../ui/page-link.tsx';
import { Empty, Id, PageHead, QueryView, Status } from '../ui/parts.tsx';
import { Rows } from '../ui/rows.tsx';
import { useAccountQuery, usePlace } from './place.ts';

type Found = components['schemas']['FoundItem'];

const KINDS: Readonly<Record<Found['kind'], string>> = {
  purchase: 'Purchase',
  funding: 'Funding',
  esim: 'eSIM',
  batch: 'Batch',
  message: 'Webhook message',
};

/** What an id or an ICCID leads to. A single result opens at once. */
export function SearchPage() {
  const { text } = useSearch({ from: '/m/$accountId/$world/search' });
  return (
    <Stack>
      <PageHead title="Search" />
      {text === undefined ? <Empty>Type an id into the search box above.</Empty> : <Results text={text} />}
    </Stack>
  );
}

function Results({ text }: { readonly text: string }) {
  const place = usePlace();
  const query = useAccountQuery(['search', text], () =>
    dataOf(api.GET('/api/search', { params: { query: { text } } })),
  );
  return (
    <QueryView query={query}>
      {({ items }) => {
        const [only, ...more] = items;
        if (!only) return <Nothing text={text} />;
        if (more.length === 0) return <Navigate {...pageOf(only, place)} replace />;
        return (
          <Rows
            label="Found"
            rows={items}
            keyOf={({ kind, id }) => `${kind} ${id}`}
            columns={[
              { title: 'Kind', cell: ({ kind }) => KINDS[kind] },
              { title: 'What', cell: (item) => <PageLink {...pageOf(item, place)}>{item.title}</PageLink> },
              { title: 'Status', cell: ({ status }) => <Status>{status === '' ? null : status}</Status> },
              { title: 'Id', cell: ({ id }) => <Id>{id}</Id> },
            ]}
          />
        );
      }}
    </QueryView>
  );
}

function pageOf({ kind, id }: Found, place: ReturnType<typeof usePlace>): Pick<LinkProps, 'to' | 'params'> {
  switch (kind) {
    case 'esim':
      return { to: '/m/$accountId/$world/esims/$esimId', params: { ...place, esimId: id } };
    case 'batch':
      return { to: '/m/$accountId/$world/batches/$batchId', params: { ...place, batchId: id } };
    case 'message':
      return {
        to: '/m/$accountId/$world/developers/webhooks/$messageId',
        params: { ...place, messageId: id },
      };
    default:
      return { to: '/m/$accountId/$world/purchases/$transactionId', params: { ...place, transactionId: id } };
  }
}

function Nothing({ text }: { readonly text: string }) {
  const { world } = usePlace();
  return (
    <div role="status">
      <Empty>
        No result for “{text}” in the {world} world.
      </Empty>
      <Text ta="center" size="sm">
        The box takes complete ids of purchases, fundings, eSIMs, batches, webhook messages, events and API
        requests that bought something, and ICCIDs.
      </Text>
    </div>
  );
}
