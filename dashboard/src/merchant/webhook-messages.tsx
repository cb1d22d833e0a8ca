import { Group, Stack } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { listWebhookMessagesStatus } from 'simway-client/generated/api-lists.ts';
import type { ApiSchemas } from '../api/client.ts';
import type { Search } from '../ui/address.ts';
import { ChoiceField } from '../ui/filters.tsx';
import { Moment, Section, ShortId, Status } from '../ui/parts.tsx';
import { PagedRows } from '../ui/rows.tsx';
import { messageFilters } from './filters.ts';
import { ItemLink } from './item-link.tsx';
import { useRead } from './place.ts';

const LIVE_MS = 5_000;

type Endpoints = readonly ApiSchemas['WebhookEndpoint'][];

/** The URL of the endpoint, or its id if it was removed. */
function EndpointName({ id, endpoints }: { readonly id: string; readonly endpoints: Endpoints }) {
  const endpoint = endpoints.find((one) => one.id === id);
  return endpoint ? <span className="breakable">{endpoint.url}</span> : <ShortId>{id}</ShortId>;
}

const FROM = '/m/$accountId/$environment/developers/webhooks';

/** The messages to all endpoints, or to one. The filters are in the address. */
export function Messages({ endpoints }: { readonly endpoints: Endpoints }) {
  const navigate = useNavigate({ from: FROM });
  const [page, setPage] = useState(1);
  const filters = useSearch({ from: FROM });
  const show = (next: Search) => {
    setPage(1);
    void navigate({ search: messageFilters(next), replace: true });
  };
  const query = useRead(
    '/api/webhooks/messages',
    { query: { page, limit: 20, ...filters } },
    { everyMs: () => LIVE_MS, keepsOld: true },
  );
  const { status, endpointId } = filters;
  return (
    <Section title="Messages">
      <Stack>
        <Group align="end">
          <ChoiceField
            label="Status"
            data={listWebhookMessagesStatus}
            value={status}
            onChange={(next) => show({ endpointId, status: next })}
          />
          <ChoiceField
            label="Endpoint"
            data={Object.fromEntries(endpoints.map(({ id, url }) => [id, url]))}
            value={endpointId}
            onChange={(next) => show({ status, endpointId: next })}
          />
        </Group>
        <PagedRows
          label="Messages"
          query={query}
          onPage={setPage}
          keyOf={({ id }) => id}
          empty="No messages."
          columns={{
            When: ({ createdAt }) => <Moment at={createdAt} />,
            Event: ({ id, event }) => (
              <ItemLink kind="message" id={id}>
                {event}
              </ItemLink>
            ),
            Endpoint: ({ endpointId: id }) => <EndpointName id={id} endpoints={endpoints} />,
            Status: (one) => <Status>{one.status}</Status>,
            Attempts: { number: ({ attempts }) => attempts },
            Next: ({ nextAttemptAt }) => <Moment at={nextAttemptAt} />,
          }}
        />
      </Stack>
    </Section>
  );
}
