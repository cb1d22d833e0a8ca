import {
  Alert,
  Badge,
  Button,
  Group,
  MultiSelect,
  NativeSelect,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ops, dataOf } from '../api/client.ts';
import { ConfirmButton } from '../ui/dialogs.tsx';
import { Moment, Page, QueryView, Section, ShortCode } from '../ui/parts.tsx';
import { PagedRows, Rows } from '../ui/rows.tsx';
import { useSending } from '../ui/send-form.tsx';
import { BalanceFacts } from './balance-facts.tsx';
import { FormDialog, type Dialog } from './form-dialog.tsx';
import {
  inPath,
  LIVE,
  useEnvironment,
  useOperator,
  useOps,
  type AlertChannel,
  type Availability,
  type ListedAlert,
} from './place.ts';
import { ALERTS, SHORTAGES } from './words.ts';

const FROM = '/operators/$environment/alerts';

export function AlertsPage() {
  const availability = useOps('/ops/availability', {}, LIVE);
  return (
    <Page title="Alerts" about="What is wrong, who is told, and what can be delivered.">
      <OpenAlerts />
      <QueryView query={availability} rows={4}>
        {({ balances, shortages }) => (
          <>
            <Balances of={balances} />
            <Shortages of={shortages} />
          </>
        )}
      </QueryView>
      <Channels />
      <ClosedAlerts />
    </Page>
  );
}

const SEVERITY_COLORS = { warning: 'yellow', critical: 'red' } as const;

const Severity = ({ of }: { readonly of: ListedAlert['severity'] }) => (
  <Badge variant="light" color={SEVERITY_COLORS[of]}>
    {of}
  </Badge>
);

const ALERT_COLUMNS = {
  Alert: ({ title, subject }: ListedAlert) => (subject === '' ? title : `${title}: ${subject}`),
  Severity: ({ severity }: ListedAlert) => <Severity of={severity} />,
  Detail: ({ detail }: ListedAlert) => detail,
  Since: ({ openedAt }: ListedAlert) => <Moment at={openedAt} />,
};

function OpenAlerts() {
  const open = useOps('/ops/alerts', { query: { status: 'open', limit: 100 } }, LIVE);
  return (
    <Section title="Open">
      <QueryView query={open} rows={3}>
        {({ items }) => (
          <Rows
            label="Open alerts"
            empty="Nothing is wrong."
            keyOf={({ id }) => id}
            rows={items}
            columns={ALERT_COLUMNS}
          />
        )}
      </QueryView>
    </Section>
  );
}

function ClosedAlerts() {
  const { page = 1 } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const closed = useOps('/ops/alerts', { query: { status: 'closed', page } }, { keepsOld: true });
  return (
    <Section title="Closed">
      <PagedRows
        query={closed}
        onPage={(next) => void navigate({ search: { page: next } })}
        label="Closed alerts"
        empty="No alert was closed in the last 90 days."
        keyOf={({ id }) => id}
        columns={{
          ...ALERT_COLUMNS,
          Until: ({ closedAt }) => (closedAt === null ? '–' : <Moment at={closedAt} />),
        }}
      />
    </Section>
  );
}

function Balances({ of }: { readonly of: Availability['balances'] }) {
  const environment = useEnvironment();
  const form = useForm({ initialValues: {} });
  const checking = useSending(form, async () => {
    await dataOf(ops.POST('/ops/availability/check', { params: { query: { environment } } }));
    notifications.show({ message: 'The balance was read', color: 'green' });
  });
  const check = (
    <Button size="xs" variant="default" loading={checking.isSending} onClick={() => checking.submit()}>
      Check now
    </Button>
  );
  return (
    <Section title="Balance at the supplier" extra={check}>
      {checking.failure && <Alert color="red">{checking.failure.message}</Alert>}
      {of.length === 0 && <Text size="sm">It was not read yet.</Text>}
      {of.map((balance) => (
        <BalanceFacts key={balance.supplier} of={balance} />
      ))}
    </Section>
  );
}

function Shortages({ of }: { readonly of: Availability['shortages'] }) {
  const environment = useEnvironment();
  const { may } = useOperator();
  if (of.length === 0) return null;
  const sellAgain = (packageCode: string) => () =>
    ops.DELETE('/ops/availability/shortages/{packageCode}', inPath(environment, { packageCode }));
  return (
    <Section title="Not sold now">
      <Text size="sm" mb="xs">
        The supplier has refused these packages. Merchants read PACKAGE_UNAVAILABLE before a buyer pays. A
        purchase from a wallet tries each now and then: it fails free of charge.
      </Text>
      <Rows
        label="Packages that are not sold"
        keyOf={({ packageCode }) => packageCode}
        rows={of}
        columns={{
          Package: ({ name, packageCode }) => (
            <>
              {name} <ShortCode>{packageCode}</ShortCode>
            </>
          ),
          Reason: ({ reason }) => SHORTAGES[reason],
          Since: ({ since }) => <Moment at={since} />,
          Refusals: { number: ({ refusals }) => refusals },
          'Next try': ({ probeAt }) => <Moment at={probeAt} />,
          ...(may('replay') && {
            Decide: ({ packageCode, name }: Availability['shortages'][number]) => (
              <ConfirmButton
                label="Sell again"
                title={`Sell ${name} again`}
                confirmLabel="Sell again"
                color="blue"
                buttonProps={{ color: 'blue', 'aria-label': `Sell ${name} again` }}
                act={sellAgain(packageCode)}
              >
                Do this if the supplier says that it delivers the package. If it does not, the next buyer is
                refunded.
              </ConfirmButton>
            ),
          }),
        }}
      />
    </Section>
  );
}

function Channels() {
  const environment = useEnvironment();
  const { may } = useOperator();
  const channels = useOps('/ops/alert-channels', {}, LIVE);
  const [adding, setAdding] = useState(false);
  const test = async (channelId: string) => {
    await ops.POST('/ops/alert-channels/{channelId}/test', inPath(environment, { channelId }));
    notifications.show({ message: 'A test message is sent within a minute', color: 'green' });
  };
  const add = may('alerts') && (
    <Button size="xs" onClick={() => setAdding(true)}>
      Add a channel
    </Button>
  );
  return (
    <Section title="Who is told" extra={add}>
      <QueryView query={channels} rows={2}>
        {({ items }) => (
          <Rows
            label="Channels"
            empty={
              may('alerts')
                ? 'Nobody is told: add a channel.'
                : 'Nobody is told. An administrator adds channels.'
            }
            keyOf={({ id }) => id}
            rows={items}
            columns={{
              To: ({ kind, shown }) => (
                <span className="breakable">{kind === 'MAIL' ? shown : `Chat at ${shown}`}</span>
              ),
              From: ({ minSeverity }) => <Severity of={minSeverity} />,
              About: ({ kinds }) =>
                kinds.length === 0 ? 'Everything' : kinds.map((one) => ALERTS[one]).join(', '),
              'Last sent': ({ lastSentAt, failure }) => <LastSent at={lastSentAt} failure={failure} />,
              ...(may('alerts') && {
                Change: (channel: AlertChannel) => <ChannelButtons of={channel} test={test} />,
              }),
            }}
          />
        )}
      </QueryView>
      {adding && <AddChannel onClose={() => setAdding(false)} />}
    </Section>
  );
}

function LastSent({ at, failure }: { readonly at: string | null; readonly failure: string | null }) {
  return (
    <Stack gap={2}>
      {at === null ? 'Never' : <Moment at={at} />}
      {failure !== null && (
        <Text size="sm" c="red">
          Not sent yet: {failure}
        </Text>
      )}
    </Stack>
  );
}

function ChannelButtons({
  of: { id, shown },
  test,
}: {
  readonly of: AlertChannel;
  readonly test: (channelId: string) => Promise<void>;
}) {
  const environment = useEnvironment();
  return (
    <Group gap="xs">
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => void test(id)}
        aria-label={`Send a test to ${shown}`}
      >
        Send a test
      </Button>
      <ConfirmButton
        label="Remove"
        title={`Remove ${shown}`}
        confirmLabel="Remove"
        buttonProps={{ size: 'compact-xs', 'aria-label': `Remove ${shown}` }}
        act={() => ops.DELETE('/ops/alert-channels/{channelId}', inPath(environment, { channelId: id }))}
      >
        Nothing is sent there any more.
      </ConfirmButton>
    </Group>
  );
}

const KINDS = Object.entries(ALERTS).map(([value, label]) => ({ value, label }));

interface ChannelFields extends Record<string, unknown> {
  kind: AlertChannel['kind'];
  address: string;
  minSeverity: AlertChannel['minSeverity'];
  kinds: AlertChannel['kinds'];
}

function AddChannel({ onClose }: Dialog) {
  const environment = useEnvironment();
  const form = useForm<ChannelFields>({
    initialValues: { kind: 'MAIL', address: '', minSeverity: 'warning', kinds: [] },
    validate: { address: (address) => (address.trim() === '' ? 'Required' : null) },
  });
  const { kind } = form.getValues();
  const sending = useSending(
    form,
    async ({ address, ...body }) => {
      await ops.POST('/ops/alert-channels', {
        params: { query: { environment } },
        body: { ...body, address: address.trim() },
      });
      notifications.show({ message: 'Added. Send a test message', color: 'green' });
    },
    onClose,
  );
  return (
    <FormDialog title="Add a channel" label="Add" onClose={onClose} sending={sending}>
      <NativeSelect
        label="Kind"
        data={[
          { value: 'MAIL', label: 'E-mail to an operator' },
          { value: 'WEBHOOK', label: 'Chat (incoming webhook in Slack’s form)' },
        ]}
        {...form.getInputProps('kind')}
      />
      <TextInput
        label={kind === 'MAIL' ? 'E-mail address' : 'URL of the webhook'}
        description={kind === 'MAIL' ? 'Of an operator' : 'Kept sealed and never shown again'}
        required
        data-autofocus
        {...form.getInputProps('address')}
      />
      <NativeSelect
        label="Severity"
        data={[
          { value: 'warning', label: 'Warnings and critical alerts' },
          { value: 'critical', label: 'Critical alerts only' },
        ]}
        {...form.getInputProps('minSeverity')}
      />
      <MultiSelect
        label="About"
        placeholder="Everything"
        data={KINDS}
        clearable
        {...form.getInputProps('kinds')}
      />
    </FormDialog>
  );
}
