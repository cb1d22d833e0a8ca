import { Anchor, Button, Group, Stack, Text, Timeline } from '@mantine/core';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { listTransactionsStatus } from 'simway-client/generated/api-lists.ts';
import { WIDTHS } from '../app/theme.ts';
import { readApi, type ApiSchemas } from '../api/client.ts';
import { timesOf, type Search } from '../ui/address.ts';
import { DayRange, SearchField, ChoiceField } from '../ui/filters.tsx';
import {
  Amount,
  QueryView,
  Id,
  metadataFacts,
  Moment,
  OwnReference,
  Section,
  Status,
  Facts,
  Page,
} from '../ui/parts.tsx';
import { amount, Rows, type Columns, CursorList } from '../ui/rows.tsx';
import { EVENTS, PAYMENT_METHODS } from '../ui/words.ts';
import { TRANSACTION_TYPES, transactionFilters } from './filters.ts';
import { ItemLink } from './item-link.tsx';
import { ReceiptButton } from './papers.tsx';
import { usePages, useRead } from './place.ts';
import { ToCatalogue } from './to-catalogue.tsx';

type Item = ApiSchemas['TransactionListItem'];

const OPEN_EVERY_MS = 2_000;

const COLUMNS: Columns<Item> = {
  When: ({ createdAt }) => <Moment at={createdAt} />,
  What: ({ transactionId, type, packageName, reference }) => (
    <>
      <ItemLink kind="purchase" id={transactionId}>
        {packageName === null ? TRANSACTION_TYPES[type] : `${TRANSACTION_TYPES[type]}: ${packageName}`}
      </ItemLink>
      <OwnReference>{reference}</OwnReference>
    </>
  ),
  Status: ({ status }) => <Status>{status}</Status>,
  Amount: amount('amount'),
  'Paid by': ({ paymentMethod }) => PAYMENT_METHODS[paymentMethod],
};

export const TransactionRows = ({
  rows,
  label = 'Purchases',
}: {
  readonly rows: readonly Item[];
  readonly label?: string;
}) => <Rows label={label} rows={rows} columns={COLUMNS} {...NOTHING_YET} />;

const NOTHING_YET = {
  empty: 'No purchases yet. Each eSIM, top-up and funding is listed here.',
  emptyAction: <ToCatalogue />,
};

const FROM = '/m/$accountId/$environment/purchases';

export function PurchasesPage() {
  const navigate = useNavigate({ from: FROM });
  const filters = useSearch({ from: FROM });
  const show = (next: Search) =>
    void navigate({ search: transactionFilters({ ...filters, ...next }), replace: true });
  const asked = { ...filters, ...timesOf(filters) };
  const query = usePages(['transactions', asked], (after) =>
    readApi('/api/esim/transactions', { query: { ...asked, limit: 25, after } }),
  );
  return (
    <Page title="Purchases" about="Every eSIM, top-up and funding of the wallet.">
      <Group align="end" className="filters">
        <SearchField
          placeholder="Id, ICCID, reference or package"
          w={WIDTHS.choice}
          value={filters.search}
          onSearch={(search) => show({ search })}
        />
        <ChoiceField
          label="What"
          data={TRANSACTION_TYPES}
          value={filters.type}
          onChange={(type) => show({ type })}
        />
        <ChoiceField
          label="Status"
          data={listTransactionsStatus}
          value={filters.status}
          onChange={(status) => show({ status })}
        />
        <ChoiceField
          label="Paid by"
          data={PAYMENT_METHODS}
          value={filters.paymentMethod}
          onChange={(paymentMethod) => show({ paymentMethod })}
        />
        <DayRange of={filters} onChange={(days) => show({ ...days })} />
      </Group>
      <CursorList
        query={query}
        label="Purchases"
        columns={COLUMNS}
        {...(Object.values(filters).some(Boolean) ? { empty: 'No results.' } : NOTHING_YET)}
      />
    </Page>
  );
}

export function useTransaction(transactionId: string) {
  return useRead(
    '/api/esim/transactions/{transactionId}',
    { path: { transactionId } },
    { everyMs: (found) => (found?.status === 'PENDING' || found?.status === 'PROCESSING') && OPEN_EVERY_MS },
  );
}

export function PurchasePage() {
  const { transactionId } = useParams({ from: '/m/$accountId/$environment/purchases/$transactionId' });
  const query = useTransaction(transactionId);
  // The list alone has the eSIM of a top-up, and how it is paid.
  const inList = useRead('/api/esim/transactions', { query: { search: transactionId, limit: 1 } });
  const listed = inList.data?.items[0];
  const { isFunding, title, words } = wordsFor(query.data);
  return (
    <Page title={title} extra={<ReceiptButton transactionId={transactionId} />}>
      <Id>{transactionId}</Id>
      <QueryView query={query}>
        {(found) => (
          <>
            <Section title="Overview">
              <Facts
                of={{
                  Status: <Status>{found.status}</Status>,
                  Reason: found.reason,
                  What: 'package' in found && nameOf(found.package),
                  'Your reference': found.reference,
                  ...metadataFacts(found.metadata),
                  [isFunding ? 'Amount' : 'Price']: <Money of={priceOf(found)} />,
                  'Paid by': listed && PAYMENT_METHODS[listed.paymentMethod],
                  ...cameOf(found),
                  eSIM: listed?.esimId && (
                    <ItemLink kind="esim" id={listed.esimId}>
                      {iccidIn(found) ?? listed.iccid ?? 'Open'}
                    </ItemLink>
                  ),
                }}
              />
              <PayNow of={found} />
            </Section>
            <Section title="Timeline">
              <Timeline bulletSize={14} lineWidth={2}>
                {found.timeline.map(({ at, what }) => (
                  <Timeline.Item key={`${at} ${what}`} title={words[what]}>
                    <Moment at={at} />
                  </Timeline.Item>
                ))}
              </Timeline>
            </Section>
          </>
        )}
      </QueryView>
    </Page>
  );
}

type Found = NonNullable<ReturnType<typeof useTransaction>['data']>;

/** A funding is neither ordered nor bought. */
const FUNDING_EVENTS: typeof EVENTS = {
  ...EVENTS,
  opened: 'Opened, not paid yet',
  'payment-received-over': 'Payment received, more than the amount',
  'payment-received-short': 'Payment received, less than the amount',
};

function wordsFor(found: Found | undefined) {
  const isFunding = found !== undefined && !('package' in found);
  const isTopUp = found !== undefined && 'package' in found && 'name' in found.package;
  const title = isFunding ? 'Funding of the wallet' : isTopUp ? 'Top-up' : 'Purchase';
  return { isFunding, title, words: isFunding ? FUNDING_EVENTS : EVENTS };
}

/** What came for a funding, and what the wallet got. */
const cameOf = (found: Found) =>
  'received' in found && {
    Paid: found.received && <Money of={found.received} />,
    'Into the wallet': found.credited && <Money of={found.credited} />,
  };

export const esimIn = (found: Found) =>
  'esimDetails' in found && found.esimDetails && 'esimId' in found.esimDetails
    ? found.esimDetails
    : undefined;

const iccidIn = (found: Found) => ('esimDetails' in found ? found.esimDetails?.iccid : undefined);

const nameOf = (bought: { readonly packageName: string } | { readonly name: string }): string =>
  'packageName' in bought ? bought.packageName : bought.name;

interface Sum {
  readonly amount: number;
  readonly currency: string;
}

const Money = ({ of: { amount: sum, currency } }: { readonly of: Sum }) => (
  <Amount of={sum} currency={currency} />
);

function priceOf(found: Found): Sum {
  if (!('package' in found)) return found;
  const { package: bought } = found;
  return { amount: bought.price, currency: 'currency' in bought ? bought.currency : bought.currencyCode };
}

/** On a page that follows it until it is paid. */
export const PayHere = ({ of }: { readonly of: Found }) => (
  <>
    <Text size="sm">Pay as shown here. This page updates automatically.</Text>
    <PayNow of={of} />
  </>
);

function PayNow({ of: found }: { readonly of: Found }) {
  const { paymentUrl, bankAccounts, charge, gatewayReference, trackingReference } = found;
  if (paymentUrl === undefined && bankAccounts === undefined) return null;
  return (
    <Stack mt="md" align="flex-start">
      {bankAccounts && <Text size="sm">Transfer exactly this amount, in one payment.</Text>}
      <Facts
        of={{
          // Asked for in another currency where the method has its own.
          'Amount to pay': <Money of={charge ?? priceOf(found)} />,
          Reference: <Id>{trackingReference ?? gatewayReference ?? ''}</Id>,
        }}
      />
      {paymentUrl !== undefined && (
        <Anchor href={paymentUrl} target="_blank" rel="noopener noreferrer">
          <Button component="span">Open the payment page</Button>
        </Anchor>
      )}
      {bankAccounts?.map(({ bankName, accountNumber, accountName, expiryDate }) => (
        <Facts
          key={accountNumber}
          of={{
            'Transfer to': `${accountName}, ${bankName}`,
            'Account number': <Id>{accountNumber}</Id>,
            Until: <Moment at={expiryDate} />,
          }}
        />
      ))}
    </Stack>
  );
}
