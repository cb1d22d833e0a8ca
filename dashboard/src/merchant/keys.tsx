import { Alert, Checkbox, Code, Fieldset, Group, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useForm, type GetInputPropsReturnType } from '@mantine/form';
import { useRef, useState } from 'react';
import { useSearch } from '@tanstack/react-router';
import { api, readApi, type ApiSchemas, dataOf } from '../api/client.ts';
import { ModalButton, ConfirmButton } from '../ui/dialogs.tsx';
import { formatAmount } from '../ui/format.ts';
import { NumberField } from '../ui/number-field.tsx';
import { numberText, readNumber } from '../ui/numbers.ts';
import { Copy, Moment, LinkButton, Page, ShortCode, Id, PageLink, Status } from '../ui/parts.tsx';
import { CursorList, WholeRows } from '../ui/rows.tsx';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { isDecided } from '../ui/use-once.ts';
import { useMembership, usePlace, useReads, usePages } from './place.ts';

type Key = ApiSchemas['OwnApiKey'];
type Budget = NonNullable<Key['budget']>;
type NewKey = ApiSchemas['NewApiKey']['data'];

const CreateKey = ({ onMade }: { readonly onMade: (key: NewKey) => void }) => (
  <ModalButton label="Create a key" title="Create a key" size="lg">
    {(close) => (
      <NewKeyForm
        onDone={(key) => {
          onMade(key);
          close();
        }}
      />
    )}
  </ModalButton>
);

export function KeysPage() {
  const { environment } = usePlace();
  const [made, setMade] = useState<NewKey>();
  const query = useReads(['keys'], listKeys);
  return (
    <Page
      title="API keys"
      about={`For your servers, in the ${environment} environment. A key is shown once.`}
      // Here and not in the empty list, which goes away under its dialog once there is a key.
      extra={<CreateKey onMade={setMade} />}
    >
      {made && <ShownOnce made={made} onClose={() => setMade(undefined)} />}
      <WholeRows
        label="API keys"
        query={query}
        keyOf={({ keyId }) => keyId}
        empty="No keys yet. Create one: your servers buy and read with it."
        columns={{
          Key: ({ key, name, ...ended }) => (
            <>
              {name !== null && <Text size="sm">{name}</Text>}
              <ShortCode>{key}</ShortCode>
              {endOf(ended) !== null && <Status color="red">{endOf(ended)}</Status>}
            </>
          ),
          Company: ({ companyName }) => companyName,
          Scopes: ({ scopes }) => scopes.join(', '),
          Limits: (key) => <Limits of={key} />,
          'Allowed addresses': ({ allowedAddresses }) => allowedAddresses.join(', '),
          'Made by': ({ createdBy, createdAt }) => (
            <>
              {createdBy}
              <Text size="xs" c="dimmed">
                <Moment at={createdAt} />
              </Text>
            </>
          ),
          'Last used': ({ lastUsedAt }) => <Moment at={lastUsedAt} none="Never" isRough />,
          Expires: ({ expiresAt }) => <Moment at={expiresAt} none="Never" />,
          Revoke: (key) =>
            key.revokedAt === null ? (
              <Revoke of={key} />
            ) : (
              <>
                Revoked <Moment at={key.revokedAt} />
              </>
            ),
        }}
      />
    </Page>
  );
}

/** Beside the key, which a phone always shows. */
const endOf = ({ revokedAt, expiresAt }: Pick<Key, 'revokedAt' | 'expiresAt'>) =>
  revokedAt !== null
    ? 'REVOKED'
    : expiresAt !== null && Date.parse(expiresAt) <= Date.now()
      ? 'EXPIRED'
      : null;

const isWorking = (key: Key): boolean => endOf(key) === null;

/** What the key may spend, and what is left of it. */
function Limits({ of: key }: { readonly of: Key }) {
  return (
    <Stack gap={4} align="flex-start">
      {limitsOf(key).map((line) => (
        <Text size="sm" key={line}>
          {line}
        </Text>
      ))}
      {isWorking(key) && (
        <ModalButton
          label={key.budget ? 'Change limits' : 'Set limits'}
          title={`Limits of ${key.key}`}
          variant="default"
          buttonSize="xs"
        >
          {(close) => <LimitsForm of={key} onDone={close} />}
        </ModalButton>
      )}
    </Stack>
  );
}

function limitsOf({ budget, left, currency }: Key): string[] {
  if (!budget) return ['None'];
  const amount = (value: number | null | undefined) => formatAmount(value ?? 0, currency);
  return [
    budget.dailyAmount !== null &&
      `${amount(budget.dailyAmount)} a day: ${amount(left?.dailyAmount)} left until midnight UTC`,
    budget.maxPurchases !== null &&
      `${budget.maxPurchases.toLocaleString()} purchases: ${(left?.purchases ?? 0).toLocaleString()} left`,
    budget.orderAmount !== null && `At most ${amount(budget.orderAmount)} an order`,
    budget.maxPrice !== null && `At most ${amount(budget.maxPrice)} a package`,
    budget.countries !== null && `Only ${budget.countries.join(', ')}`,
  ].filter((line) => line !== false);
}

const NO_LIMITS = {
  dailyAmount: '',
  orderAmount: '',
  maxPrice: '',
  maxPurchases: '',
  countries: [] as string[],
};
type TypedLimits = typeof NO_LIMITS;

const typedLimits = (budget: Budget | null): TypedLimits => ({
  dailyAmount: numberText(budget?.dailyAmount),
  orderAmount: numberText(budget?.orderAmount),
  maxPrice: numberText(budget?.maxPrice),
  maxPurchases: numberText(budget?.maxPurchases, WHOLE),
  countries: budget?.countries ?? [],
});

const WHOLE = { decimals: 0, min: 1 };

/** What is typed and not clear is refused: it must never be sent as no limit. */
const limitFault = (rules = {}) => {
  return (typed: string) => readNumber(typed, { ...rules, required: false }).fault ?? null;
};
const LIMIT_FAULTS = {
  dailyAmount: limitFault(),
  orderAmount: limitFault(),
  maxPrice: limitFault(),
  maxPurchases: limitFault(WHOLE),
};

/** undefined: no limit is typed. */
function budgetOf(typed: TypedLimits): ApiSchemas['KeyBudgetRequest'] | undefined {
  const { countries, maxPurchases, ...amounts } = typed;
  const read = (text: string, rules = {}) => readNumber(text, { ...rules, required: false }).value;
  const given = {
    ...Object.fromEntries(Object.entries(amounts).map(([name, text]) => [name, read(text)])),
    maxPurchases: read(maxPurchases, WHOLE),
    countries: countries.length === 0 ? undefined : countries.map((code) => code.trim().toUpperCase()),
  };
  return Object.values(given).every((value) => value === undefined) ? undefined : given;
}

/** The fields of a budget, in any form that has them under `prefix`. */
function LimitFields({
  currency,
  propsOf,
}: {
  readonly currency: string;
  readonly propsOf: (name: keyof TypedLimits) => GetInputPropsReturnType;
}) {
  return (
    <>
      <NumberField
        label="Amount a day"
        description="Until midnight UTC"
        currency={currency}
        {...propsOf('dailyAmount')}
      />
      <NumberField
        label="Amount an order"
        description="Of one purchase, or of a whole batch"
        currency={currency}
        {...propsOf('orderAmount')}
      />
      <NumberField label="Price of a package" currency={currency} {...propsOf('maxPrice')} />
      <NumberField
        label="Number of purchases"
        description="As long as the key lives"
        rules={WHOLE}
        {...propsOf('maxPurchases')}
      />
      <TagsInput
        label="Countries"
        description="Codes such as NG. A package must cover no other. Press Enter after each"
        acceptValueOnBlur
        {...propsOf('countries')}
      />
    </>
  );
}

function LimitsForm({ of: key, onDone }: { readonly of: Key; readonly onDone: () => void }) {
  const form = useForm({ initialValues: typedLimits(key.budget), validate: LIMIT_FAULTS });
  const path = { keyId: key.keyId };
  const sending = useSending(
    form,
    async (typed) => {
      const body = budgetOf(typed);
      if (body) await api.PUT('/account/keys/{keyId}/budget', { params: { path }, body });
      else await api.DELETE('/account/keys/{keyId}/budget', { params: { path } });
    },
    onDone,
  );
  return (
    <SendForm sending={sending} label="Save the limits" at="flex-end">
      <Text size="sm">
        An empty field is no limit. What the key has spent already counts. A key with limits pays from the
        wallet only.
      </Text>
      <LimitFields currency={key.currency} propsOf={(name) => form.getInputProps(name)} />
    </SendForm>
  );
}

function Revoke({ of: { keyId, key } }: { readonly of: Key }) {
  return (
    <ConfirmButton
      label="Revoke"
      title="Revoke the key"
      confirmLabel="Revoke the key"
      act={() => api.DELETE('/account/keys/{keyId}', { params: { path: { keyId } } })}
    >
      <Text size="sm">
        Programs that use <Code>{key}</Code> get 401 within 5 seconds. This cannot be undone.
      </Text>
    </ConfirmButton>
  );
}

function ShownOnce({ made, onClose }: { readonly made: NewKey; readonly onClose: () => void }) {
  return (
    <Alert
      color="green"
      title="Your new key. It is shown once"
      withCloseButton
      onClose={onClose}
      closeButtonLabel="Close"
    >
      <Stack align="flex-start">
        <Secret label="API key" value={made.apiKey} />
        {made.webhook?.secret !== undefined && <Secret label="Webhook secret" value={made.webhook.secret} />}
        {made.webhook?.reused && (
          <Text size="sm">
            There was an endpoint for {made.webhook.url} already. It stays as it is:{' '}
            {made.webhook.enabled
              ? `it gets ${made.webhook.events?.join(', ')}`
              : 'it is disabled and gets nothing'}
            .
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

export function Secret({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <Group>
      <Text size="sm">{label}</Text>
      <Code className="breakable">{value}</Code>
      <Copy value={value} />
    </Group>
  );
}

const SCOPES: Record<ApiSchemas['ApiKey']['scopes'][number], string> = {
  read: 'Read: catalogue, eSIMs, purchases, wallet',
  purchase: 'Purchase: buy, top up, manage webhooks',
  fund: 'Fund: put money into the wallet, set its warning',
};

const listKeys = () => readApi('/account/keys', {});

/** A key is shown once. If an answer was lost, the next try first names the key that was created unseen. */
function useCreateKey() {
  /** The keys there were before a request whose outcome is unknown. */
  const before = useRef<ReadonlySet<string>>(undefined);
  const nameUnseen = async () => {
    const { items } = await listKeys();
    const unseen = items.find(({ keyId }) => before.current?.has(keyId) === false);
    if (!unseen) return;
    before.current = undefined;
    throw new Error(
      `The answer was lost, but the key ${unseen.key} was created. Revoke it in the list, then create another.`,
    );
  };
  return async (body: ApiSchemas['CreateKeyRequest']): Promise<NewKey> => {
    if (before.current) await nameUnseen();
    const known = new Set((await listKeys()).items.map(({ keyId }) => keyId));
    try {
      return await dataOf(api.POST('/account/keys', { body }));
    } catch (error) {
      if (!isDecided(error)) {
        before.current = known;
        await nameUnseen();
      }
      throw error;
    }
  };
}

function NewKeyForm({ onDone }: { readonly onDone: (key: NewKey) => unknown }) {
  const form = useForm({
    initialValues: {
      name: '',
      companyName: '',
      websiteUrl: '',
      allowedAddresses: [] as string[],
      webhookUrl: '',
      scopes: ['read', 'purchase'] as ApiSchemas['ApiKey']['scopes'],
      expiresAt: '',
      budget: NO_LIMITS,
    },
    validate: { budget: LIMIT_FAULTS },
  });
  const { currency } = useMembership();
  const create = useCreateKey();
  const { environment } = usePlace();
  const sending = useSending(
    form,
    ({ name, webhookUrl, expiresAt, companyName, websiteUrl, budget, ...key }) =>
      create({
        ...key,
        ...(name === '' ? {} : { name }),
        ...(environment === 'live' ? { companyName, websiteUrl } : {}),
        ...(webhookUrl === '' ? {} : { webhookUrl }),
        ...(expiresAt === '' ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
        ...(budgetOf(budget) && { budget: budgetOf(budget) }),
      }),
    onDone,
  );
  return (
    <SendForm sending={sending} label="Create the key" at="flex-end">
      <TextInput label="Name" description="Optional. What you call it" {...form.getInputProps('name')} />
      {environment === 'live' && (
        <>
          <TextInput
            label="Company"
            autoComplete="organization"
            required
            data-autofocus
            {...form.getInputProps('companyName')}
          />
          <TextInput
            label="Website"
            description="Must respond from the public internet"
            placeholder="https://"
            type="url"
            required
            {...form.getInputProps('websiteUrl')}
          />
        </>
      )}
      <TagsInput
        label="Allowed network addresses"
        description="1 to 10 addresses or ranges, such as 203.0.113.7 or 203.0.113.0/24. Press Enter after each"
        acceptValueOnBlur
        required
        {...form.getInputProps('allowedAddresses')}
      />
      <TextInput
        label="Webhook URL"
        description="Optional. An endpoint is created for it, unless there is one: that stays as it is"
        placeholder="https://"
        type="url"
        {...form.getInputProps('webhookUrl')}
      />
      <Checkbox.Group label="Scopes" {...form.getInputProps('scopes')}>
        <Stack gap="xs" mt="xs">
          {Object.entries(SCOPES).map(([value, label]) => (
            <Checkbox key={value} value={value} label={label} />
          ))}
        </Stack>
      </Checkbox.Group>
      <TextInput
        label="Expires"
        description="Optional"
        type="datetime-local"
        {...form.getInputProps('expiresAt')}
      />
      <Fieldset legend="Limits (optional). A key with limits pays from the wallet only">
        <Stack>
          <LimitFields currency={currency} propsOf={(name) => form.getInputProps(`budget.${name}`)} />
        </Stack>
      </Fieldset>
    </SendForm>
  );
}

const FROM = '/m/$accountId/$environment/developers/requests';

function ToKeys() {
  const { may } = useMembership();
  return may('keys') ? (
    <LinkButton to="/m/$accountId/$environment/developers/keys">Create an API key</LinkButton>
  ) : null;
}

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
        {...(filters.requestId === undefined
          ? {
              empty: 'No requests yet. Those with an API key of yours are listed here.',
              emptyAction: <ToKeys />,
            }
          : { empty: 'No such request in the last 7 days.' })}
        columns={{
          When: ({ at }) => <Moment at={at} />,
          'Request id': ({ requestId }) => <Id>{requestId}</Id>,
          Request: ({ method, path }) => (
            <Code className="breakable">
              {method} {path}
            </Code>
          ),
          Response: ({ status, errorCode }) =>
            errorCode === null ? status : `${String(status)} ${errorCode}`,
          Duration: { number: ({ durationMs }) => `${durationMs.toLocaleString()} ms` },
          Key: ({ key }) => <ShortCode>{key}</ShortCode>,
        }}
      />
    </Page>
  );
}
