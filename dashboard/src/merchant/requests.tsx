import { Code, Group, Stack, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { api } from '../api/client.ts';
import { dataOf } from 'simway-client';
import { Id, Moment, PageHead } from '../ui/parts.tsx';
import { CursorList } from '../ui/cursor-list.tsx';
import { defined } from '../ui/address.ts';
import { PageLink } from '../ui/page-link.tsx';
import { usePages, usePlace } from './place.ts';

const FROM = '/m/$accountId/$environment/developers/requests';

export function RequestsPage() {
  const place = usePlace();
  const filters = useSearch({ from: FROM });
  const query = usePages(['requests', filters], async (cursor) => {
    const { items, nextCursor } = await dataOf(
      api.GET('/account/requests', {
        params: { query: { limit: 50, ...defined(filters), ...(cursor === '' ? {} : { cursor }) } },
      }),
    );
    return { items, nextCursor: nextCursor ?? '' };
  });
  return (
    <Stack>
      <PageHead
        title="API requests"
        about="The latest requests with an API key. Give our support the request id."
      />
      {filters.requestId !== undefined && (
        <Group gap="xs">
          <Text size="sm">Requests with the id {filters.requestId} only.</Text>
          <PageLink size="sm" to={FROM} params={place}>
            Show all
          </PageLink>
        </Group>
      )}
      <CursorList
        query={query}
        label="API requests"
        keyOf={({ requestId, at }) => `${requestId} ${at}`}
        empty={filters.requestId === undefined ? 'No requests yet.' : 'No such request in the last 7 days.'}
        columns={[
          { title: 'When', cell: ({ at }) => <Moment at={at} /> },
          {
            title: 'Request',
            cell: ({ method, path }) => (
              <Code>
                {method} {path}
              </Code>
            ),
          },
          {
            title: 'Response',
            cell: ({ status, errorCode }) => (errorCode === null ? status : `${String(status)} ${errorCode}`),
          },
          {
            title: 'Duration',
            isNumber: true,
            cell: ({ durationMs }) => `${durationMs.toLocaleString()} ms`,
          },
          {
            title: 'Key',
            cell: ({ key }) => (
              <Code className="id" title={key}>
                {key}
              </Code>
            ),
          },
          { title: 'Request id', cell: ({ requestId }) => <Id>{requestId}</Id> },
        ]}
      />
    </Stack>
  );
}
