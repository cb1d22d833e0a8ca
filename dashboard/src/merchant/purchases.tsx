import { Anchor, Button, Group, Select, Stack, TextInput, Timeline } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../api/client.ts';
import { listTransactionsStatus } from 'simway-client/generated/api-lists.ts';
import { bodyOf, dataOf } from 'simway-client';
import type { components } from 'simway-client/generated/api.ts';
import { defined, timesOf, type Search } from '../ui/address.ts';
import { DayRange } from '../ui/day-range.tsx';
import { Facts } from '../ui/facts.tsx';
import { plain } from '../ui/format.ts';
import { Amount, QueryView, Empty, Id, Moment, PageHead, Section, Status } from '../ui/parts.tsx';
import { Rows, type Column } from '../ui/rows.tsx';
import { CursorList } from '../ui/cursor-list.tsx';
import { PageLink } from '../ui/page-link.tsx';
import { PAYMENT_METHODS, TRANSACTION_TYPES, transactionFilters } from './filters.ts';
import { useAccountQuery, usePages, usePlace } from './place.ts';

type Item = components['schemas']['TransactionListItem'];

const TYPING_MS = 300;
const OPEN_EVERY_MS = 2_000;

function useColumns(): readonly Column<Item>[] {
  const place = usePlace();
  return [
    { title: 'When', cell: ({ createdAt }) => <Moment at={createdAt} /> },
    {
      title: 'What',
      cell: ({ transactionId, type, packageName }) => (
        <PageLink
          to="/m/$accountId/$environment/purchases/$transactionId"
          params={{ ...place, transactionId }}
        >
          {packageName === null ? TRANSACTION_TYPES[type] : `${TRANSACTION_TYPES[type]}: ${packageName}`}
        </PageLink>
      ),
    },
    { title: 'Paid by', cell: ({ paymentMethod }) => PAYMENT_METHODS[paymentMethod] },
    {
      title: 'Amount',
      isNumber: true,
      cell: ({ amount, currency }) => <Amount of={amount} currency={currency} />,
    },
    { title: 'Status', cell: ({ status }) => <Status>{status}</Status> },
  ];
}

export function TransactionRows({ rows }: { readonly rows: readonly Item[] }) {
  const columns = useColumns();
  if (rows.length === 0) return <Empty>No purchases yet.</Empty>;
  return (
    <Rows label="Purchases" rows={rows} columns={columns} keyOf={({ transactionId }) => transactionId} />
  );
}

/** Its filters are in the address. */
export function PurchasesPage() {
  const place = usePlace();
  const navigate = useNavigate();
  const columns = useColumns();
  const filters = useSearch({ from: '/m/$accountId/$environment/purchases' });
  const [typed, setTyped] = useState(filters.search ?? '');
  const show = (next: Search) =>
    void navigate({
      to: '/m/$accountId/$environment/purchases',
      params: place,
      search: transactionFilters({ ...filters, ...next }),
      replace: true,
    });
  const showSoon = useDebouncedCallback((search: string) => show({ search }), TYPING_MS);
  const { from, to, ...others } = filters;
  const asked = { ...defined(others), ...timesOf({ from, to }) };
  const query = usePages(['transactions', asked], (after) =>
    dataOf(
      api.GET('/api/esim/transactions', {
        params: { query: { ...asked, limit: 25, ...(after === '' ? {} : { after }) } },
      }),
    ),
  );
  return (
    <Stack>
      <PageHead title="Purchases" about="Every eSIM, top-up and funding of the wallet." />
      <Group align="end">
        <TextInput
          label="Search"
          placeholder="Id, ICCID or package"
          value={typed}
          onChange={({ currentTarget }) => {
            setTyped(currentTarget.value);
            showSoon(currentTarget.value);
          }}
        />
        <Filter
          label="What"
          words={TRANSACTION_TYPES}
          value={filters.type}
          onChange={(type) => show({ type })}
        />
        <Filter
          label="Status"
          words={Object.fromEntries(listTransactionsStatus.map((status) => [status, status]))}
          value={filters.status}
          onChange={(status) => show({ status })}
        />
        <Filter
          label="Paid by"
          words={PAYMENT_METHODS}
          value={filters.paymentMethod}
          onChange={(paymentMethod) => show({ paymentMethod })}
        />
        <DayRange of={filters} onChange={(days) => show({ ...days })} />
      </Group>
      <CursorList
        query={query}
        label="Purchases"
        columns={columns}
        keyOf={({ transactionId }) => transactionId}
        empty="No results."
      />
    </Stack>
  );
}

function Filter({
  label,
  words,
  value,
  onChange,
}: {
  readonly label: string;
  readonly words: Readonly<Record<string, string>>;
  readonly value: string | undefined;
  readonly onChange: (value: string | null) => void;
}) {
  return (
    <Select
      label={label}
      placeholder="All"
      clearable
      clearButtonProps={{ 'aria-label': 'Show all' }}
      data={Object.entries(words).map(([word, text]) => ({ value: word, label: text }))}
      value={value ?? null}
      onChange={onChange}
    />
  );
}

/** One purchase or funding; read again while it is open. */
export function useTransaction(transactionId: string) {
  const read = () =>
    bodyOf(api.GET('/api/esim/transactions/{transactionId}', { params: { path: { transactionId } } }));
  const query = useAccountQuery(['transactions', transactionId], read);
  const isOpen = query.data?.status === 'PENDING' || query.data?.status === 'PROCESSING';
  return useAccountQuery(['transactions', transactionId], read, { everyMs: isOpen && OPEN_EVERY_MS });
}

export function PurchasePage() {
  const place = usePlace();
  const { transactionId } = useParams({ from: '/m/$accountId/$environment/purchases/$transactionId' });
  const query = useTransaction(transactionId);
  return (
    <Stack>
      <PageHead title="Purchase" />
      <Id>{transactionId}</Id>
      <QueryView query={query}>
        {(found) => (
          <>
            <Section title="Overview">
              <Facts
                of={[
                  ['Status', <Status key="status">{found.status}</Status>],
                  ['Reason', found.reason],
                  ['What', 'package' in found ? nameOf(found.package) : 'Funding of the wallet'],
                  ['Price', <Price key="price" of={found} />],
                  [
                    'eSIM',
                    'esimDetails' in found && found.esimDetails && 'esimId' in found.esimDetails && (
                      <PageLink
                        to="/m/$accountId/$environment/esims/$esimId"
                        params={{ ...place, esimId: found.esimDetails.esimId }}
                      >
                        {found.esimDetails.iccid}
                      </PageLink>
                    ),
                  ],
                ]}
              />
              <PayNow of={found} />
            </Section>
            <Section title="Timeline">
              <Timeline bulletSize={14} lineWidth={2}>
                {found.timeline.map(({ at, what }) => (
                  <Timeline.Item key={`${at} ${what}`} title={plain(what)}>
                    <Moment at={at} />
                  </Timeline.Item>
                ))}
              </Timeline>
            </Section>
          </>
        )}
      </QueryView>
    </Stack>
  );
}

type Found = NonNullable<ReturnType<typeof useTransaction>['data']>;

const nameOf = (bought: { readonly packageName: string } | { readonly name: string }): string =>
  'packageName' in bought ? bought.packageName : bought.name;

function Price({ of: found }: { readonly of: Found }) {
  if (!('package' in found)) return <Amount of={found.amount} currency={found.currency} />;
  const { package: bought } = found;
  return <Amount of={bought.price} currency={'currency' in bought ? bought.currency : bought.currencyCode} />;
}

/** What an unpaid purchase or funding waits for. */
export function PayNow({
  of: { paymentUrl, bankAccounts },
}: {
  readonly of: {
    readonly paymentUrl?: string;
    readonly bankAccounts?: readonly {
      readonly bankName: string;
      readonly accountNumber: string;
      readonly accountName: string;
      readonly expiryDate: string;
    }[];
  };
}) {
  return (
    <Stack mt="md" align="flex-start">
      {paymentUrl !== undefined && (
        <Anchor href={paymentUrl} target="_blank" rel="noopener noreferrer">
          <Button component="span">Open the payment page</Button>
        </Anchor>
      )}
      {bankAccounts?.map(({ bankName, accountNumber, accountName, expiryDate }) => (
        <Facts
          key={accountNumber}
          of={[
            ['Transfer to', `${accountName}, ${bankName}`],
            ['Account number', <Id key="number">{accountNumber}</Id>],
            ['Until', <Moment key="until" at={expiryDate} />],
          ]}
        />
      ))}
    </Stack>
  );
}
