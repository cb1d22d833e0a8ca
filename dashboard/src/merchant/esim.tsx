import {
  Alert,
  Box,
  Button,
  Group,
  RingProgress,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Timeline,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { useParams, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { listEsimsStatus } from 'simway-client/generated/api-lists.ts';
import { WIDTHS } from '../app/theme.ts';
import { api, readApi, type ApiSchemas } from '../api/client.ts';
import { ConfirmButton } from '../ui/dialogs.tsx';
import { DAY_MS, formatAmount, formatBytes } from '../ui/format.ts';
import {
  Amount,
  QueryView,
  Empty,
  Failed,
  Id,
  Moment,
  PageHead,
  Section,
  Facts,
  QuerySection,
  ShortId,
  Page,
  Status,
} from '../ui/parts.tsx';
import type { Search } from '../ui/address.ts';
import { SearchField, ChoiceField } from '../ui/filters.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { readNumber } from '../ui/numbers.ts';
import { CursorList } from '../ui/rows.tsx';
import { Install, NoInstallDetails, Purchase } from './buy.tsx';
import { ItemLink } from './item-link.tsx';
import { ReplacementSection } from './replacements.tsx';
import { ReturnSection } from './returns.tsx';
import { useMembership, usePlace, useRead, useReads, usePages } from './place.ts';
import { ENDING_DAYS, esimFilters } from './filters.ts';
import { ToCatalogue } from './to-catalogue.tsx';

const FROM = '/m/$accountId/$environment/esims';

export function EsimsPage() {
  const navigate = useNavigate({ from: FROM });
  const filters = useSearch({ from: FROM });
  const { search = '', status, ends } = filters;
  const [now] = useState(() => Date.now());
  const show = (next: Search) =>
    void navigate({ search: esimFilters({ ...filters, ...next }), replace: true });
  const expiresBefore = ends && new Date(now + Number(ends) * DAY_MS).toISOString();
  const query = usePages(['esims', { search, status, expiresBefore }], async (after) => {
    const { esims, nextCursor } = await readApi('/api/esim/my-esims', {
      query: { limit: 25, search, status, expiresBefore, after },
    });
    return { items: esims, nextCursor };
  });
  return (
    <Page title="eSIMs">
      <Group align="end" className="filters">
        <SearchField
          placeholder="Package, ICCID or transaction"
          w={WIDTHS.choice}
          value={search}
          onSearch={(text) => show({ search: text })}
        />
        <ChoiceField
          label="Status"
          data={listEsimsStatus}
          value={status}
          onChange={(next) => show({ status: next })}
        />
        <ChoiceField
          label="Expires"
          data={ENDING_DAYS}
          value={ends}
          onChange={(next) => show({ ends: next })}
        />
      </Group>
      <CursorList
        query={query}
        label="eSIMs"
        {...(search === '' && !status && !ends
          ? { empty: 'No eSIMs yet. Each that you buy is listed here.', emptyAction: <ToCatalogue /> }
          : { empty: 'No results.' })}
        columns={{
          eSIM: ({ _id: esimId, packageName }) => (
            <ItemLink kind="esim" id={esimId}>
              {packageName}
            </ItemLink>
          ),
          ICCID: ({ iccid }) => (iccid === '' ? '–' : <ShortId>{iccid}</ShortId>),
          Status: ({ esimStatus }) => <EsimStatus>{esimStatus}</EsimStatus>,
          'Data left': {
            number: (one) =>
              hasData(one) ? `${formatBytes(one.data_usage_remain)} of ${formatBytes(one.totalVolume)}` : '–',
          },
          Expires: ({ expiredTime }) => <Moment at={expiredTime === '' ? null : expiredTime} />,
          Bought: ({ createdAt }) => <Moment at={createdAt} />,
        }}
      />
    </Page>
  );
}

const ESIM_COLORS = {
  PENDING: 'yellow',
  CREATED: 'blue',
  ACTIVE: 'green',
  EXPIRED: 'gray',
  FAILED: 'red',
  CANCELLED: 'gray',
  SUSPENDED: 'orange',
} as const;

const EsimStatus = ({ children }: { readonly children: keyof typeof ESIM_COLORS }) => (
  <Status color={ESIM_COLORS[children]}>{children}</Status>
);

type Esim = ApiSchemas['Esim'];

const isDelivered = ({ esimStatus }: Pick<Esim, 'esimStatus'>): boolean =>
  esimStatus !== 'PENDING' && esimStatus !== 'FAILED';

/** Before there is a profile nothing can be left on it, nor once it is cancelled or deleted. */
const hasData = (esim: Pick<Esim, 'esimStatus'> & Partial<Pick<Esim, 'smdpStatus'>>): boolean =>
  isDelivered(esim) && esim.esimStatus !== 'CANCELLED' && esim.smdpStatus !== 'DELETED';

/** Why it can never be topped up, as the service would refuse it; undefined where it can, now or in use. */
function noTopUp({ esimStatus, smdpStatus }: Esim): string | undefined {
  if (smdpStatus === 'DELETED') return 'The eSIM was deleted from the phone and cannot be installed again.';
  return esimStatus === 'ACTIVE' || esimStatus === 'CREATED'
    ? undefined
    : `Only an eSIM in use can be topped up. This one is ${esimStatus}.`;
}

const LIVE_MS = 10_000;
const DAY_SECONDS = 86_400;
const MEGABYTES = { decimals: 0, min: 1, required: true };

export function EsimPage() {
  const { esimId } = useParams({ from: '/m/$accountId/$environment/esims/$esimId' });
  const { environment } = usePlace();
  const { may } = useMembership();
  const query = useRead('/api/esim/{esimId}', { path: { esimId } }, { everyMs: () => LIVE_MS });
  return (
    <Stack>
      <QueryView query={query}>
        {(esim) => (
          <>
            <PageHead title={esim.packageName}>
              <EsimStatus>{esim.esimStatus}</EsimStatus>
            </PageHead>
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              {hasData(esim) && <Usage esim={esim} />}
              <Diagnosis esimId={esimId} />
            </SimpleGrid>
            {esim.esimStatus !== 'FAILED' && esim.replacedBy === undefined && (
              <Section title="Install">
                <Install esimId={esimId} />
                <RevokeLink esimId={esimId} />
              </Section>
            )}
            <Details esim={esim} />
            {noTopUp(esim) === undefined ? (
              <TopUps esim={esim} />
            ) : (
              <Section title="Top up">
                <Text c="dimmed">{noTopUp(esim)}</Text>
              </Section>
            )}
            {isDelivered(esim) && <ReturnSection esimId={esimId} />}
            {isDelivered(esim) && <ReplacementSection esimId={esimId} replacedBy={esim.replacedBy} />}
            {environment === 'test' && may('purchase') && isDelivered(esim) && <Sandbox esimId={esimId} />}
            <History esimId={esimId} />
          </>
        )}
      </QueryView>
    </Stack>
  );
}

function Usage({ esim }: { readonly esim: Esim }) {
  const used = esim.totalVolume === 0 ? 0 : (esim.orderUsage / esim.totalVolume) * 100;
  return (
    <Section title="Usage">
      <Group>
        <RingProgress
          size={120}
          thickness={12}
          // A round cap would show as a dot where nothing is used.
          roundCaps={used > 0}
          sections={[{ value: used, color: used >= 90 ? 'red' : used >= 50 ? 'yellow.8' : 'blue' }]}
          label={
            <Text ta="center" fw={700}>
              {Math.trunc(used)} %
            </Text>
          }
          rootColor="var(--mantine-color-default-border)"
          role="img"
          aria-label={`${String(Math.trunc(used))} % of the data is used`}
        />
        {/* Below the ring where a date would not fit beside it. */}
        <Box flex="1 1 15rem">
          <Facts
            of={{
              Left: formatBytes(esim.data_usage_remain),
              Used: formatBytes(esim.orderUsage),
              'Days left': esim.activateTime === '' ? 'Not in use yet' : String(esim.validity_usage_remain),
              [esim.activateTime === '' ? 'First use by' : 'Expires']: esim.expiredTime !== '' && (
                <Moment at={esim.expiredTime} />
              ),
              'As of': esim.usageAsOf !== '' && <Moment at={esim.usageAsOf} />,
            }}
          />
        </Box>
      </Group>
    </Section>
  );
}

/** The API speaks to the traveller: what it tells them to ask for, the merchant does. */
const FOR_MERCHANT: Readonly<Partial<Record<ApiSchemas['EsimDiagnosis']['code'], string>>> = {
  NOT_DELIVERED:
    'This usually takes less than a minute after the payment. After ten minutes, ask us with the id of the purchase.',
  DELIVERY_FAILED: 'The payment is given back. Buy another one for the traveller.',
  USED_UP: 'Top it up here, or buy a new one.',
  SUSPENDED: 'Ask us why: the traveller cannot use it until it is resumed.',
  DELETED: 'Replace it here, or buy a new one for the traveller.',
  EXPIRED: 'Buy a new one for the traveller.',
  CANCELLED: 'Buy a new one if the traveller still needs it.',
  RETURNED: 'Buy a new one if the traveller still needs it.',
  REPLACED: 'Send the new eSIM to the traveller.',
};

function Diagnosis({ esimId }: { readonly esimId: string }) {
  const query = useRead('/api/esim/{esimId}/diagnosis', { path: { esimId } });
  return (
    <QuerySection title="Diagnosis" query={query} rows={2}>
      {({ code, summary, nextStep }) => (
        <Alert color={code === 'WORKING' ? 'green' : 'blue'} title={summary}>
          {FOR_MERCHANT[code] ?? nextStep}
        </Alert>
      )}
    </QuerySection>
  );
}

function RevokeLink({ esimId }: { readonly esimId: string }) {
  const { may } = useMembership();
  const revoke = async () => {
    await api.DELETE('/api/esim/{esimId}/install/link', { params: { path: { esimId } } });
    notifications.show({ message: 'The old link no longer works. A new link is shown above.' });
  };
  if (!may('purchase')) return null;
  return (
    <Group mt="md">
      <ConfirmButton
        label="Revoke the link and create a new one"
        title="Revoke the install link"
        confirmLabel="Revoke the link"
        act={revoke}
      >
        <Text size="sm">
          A traveller who has the old link can no longer open it: send them the new one. This cannot be
          undone.
        </Text>
      </ConfirmButton>
    </Group>
  );
}

function Details({ esim }: { readonly esim: Esim }) {
  const { may } = useMembership();
  return (
    <Section title="Details">
      <Facts
        of={{
          ICCID: esim.iccid !== '' && <Id>{esim.iccid}</Id>,
          'eSIM id': <Id>{esim._id}</Id>,
          Purchase: <ItemLink kind="purchase" id={esim.transactionId} />,
          'In place of': esim.replaces !== undefined && <ItemLink kind="esim" id={esim.replaces} />,
          'Replaced by': esim.replacedBy !== undefined && <ItemLink kind="esim" id={esim.replacedBy} />,
          Price: <Amount of={esim.price} currency={esim.currency} />,
          'SM-DP+ address': may('install') ? esim.smdpAddress : <NoInstallDetails />,
          APN: esim.apn,
          'Works in': esim.packageDetails.coverage.join(', '),
          Networks: esim.packageDetails.networkProviders.join(', '),
        }}
      />
    </Section>
  );
}

function TopUps({ esim }: { readonly esim: Esim }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const { packageCode } = esim;
  const { currency } = useMembership();
  const query = useReads(['top-ups', packageCode], async () => {
    const { locationCode: regionCode } = await readApi('/api/esim/packages/{packageCode}', {
      path: { packageCode },
    });
    return readApi('/api/esim/packages', { query: { type: 'TOPUP', packageCode, regionCode, currency } });
  });
  return (
    <QuerySection title="Top up" query={query} rows={1}>
      {(found) => {
        const packages = found as ApiSchemas['TopUpPackage'][];
        if (packages.length === 0)
          return (
            <Empty action={<ToCatalogue />}>
              This package cannot be topped up. Another eSIM can be bought.
            </Empty>
          );
        if (esim.esimStatus === 'CREATED')
          return <Text c="dimmed">Once the eSIM is in use it can be topped up.</Text>;
        const topUp = packages.find((one) => one.packageCode === chosen);
        return (
          <Stack>
            <Select
              label="Top-up package"
              placeholder="Choose one"
              maw={WIDTHS.form}
              data={packages.map(({ packageCode, name, price, currencyCode }) => ({
                value: packageCode,
                label: `${name}, ${formatAmount(price, currencyCode)}`,
              }))}
              value={chosen}
              onChange={setChosen}
            />
            {topUp && (
              <Purchase
                key={topUp.packageCode}
                packageCode={topUp.packageCode}
                name={topUp.name}
                packageType="TOPUP"
                price={{ amount: topUp.price, currency: topUp.currencyCode }}
                esimId={esim._id}
              />
            )}
          </Stack>
        );
      }}
    </QuerySection>
  );
}

function Sandbox({ esimId }: { readonly esimId: string }) {
  const [megabytes, setMegabytes] = useState('100');
  const path = { params: { path: { esimId } } };
  const { value: used, fault } = readNumber(megabytes, MEGABYTES);
  const bytes = (used ?? 0) * 1024 * 1024;
  const actions = [
    ['Install', () => api.POST('/api/sandbox/esims/{esimId}/install', { ...path, body: {} })],
    ['Use data', () => api.POST('/api/sandbox/esims/{esimId}/use', { ...path, body: { bytes } })],
    ['Use all data', () => api.POST('/api/sandbox/esims/{esimId}/use-up', path)],
    [
      'Advance its clock by a day',
      () => api.POST('/api/sandbox/esims/{esimId}/clock', { ...path, body: { advanceSeconds: DAY_SECONDS } }),
    ],
    ['Switch off', () => api.POST('/api/sandbox/esims/{esimId}/switch-off', path)],
    ['Switch on', () => api.POST('/api/sandbox/esims/{esimId}/switch-on', path)],
    ['Suspend', () => api.POST('/api/sandbox/esims/{esimId}/suspend', path)],
    ['Resume', () => api.POST('/api/sandbox/esims/{esimId}/resume', path)],
  ] as const;
  const endings = [
    [
      'Delete from the phone',
      'A deleted eSIM cannot be installed again.',
      () => api.POST('/api/sandbox/esims/{esimId}/delete-profile', path),
    ],
    [
      'Expire',
      'An expired eSIM cannot be used or topped up again.',
      () => api.POST('/api/sandbox/esims/{esimId}/expire', path),
    ],
  ] as const;
  const acting = useMutation({ mutationFn: (act: () => Promise<unknown>) => act() });
  return (
    <Section title="Sandbox: control this eSIM">
      <Stack>
        <NumberField
          label="Data to use, MB"
          maw={WIDTHS.number}
          rules={MEGABYTES}
          value={megabytes}
          onChange={setMegabytes}
        />
        <Group gap="xs">
          {actions.map(([label, act]) => (
            <Button
              key={label}
              size="xs"
              variant="default"
              disabled={acting.isPending || (label === 'Use data' && fault !== undefined)}
              onClick={() => acting.mutate(act)}
            >
              {label}
            </Button>
          ))}
          {endings.map(([label, consequence, act]) => (
            <ConfirmButton
              key={label}
              label={label}
              title={label}
              confirmLabel={label}
              buttonProps={{ variant: 'default', color: 'gray' }}
              onOpen={acting.reset}
              act={act}
            >
              <Text size="sm">{consequence} This cannot be undone.</Text>
            </ConfirmButton>
          ))}
        </Group>
        {acting.error && <Failed error={acting.error} />}
      </Stack>
    </Section>
  );
}

function History({ esimId }: { readonly esimId: string }) {
  const query = useRead('/api/esim/{esimId}/timeline', { path: { esimId } });
  return (
    <QuerySection title="Timeline" query={query}>
      {({ items }) => (
        <Timeline bulletSize={14} lineWidth={2}>
          {items.map(({ at, what, description }) => (
            <Timeline.Item key={`${at} ${what} ${description}`} title={description}>
              <Moment at={at} />
            </Timeline.Item>
          ))}
        </Timeline>
      )}
    </QuerySection>
  );
}
