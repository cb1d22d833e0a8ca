import { Code, Group, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { readApi } from '../api/client.ts';
import { PageLink } from '../ui/page-link.tsx';
import { Id, Moment, Page, ShortCode } from '../ui/parts.tsx';
import { CursorList } from '../ui/rows.tsx';
import { usePages } from './place.ts';

const FROM = '/m/$accountId/$environment/developers/requests';

export function RequestsPage() {
  const filters = useSearch({ from: FROM });
  const query = usePages(['requests', filters], (cursor) =>
    readApi('/account/requests', { query: { limit: 50, ...filters, cursor } }),
  );
  return (
    <Page title="API requests" about="The latest requests with an API key. Give our support the request id.">
      {filters.requestId !== undefined && (
        <Group gap="xs">
          <Text size="sm">Requests with the id {filters.requestId} only.</Text>
          <PageLink size="sm" to={FROM}>
            Show all
          </PageLink>
        </Group>
      )}
      <CursorList
        query={query}
        label="API requests"
        keyOf={({ requestId, at }) => `${requestId} ${at}`}
        empty={filters.requestId === undefined ? 'No requests yet.' : 'No such request in the last 7 days.'}
        columns={{
          When: ({ at }) => <Moment at={at} />,
          Request: ({ method, path }) => (
            <Code>
              {method} {path}
            </Code>
          ),
          Response: ({ status, errorCode }) =>
            errorCode === null ? status : `${String(status)} ${errorCode}`,
          Duration: { number: ({ durationMs }) => `${durationMs.toLocaleString()} ms` },
          Key: ({ key }) => <ShortCode>{key}</ShortCode>,
          'Request id': ({ requestId }) => <Id>{requestId}</Id>,
        }}
      />
    </Page>
  );
}
