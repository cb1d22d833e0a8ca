import { Accordion, Button, Code, Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { ATTEMPT_OUTCOMES, wordOf } from '../ui/words.ts';
import { api, type ApiSchemas } from '../api/client.ts';
import {
  QueryView,
  Empty,
  Failed,
  Id,
  Moment,
  Section,
  Status,
  Facts,
  Page,
  QuerySection,
} from '../ui/parts.tsx';
import { NoInstallDetails } from './buy.tsx';
import { useMembership, useRead } from './place.ts';

type Attempt = ApiSchemas['WebhookAttempt'];

const LIVE_MS = 3_000;

export function WebhookMessagePage() {
  const { messageId } = useParams({ from: '/m/$accountId/$environment/developers/webhooks/$messageId' });
  const { may } = useMembership();
  const path = { params: { path: { messageId } } };
  const message = useRead('/api/webhooks/messages/{messageId}', path.params, { everyMs: () => LIVE_MS });
  const attempts = useRead('/api/webhooks/messages/{messageId}/attempts', path.params, {
    everyMs: () => LIVE_MS,
  });
  const resending = useMutation({
    mutationFn: () => api.POST('/api/webhooks/messages/{messageId}/resend', path),
    onSuccess: () => notifications.show({ message: 'Resending.' }),
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
              {!may('install') && body.includes('"qrCodeUrl":""') && <NoInstallDetails />}
            </Section>
          </>
        )}
      </QueryView>
      <QuerySection title="Attempts" query={attempts}>
        {({ items }) =>
          items.length === 0 ? <Empty>No attempts yet.</Empty> : <Attempts attempts={items} />
        }
      </QuerySection>
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
              <Text size="sm">{outcomeOf(one)}</Text>
              <Text size="sm" c="dimmed">
                <Moment at={one.at} />, {one.milliseconds} ms
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <Stack>
              <Side title="Request" of={one.request.headers} body={pretty(one.request.body)}>
                {`${one.request.method} ${one.request.url}`}
              </Side>
              <Side title="Response" of={one.answerHeaders ?? []} body={one.answer}>
                {outcomeOf(one)}
              </Side>
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

const outcomeOf = ({ status, outcome }: Attempt): string =>
  status === null ? wordOf(ATTEMPT_OUTCOMES, outcome) : `HTTP ${String(status)}`;

/** A request or a response: `children` is its first line. */
function Side({
  title,
  of: headers,
  body,
  children,
}: {
  readonly title: string;
  readonly of: Attempt['request']['headers'];
  readonly body: string;
  readonly children: string;
}) {
  return (
    <div>
      <Text size="sm" fw={500}>
        {title}
      </Text>
      <Code block tabIndex={0}>
        {[children, ...headers.map(({ name, value }) => `${name}: ${value}`), '', body].join('\n')}
      </Code>
    </div>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
