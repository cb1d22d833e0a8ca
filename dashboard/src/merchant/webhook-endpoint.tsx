import { Button, Code, Group, MultiSelect, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { webhookEndpointEvents } from 'simway-client/generated/api-lists.ts';
import { api, type ApiSchemas, bodyOf } from '../api/client.ts';
import { ModalButton, ConfirmButton } from '../ui/dialogs.tsx';
import { DAY_MS } from '../ui/format.ts';
import { Failed } from '../ui/parts.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { useOnce } from '../ui/use-once.ts';
import { useMembership, useRefresh } from './place.ts';

type Endpoint = ApiSchemas['WebhookEndpoint'];
type EventName = Endpoint['events'][number];

const REASONS = {
  BY_OWNER: 'Disabled by you',
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

/**
 * Adds one endpoint, also where the answer to the first try was lost: the same request then returns it with
 * its secret.
 */
export function NewEndpoint({ onDone }: { readonly onDone: (secret: string) => unknown }) {
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

/** Changes URL and events. */
function Edit({
  endpoint: { id, url, events },
}: {
  readonly endpoint: Pick<Endpoint, 'id' | 'url' | 'events'>;
}) {
  const refresh = useRefresh();
  return (
    <ModalButton label="Edit" title="Edit the endpoint" buttonSize="xs" variant="default">
      {(close) => (
        <EndpointForm
          initialValues={{ url, events: [...events] }}
          submitLabel="Save"
          send={(body) =>
            api.PATCH('/api/webhooks/endpoints/{endpointId}', { params: { path: { endpointId: id } }, body })
          }
          onDone={async () => {
            close();
            await refresh();
          }}
        />
      )}
    </ModalButton>
  );
}

/** For a field of type datetime-local, in the reader's zone. */
const localTime = (ms: number): string =>
  new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

function Recover({ id, url }: { readonly id: string; readonly url: string }) {
  const [from, setFrom] = useState('');
  const refresh = useRefresh();
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
    await refresh();
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

/** An endpoint with what can be done to it. */
export function EndpointCard({
  endpoint: { id, url, events, enabled, disabledReason },
  onSecret,
}: {
  readonly endpoint: Endpoint;
  readonly onSecret: (secret: string) => void;
}) {
  const { may } = useMembership();
  const refresh = useRefresh();
  const [event, setEvent] = useState<EventName>('esim.purchased');
  const path = { params: { path: { endpointId: id } } };
  const acting = useMutation({
    mutationFn: (act: () => Promise<string | undefined>) => act(),
    onSuccess: (message) => message !== undefined && notifications.show({ message }),
    onSettled: () => refresh(),
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
      await refresh();
    },
    remove: async () => {
      await api.DELETE('/api/webhooks/endpoints/{endpointId}', path);
      notifications.show({ message: 'The endpoint is removed.' });
      await refresh();
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
      </Text>
      {!enabled && <Text size="sm">{REASONS[disabledReason ?? '']}</Text>}
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
              No events are sent to <Code>{url}</Code> any more. This cannot be undone.
            </Text>
          </ConfirmButton>
        </Group>
      )}
      {acting.error && <Failed error={acting.error} />}
    </Stack>
  );
}
