import { Accordion, Button, Code, Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { api } from '../api/client.ts';
import type { components } from 'simway-client/generated/api.ts';
import { QueryView, Empty, Failed, Id, Moment, Section, Status, Facts, Page } from '../ui/parts.tsx';
import { useMembership, useRefresh, useRead } from './place.ts';

type Attempt = components['schemas']['WebhookAttempt'];

const LIVE_MS = 3_000;

/** One message: its body, and each attempt with request and response. */
export function WebhookMessagePage() {
  const { messageId } = useParams({ from: '/m/$accountId/$environment/developers/webhooks/$messageId' });
  const { may } = useMembership();
  const refresh = useRefresh();
  const path = { params: { path: { messageId } } };
  const message = useRead('/api/webhooks/messages/{messageId}', path.params, { everyMs: () => LIVE_MS });
  const attempts = useRead('/api/webhooks/messages/{messageId}/attempts', path.params, {
    everyMs: () => LIVE_MS,
  });
  const resending = useMutation({
    mutationFn: () => api.POST('/api/webhooks/messages/{messageId}/resend', path),
    onSuccess: async () => {
      notifications.show({ message: 'Resending.' });
      await refresh();
    },
  });
  return (
    <Page
      title="Webhook message"
      extra={
        may('resend') && (
          <Button onClick={() => resending.mutate()} loading={resending.isPending}>
            Resend
          </Button>
        )
      }
    >
      {resending.error && <Failed error={resending.error} />}
      <QueryView query={message} rows={12}>
        {({ id, eventId, event, status, createdAt, nextAttemptAt, body }) => (
          <>
            <Section title="Message">
              <Facts
                of={{
                  Event: event,
                  Status: <Status>{status}</Status>,
                  Message: <Id>{id}</Id>,
                  'Event id': eventId !== null && <Id>{eventId}</Id>,
                  Created: <Moment at={createdAt} />,
                  'Next attempt': nextAttemptAt !== null && <Moment at={nextAttemptAt} />,
                }}
              />
            </Section>
            <Section title="Body">
              <Code block tabIndex={0}>
                {pretty(body)}
              </Code>
            </Section>
          </>
        )}
      </QueryView>
      <Section title="Attempts">
        <QueryView query={attempts}>
          {({ items }) =>
            items.length === 0 ? <Empty>No attempts yet.</Empty> : <Attempts attempts={items} />
          }
        </QueryView>
      </Section>
    </Page>
  );
}

function Attempts({ attempts }: { readonly attempts: readonly Attempt[] }) {
  return (
    <Accordion order={3} variant="separated">
      {attempts.map((one) => (
        <Accordion.Item key={one.attempt} value={String(one.attempt)}>
          <Accordion.Control>
            <Group gap="sm">
              <Text fw={500}>Attempt {one.attempt}</Text>
              <Text size="sm">{one.status === null ? one.outcome : `HTTP ${String(one.status)}`}</Text>
              <Text size="sm" c="dimmed">
                <Moment at={one.at} />, {one.milliseconds} ms
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <Stack>
              <div>
                <Text size="sm" fw={500}>
                  Request
                </Text>
                <Code block tabIndex={0}>
                  {[
                    `${one.request.method} ${one.request.url}`,
                    ...one.request.headers.map(({ name, value }) => `${name}: ${value}`),
                    '',
                    pretty(one.request.body),
                  ].join('\n')}
                </Code>
              </div>
              <div>
                <Text size="sm" fw={500}>
                  Response
                </Text>
                <Code block tabIndex={0}>
                  {[
                    one.status === null ? one.outcome : `HTTP ${String(one.status)}`,
                    ...(one.answerHeaders ?? []).map(({ name, value }) => `${name}: ${value}`),
                    '',
                    one.answer,
                  ].join('\n')}
                </Code>
              </div>
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
