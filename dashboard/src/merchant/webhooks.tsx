import { Stack } from '@mantine/core';
import { useState } from 'react';
import { ModalButton } from '../ui/dialogs.tsx';
import { Empty, Section, Page, QuerySection } from '../ui/parts.tsx';
import { Secret } from './keys.tsx';
import { useMembership, useRefresh, useRead } from './place.ts';
import { EndpointCard, NewEndpoint } from './webhook-endpoint.tsx';
import { Messages } from './webhook-messages.tsx';

export function WebhooksPage() {
  const { may } = useMembership();
  const [secret, setSecret] = useState<string>();
  const refresh = useRefresh();
  const query = useRead('/api/webhooks/endpoints', {});
  return (
    <Page
      title="Webhooks"
      about="We send events to your server."
      extra={
        may('webhooks') && (
          <ModalButton label="Add an endpoint" title="Add an endpoint">
            {(close) => (
              <NewEndpoint
                onDone={async (made) => {
                  setSecret(made);
                  close();
                  await refresh();
                }}
              />
            )}
          </ModalButton>
        )
      }
    >
      {secret !== undefined && (
        <Section title="The endpoint’s secret. It is shown once">
          <Secret label="Signing secret" value={secret} />
        </Section>
      )}
      <QuerySection title="Endpoints" query={query}>
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
      </QuerySection>
      <Messages endpoints={query.data?.items ?? []} />
    </Page>
  );
}
