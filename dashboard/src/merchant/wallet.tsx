import { Button, Select, SimpleGrid, Stack, Text, Group } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useEffect } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { api, readApi, bodyOf, type ApiSchemas } from '../api/client.ts';
import { QueryView, Moment, OwnReference, Section, Status, Page, QuerySection } from '../ui/parts.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { numberText, readNumber } from '../ui/numbers.ts';
import { SendForm, useSending } from '../ui/send-form.tsx';
import { useOnce } from '../ui/use-once.ts';
import { timesOf } from '../ui/address.ts';
import { DayRange, ChoiceField } from '../ui/filters.tsx';
import { DownloadCsv, nextOf, type File } from '../ui/download-csv.tsx';
import { formatAmount } from '../ui/format.ts';
import { amount, CursorList } from '../ui/rows.tsx';
import { HOLDS, type PaymentMethod } from '../ui/words.ts';
import { readWallet, Balance } from './balance.tsx';
import { METHOD_CHOICES, ENTRY_KINDS, entryFilters, type EntryFilters } from './filters.ts';
import { useMembership, useRefresh, useReads, useRead, usePages } from './place.ts';
import { Papers } from './papers.tsx';
import { PayHere, TransactionRows, useTransaction } from './purchases.tsx';
import { ItemLink } from './item-link.tsx';

type Method = Exclude<PaymentMethod, 'WALLET'>;

const METHODS = METHOD_CHOICES.flatMap(([value, label]) => (value === 'WALLET' ? [] : [{ value, label }]));

export function WalletPage() {
  const { may } = useMembership();
  const query = useReads(['wallet', 'overview'], async () => {
    const [wallet, { items }] = await Promise.all([
      readWallet(),
      readApi('/api/wallet/entries', { query: { limit: 1 } }),
    ]);
    return { ...wallet, lastChange: items[0]?.at };
  });
  return (
    <Page title="Wallet">
      <QuerySection title="Balance" query={query} rows={2}>
        {(wallet) => (
          <Balance of={wallet}>
            . Last change: {wallet.lastChange === undefined ? 'none yet' : <Moment at={wallet.lastChange} />}
          </Balance>
        )}
      </QuerySection>
      <OpenFundings />
      {may('fund') && (
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Fund />
          <LowBalance />
        </SimpleGrid>
      )}
      <WalletEntries />
      <Papers />
    </Page>
  );
}

const OPEN_EVERY_MS = 10_000;

/** How to pay stands on the page of each, also after this page was left. */
function OpenFundings() {
  const { data } = useRead(
    '/api/esim/transactions',
    { query: { type: 'FUNDING', status: 'PENDING', limit: 100 } },
    { everyMs: (found) => (found?.items.length ?? 0) > 0 && OPEN_EVERY_MS },
  );
  if (!data || data.items.length === 0) return null;
  return (
    <Section title="Fundings not paid yet">
      <Text size="sm" c="dimmed">
        Open one to see how to pay it.
      </Text>
      <TransactionRows label="Fundings not paid yet" rows={data.items} />
    </Section>
  );
}

const FUNDED = { required: true };

function Fund() {
  const { currency } = useMembership();
  const once = useOnce<{ readonly amount: number; readonly paymentMethod: Method }>();
  const form = useForm({
    initialValues: { amount: '', paymentMethod: 'CARD' as Method },
    validate: { amount: (amount) => readNumber(amount, FUNDED).fault },
    // Another amount is another funding.
    onValuesChange: once.renew,
  });
  const sending = useSending(form, ({ amount, paymentMethod }) =>
    once.send({ amount: readNumber(amount).value ?? 0, paymentMethod }, (key, body) =>
      bodyOf(api.POST('/api/wallet/fund', { params: { header: { 'Idempotency-Key': key } }, body })),
    ),
  );
  const wanted = readNumber(form.values.amount, FUNDED).value;
  if (sending.result)
    return (
      <Section title="Fund the wallet" id="fund">
        <Funding transactionId={sending.result.transactionId} />
        <Button
          mt="md"
          variant="default"
          onClick={() => {
            once.renew();
            form.reset();
            sending.reset();
          }}
        >
          Fund again
        </Button>
      </Section>
    );
  return (
    <Section title="Fund the wallet" id="fund">
      <SendForm
        sending={sending}
        label={wanted === undefined ? 'Continue' : `Continue with ${formatAmount(wanted, currency)}`}
        at="flex-start"
      >
        <NumberField label={`Amount, ${currency}`} rules={FUNDED} {...form.getInputProps('amount')} />
        <Select
          label="Pay by"
          data={METHODS}
          allowDeselect={false}
          {...form.getInputProps('paymentMethod')}
        />
      </SendForm>
    </Section>
  );
}

/** Follows a funding until the money is in the wallet. */
function Funding({ transactionId }: { readonly transactionId: string }) {
  const query = useTransaction(transactionId);
  const refresh = useRefresh();
  const isPaid = query.data?.status === 'SUCCESS';
  useEffect(() => {
    if (isPaid) void refresh();
    // Once, when it is paid: `refresh` is another function in every render.
  }, [isPaid]);
  return (
    <QueryView query={query} rows={2}>
      {(found) => (
        <Stack align="flex-start">
          <Status>{found.status}</Status>
          {found.status === 'PENDING' && <PayHere of={found} />}
          {found.status === 'SUCCESS' && <Text role="status">The money is in your wallet.</Text>}
          {found.status === 'FAILED' && <Text role="status">Payment failed: {found.reason}</Text>}
        </Stack>
      )}
    </QueryView>
  );
}

function LowBalance() {
  const query = useRead('/api/wallet/low-balance', {});
  return (
    <QuerySection title="Low-balance warning" query={query} rows={2}>
      {(found) => <LowBalanceForm {...found} />}
    </QuerySection>
  );
}

function LowBalanceForm({ amount, currency }: { readonly amount: number | null; readonly currency: string }) {
  const form = useForm({
    initialValues: { amount: numberText(amount) },
    validate: { amount: (typed) => readNumber(typed).fault },
  });
  const sending = useSending(
    form,
    (values) =>
      api.PUT('/api/wallet/low-balance', {
        body: { amount: readNumber(values.amount).value ?? null },
      }),
    () => notifications.show({ message: 'Saved.' }),
  );
  return (
    <SendForm sending={sending} label="Save" at="flex-start" button={{ variant: 'default' }}>
      <NumberField
        label={`Below this balance, ${currency}`}
        description="Shown on Home and here, and sent as the event wallet.low_balance. Leave empty for none"
        currency={currency}
        {...form.getInputProps('amount')}
      />
    </SendForm>
  );
}

/** Of 10,000 rows each: a spreadsheet opens a million. */
const MAX_ANSWERS = 100;

const kindOf = ({ kind, holdStatus }: ApiSchemas['WalletEntry']): string =>
  holdStatus === null ? ENTRY_KINDS[kind] : HOLDS[holdStatus];

const FROM = '/m/$accountId/$environment/wallet';

const NO_CHANGES = {
  own: 'No changes yet. Fund the wallet above: purchases can be paid from it.',
  others: 'No changes yet. An owner or finance funds the wallet.',
} as const;

function WalletEntries() {
  const { may } = useMembership();
  const navigate = useNavigate({ from: FROM });
  const filters = useSearch({ from: FROM });
  const show = (next: EntryFilters) => void navigate({ search: { ...filters, ...next }, replace: true });
  const query = usePages(['wallet', 'entries', filters], (after) =>
    readApi('/api/wallet/entries', { query: { limit: 25, ...filters, ...timesOf(filters), after } }),
  );
  return (
    <Section
      title="Changes of the balance"
      extra={<DownloadCsv name="wallet-entries.csv" read={() => readCsv(filters)} />}
    >
      <Stack>
        <Group align="end" className="filters">
          <ChoiceField
            label="Kind"
            data={ENTRY_KINDS}
            value={filters.kind}
            onChange={(kind) => show(entryFilters({ ...filters, kind }))}
          />
          <DayRange of={filters} onChange={show} />
        </Group>
        <CursorList
          query={query}
          label="Changes of the balance"
          empty={
            Object.values(filters).some(Boolean) ? 'No results.' : NO_CHANGES[may('fund') ? 'own' : 'others']
          }
          columns={{
            When: ({ at }) => <Moment at={at} />,
            What: ({ description, transactionId, reference }) =>
              transactionId === null ? (
                description
              ) : (
                <>
                  <ItemLink kind="purchase" id={transactionId}>
                    {description}
                  </ItemLink>
                  <OwnReference>{reference}</OwnReference>
                </>
              ),
            Kind: kindOf,
            Amount: amount('amount'),
            Balance: amount('balanceAfter'),
          }}
        />
      </Stack>
    </Section>
  );
}

async function readCsv(filters: EntryFilters): Promise<File> {
  const parts: string[] = [];
  let after: string | undefined;
  for (let answers = 0; answers < MAX_ANSWERS; answers += 1) {
    const answer = await api.GET('/api/wallet/entries', {
      headers: { Accept: 'text/csv' },
      params: { query: { ...filters, ...timesOf(filters), after } },
      parseAs: 'text',
    });
    const [head = '', ...rows] = String(answer.data).trimEnd().split('\r\n');
    parts.push(...(answers === 0 ? [head] : []), ...rows);
    after = nextOf(answer) ?? undefined;
    if (after === undefined) return { data: new Blob([`${parts.join('\r\n')}\r\n`], { type: 'text/csv' }) };
  }
  throw new Error('There are more than a million rows. Choose fewer days.');
}
