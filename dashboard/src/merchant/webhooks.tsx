import {
  Stack,
  Button,
  Code,
  Group,
  MultiSelect,
  Select,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { webhookEndpointEvents, listWebhookMessagesStatus } from 'simway-client/generated/api-lists.ts';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ModalButton, ConfirmButton } from '../ui/dialogs.tsx';
import { Empty, Section, Page, QuerySection, Failed, Moment, ShortId, Status } from '../ui/parts.tsx';
import { api, type ApiSchemas, bodyOf } from '../api/client.ts';
import { DAY_MS } from '../ui/format.ts';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { useOnce } from '../ui/use-once.ts';
import type { Search } from '../ui/address.ts';
import { ChoiceField } from '../ui/filters.tsx';
import { PagedRows } from '../ui/rows.tsx';
import { Secret } from './keys.tsx';
import { useMembership, useRead } from './place.ts';
import { messageFilters } from './filters.ts';
import { ItemLink } from './item-link.tsx';

function AddEndpoint({ onMade }: { readonly onMade: (secret: string) => void }) {
  const { may } = useMembership();
  if (!may('webhooks')) return null;
  return (
    <ModalButton label="Add an endpoint" title="Add an endpoint">
      {(close) => (
        <NewEndpoint
          onDone={(made) => {
            onMade(made);
            close();
          }}
        />
      )}
    </ModalButton>
  );
}

export function WebhooksPage() {
  const [secret, setSecret] = useState<string>();
  const query = useRead('/api/webhooks/endpoints', {});
  return (
    <Page
      title="Webhooks"
      about="We send events to your server."
      // Here and not in the empty list, which goes away under its dialog once there is an endpoint.
      extra={<AddEndpoint onMade={setSecret} />}
    >
      {secret !== undefined && (
        <Section title="The endpoint’s secret. It is shown once">
          <Secret label="Signing secret" value={secret} />
        </Section>
      )}
      <QuerySection title="Endpoints" query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              No endpoints yet. Add one: your server then learns what becomes of purchases and eSIMs.
            </Empty>
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
      <ReturnHosts />
    </Page>
  );
}

function ReturnHosts() {
  const query = useRead('/account/return-hosts', {});
  return (
    <QuerySection title="Where buyers are sent back to" query={query} rows={2}>
      {({ hosts }) => <ReturnHostsForm hosts={hosts} />}
    </QuerySection>
  );
}

function ReturnHostsForm({ hosts }: { readonly hosts: readonly string[] }) {
  const { may } = useMembership();
  const form = useForm({ initialValues: { hosts: [...hosts] } });
  const sending = useSending(
    form,
    (body) => api.PUT('/account/return-hosts', { body }),
    () => notifications.show({ message: 'Saved.' }),
  );
  if (!may('webhooks')) return <Text size="sm">{hosts.length === 0 ? 'Nowhere.' : hosts.join(', ')}</Text>;
  return (
    <SendForm sending={sending} label="Save" at="flex-start" button={{ variant: 'default' }}>
      <TagsInput
        label="Hosts"
        description="Where the page after a checkout may lead back to, such as shop.example.com. Press Enter after each"
        maxTags={20}
        {...form.getInputProps('hosts')}
      />
    </SendForm>
  );
}

type Endpoint = ApiSchemas['WebhookEndpoint'];
type EventName = Endpoint['events'][number];

const REASONS = {
  BY_OWNER: 'Disabled by a member of the account',
  GONE: 'Disabled: the server answered 410 Gone',
  FAILING: 'Disabled after 5 days of failures',
  '': '',
} as const;

const MAX_DAYS_BACK = 14;

type EndpointFields = { readonly url: string; readonly events: EventName[] };

function EndpointForm<Result>({
  initialValues,
  submitLabel,
  send,
  onDone,
}: {
  readonly initialValues: EndpointFields;
  readonly submitLabel: string;
  readonly send: (fields: EndpointFields) => Promise<Result>;
  readonly onDone: (result: Result) => unknown;
}) {
  const form = useForm({ initialValues });
  const sending = useSending(form, send, onDone);
  return (
    <SendForm sending={sending} label={submitLabel} at="flex-end">
      <TextInput
        label="URL"
        placeholder="https://"
        type="url"
        required
        data-autofocus
        {...form.getInputProps('url')}
      />
      <MultiSelect
        label="Events"
        data={[...webhookEndpointEvents]}
        required
        {...form.getInputProps('events')}
      />
    </SendForm>
  );
}

/** If the answer to the first try was lost, the same request returns the endpoint with its secret. */
function NewEndpoint({ onDone }: { readonly onDone: (secret: string) => unknown }) {
  const once = useOnce<EndpointFields>();
  return (
    <EndpointForm
      initialValues={{ url: '', events: ['esim.purchased'] }}
      submitLabel="Add the endpoint"
      send={async (fields) => {
        const { secret } = await once.send(fields, (key, body) =>
          bodyOf(
            api.POST('/api/webhooks/endpoints', { params: { header: { 'Idempotency-Key': key } }, body }),
          ),
        );
        return secret;
      }}
      onDone={onDone}
    />
  );
}

function Edit({
  endpoint: { id, url, events },
}: {
  readonly endpoint: Pick<Endpoint, 'id' | 'url' | 'events'>;
}) {
  return (
    <ModalButton label="Edit" title="Edit the endpoint" buttonSize="xs" variant="default">
      {(close) => (
        <EndpointForm
          initialValues={{ url, events: [...events] }}
          submitLabel="Save"
          send={(body) =>
            api.PATCH('/api/webhooks/endpoints/{endpointId}', { params: { path: { endpointId: id } }, body })
          }
          onDone={close}
        />
      )}
    </ModalButton>
  );
}

const localTime = (ms: number): string =>
  new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

function Recover({ id, url }: { readonly id: string; readonly url: string }) {
  const [from, setFrom] = useState('');
  const recover = async () => {
    const { recovered } = await bodyOf(
      api.POST('/api/webhooks/endpoints/{endpointId}/recover', {
        params: { path: { endpointId: id } },
        body: { from: new Date(from).toISOString() },
      }),
    );
    notifications.show({
      message:
        recovered === 1
          ? '1 failed message is being resent.'
          : `${String(recovered)} failed messages are being resent.`,
    });
  };
  return (
    <ConfirmButton
      label="Resend failures"
      buttonProps={{ variant: 'default', color: 'blue' }}
      onOpen={() => setFrom(localTime(Date.now() - DAY_MS))}
      title="Resend failed messages"
      confirmLabel="Resend"
      color="blue"
      act={recover}
    >
      <Stack>
        <Text size="sm">
          Messages to <Code>{url}</Code> that failed are sent again.
        </Text>
        <TextInput
          label="Created since"
          description={`At most ${String(MAX_DAYS_BACK)} days ago`}
          type="datetime-local"
          min={localTime(Date.now() - MAX_DAYS_BACK * DAY_MS)}
          max={localTime(Date.now())}
          value={from}
          onChange={({ currentTarget }) => setFrom(currentTarget.value)}
        />
      </Stack>
    </ConfirmButton>
  );
}

function EndpointCard({
  endpoint: { id, url, events, enabled, disabledReason, failingSince, createdBy },
  onSecret,
}: {
  readonly endpoint: Endpoint;
  readonly onSecret: (secret: string) => void;
}) {
  const { may } = useMembership();
  const [event, setEvent] = useState<EventName>('esim.purchased');
  const path = { params: { path: { endpointId: id } } };
  const acting = useMutation({
    mutationFn: (act: () => Promise<string | undefined>) => act(),
    onSuccess: (message) => message !== undefined && notifications.show({ message }),
  });
  const actions = {
    enable: async () => {
      await api.PATCH('/api/webhooks/endpoints/{endpointId}', { ...path, body: { enabled: !enabled } });
      return undefined;
    },
    sample: async () => {
      await api.POST('/api/webhooks/endpoints/{endpointId}/sample', { ...path, body: { event } });
      return 'The sample is being sent.';
    },
    rotate: async () => {
      onSecret((await bodyOf(api.POST('/api/webhooks/endpoints/{endpointId}/rotate-secret', path))).secret);
    },
    remove: async () => {
      await api.DELETE('/api/webhooks/endpoints/{endpointId}', path);
      notifications.show({ message: 'The endpoint is removed.' });
    },
  };
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Code className="breakable">{url}</Code>
        <Switch
          label={enabled ? 'Enabled' : 'Disabled'}
          checked={enabled}
          disabled={!may('webhooks') || acting.isPending}
          onChange={() => acting.mutate(actions.enable)}
        />
      </Group>
      <Text size="sm" c="dimmed">
        {events.join(', ')}
        {createdBy !== '' && <>; made by {createdBy}</>}
      </Text>
      {!enabled && <Text size="sm">{REASONS[disabledReason ?? '']}</Text>}
      {enabled && failingSince !== null && (
        <Text size="sm" c="red" role="status">
          Fails since <Moment at={failingSince} />. It is disabled after 5 days of failures.
        </Text>
      )}
      {may('webhooks') && (
        <Group gap="xs" align="end">
          <Select
            size="xs"
            label="Sample of"
            allowDeselect={false}
            data={[...webhookEndpointEvents]}
            value={event}
            onChange={(next) => setEvent(webhookEndpointEvents.find((one) => one === next) ?? event)}
          />
          <Button size="xs" variant="default" onClick={() => acting.mutate(actions.sample)}>
            Send a sample
          </Button>
          <Edit endpoint={{ id, url, events }} />
          <Recover id={id} url={url} />
          <ConfirmButton
            label="New secret"
            buttonProps={{ variant: 'default', color: 'blue' }}
            title="Create a new secret"
            confirmLabel="Create the new secret"
            act={actions.rotate}
          >
            <Text size="sm">
              Messages to <Code>{url}</Code> are signed with both secrets for 24 hours, then only with the new
              one. Replace it on your server before then.
            </Text>
          </ConfirmButton>
          <ConfirmButton
            label="Remove"
            title="Remove the endpoint"
            confirmLabel="Remove the endpoint"
            act={actions.remove}
          >
            <Text size="sm">
              This endpoint sends no events to <Code>{url}</Code> any more. Other endpoints with this URL go
              on. This cannot be undone.
            </Text>
          </ConfirmButton>
        </Group>
      )}
      {acting.error && <Failed error={acting.error} />}
    </Stack>
  );
}

const MESSAGES_LIVE_MS = 5_000;

type Endpoints = readonly ApiSchemas['WebhookEndpoint'][];

function EndpointName({ id, endpoints }: { readonly id: string; readonly endpoints: Endpoints }) {
  const endpoint = endpoints.find((one) => one.id === id);
  return endpoint ? <span className="breakable">{endpoint.url}</span> : <ShortId>{id}</ShortId>;
}

const FROM = '/m/$accountId/$environment/developers/webhooks';

function Messages({ endpoints }: { readonly endpoints: Endpoints }) {
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
    { everyMs: () => MESSAGES_LIVE_MS, keepsOld: true },
  );
  const { status, endpointId } = filters;
  return (
    <Section title="Messages">
      <Stack>
        <Group align="end" className="filters">
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
          empty={
            status || endpointId
              ? 'No results.'
              : endpoints.length === 0
                ? 'No messages yet. Each event is sent to your endpoints: add one above.'
                : 'No messages yet. The next event is listed here.'
          }
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
