import { Stack } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api/client.ts';
import { dataOf } from 'simway-client';
import { ModalButton } from '../ui/modal-button.tsx';
import { QueryView, Empty, PageHead, Section } from '../ui/parts.tsx';
import { Secret } from './keys.tsx';
import { useAccountQuery, useMembership, useRefresh } from './place.ts';
import { EndpointCard, NewEndpoint } from './webhook-endpoint.tsx';
import { Messages } from './webhook-messages.tsx';

export function WebhooksPage() {
  const { may } = useMembership();
  const [secret, setSecret] = useState<string>();
  const refresh = useRefresh();
  const query = useAccountQuery(['webhooks', 'endpoints'], () => dataOf(api.GET('/api/webhooks/endpoints')));
  return (
    <Stack>
      <PageHead title="Webhooks" about="We send events to your server.">
        {may('webhooks') && (
          <ModalButton label="Add an endpoint" title="Add an endpoint">
            {(close) => (
              <NewEndpoint
                onDone={async (made) => {
                  setSecret(made);
                  close();
                  await refresh('webhooks');
                }}
              />
            )}
          </ModalButton>
        )}
      </PageHead>
      {secret !== undefined && (
        <Section title="The endpoint’s secret. It is shown once">
          <Secret label="Signing secret" value={secret} />
        </Section>
      )}
      <Section title="Endpoints">
        <QueryView query={query}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty>No endpoints yet.</Empty>
            ) : (
              <Stack>
                {items.map((endpoint) => (
                  <EndpointCard key={endpoint.id} endpoint={endpoint} onSecret={setSecret} />
                ))}
              </Stack>
            )
          }
        </QueryView>
      </Section>
      <Messages endpoints={query.data?.items ?? []} />
    </Stack>
  );
}
