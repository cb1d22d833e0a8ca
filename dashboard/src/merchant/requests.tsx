import { Code, Stack } from '@mantine/core';
import { api } from '../api/client.ts';
import { dataOf } from '../api/data-of.ts';
import { Id, Moment, PageHead } from '../ui/parts.tsx';
import { CursorList } from '../ui/cursor-list.tsx';
import { usePages } from './place.ts';

export function RequestsPage() {
  const query = usePages(['requests'], async (cursor) => {
    const { items, nextCursor } = await dataOf(
      api.GET('/account/requests', {
        params: { query: { limit: 50, ...(cursor === '' ? {} : { cursor }) } },
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
      <CursorList
        query={query}
        label="API requests"
        keyOf={({ requestId, at }) => `${requestId} ${at}`}
        empty="No requests yet."
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
          { title: 'Key', cell: ({ keyId }) => keyId },
          { title: 'Request id', cell: ({ requestId }) => <Id>{requestId}</Id> },
        ]}
      />
    </Stack>
  );
}
