/** Purchases, fundings and eSIMs of all accounts, with filters, columns and a file of what is shown. */
import { Group, SimpleGrid, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import {
  listEsimLinesStatus,
  listFundingLinesPaymentMethod,
  listFundingLinesStatus,
  listPurchaseLinesPaymentMethod,
  listPurchaseLinesStatus,
} from 'simway-client/generated/ops-lists.ts';
import { ops, readOps, type OpsSchemas } from '../api/client.ts';
import { timesOf, type Search } from '../ui/address.ts';
import { useColumns } from '../ui/columns.tsx';
import { DownloadCsv, type File } from '../ui/download-csv.tsx';
import { ChoiceField, DayRange, SearchField } from '../ui/filters.tsx';
import { formatBytes } from '../ui/format.ts';
import { CSV } from '../ui/paper-forms.tsx';
import { Id, Moment, Page, Status } from '../ui/parts.tsx';
import { amount, CursorList, type Columns } from '../ui/rows.tsx';
import { ATTENTION, FAILURES, PAYMENT_METHODS, wordOf } from '../ui/words.ts';
import { SubjectLink } from './links.tsx';
import { useEnvironment, useOpsPages } from './place.ts';
import { esimsSearch, fundingsSearch, purchasesSearch } from './search.ts';

type Purchase = OpsSchemas['PurchaseLine'];
type Funding = OpsSchemas['FundingLine'];
type Esim = OpsSchemas['EsimLine'];

const TYPES = { BASE: 'eSIM', TOPUP: 'Top-up' } as const;
const chosenOf = <T extends string>(words: Readonly<Record<T, string>>, of: readonly T[]) =>
  Object.fromEntries(of.map((word) => [word, words[word]])) as Readonly<Record<T, string>>;

const ACCOUNT = {
  Account: ({ accountId, accountName }: { readonly accountId: string; readonly accountName: string }) => (
    <SubjectLink id={accountId}>{accountName || accountId}</SubjectLink>
  ),
};

const ENDED = {
  Why: ({ reason, attentionReason }: Pick<Purchase, 'reason' | 'attentionReason'>) =>
    reason === null
      ? attentionReason === null
        ? '–'
        : wordOf(ATTENTION, attentionReason)
      : wordOf(FAILURES, reason),
  Reference: ({ reference }: Pick<Purchase, 'reference'>) => (
    <span className="breakable">{reference ?? '–'}</span>
  ),
  Closed: ({ closedAt }: Pick<Purchase, 'closedAt'>) => (closedAt === null ? '–' : <Moment at={closedAt} />),
};

const PURCHASES: Columns<Purchase> = {
  Purchase: ({ transactionId, packageName }) => <SubjectLink id={transactionId}>{packageName}</SubjectLink>,
  Opened: ({ createdAt }) => <Moment at={createdAt} />,
  ...ACCOUNT,
  Status: ({ status }) => <Status>{status}</Status>,
  Price: amount('price'),
  'Paid by': ({ paymentMethod }) => PAYMENT_METHODS[paymentMethod],
  Type: ({ packageType }) => TYPES[packageType],
  'Package code': ({ packageCode }) => <span className="breakable">{packageCode}</span>,
  ICCID: ({ iccid }) => (iccid === null ? '–' : <Id>{iccid}</Id>),
  ...ENDED,
  Id: ({ transactionId }) => <Id>{transactionId}</Id>,
};

const FUNDINGS: Columns<Funding> = {
  Funding: ({ transactionId }) => <SubjectLink id={transactionId}>{shortOf(transactionId)}</SubjectLink>,
  Opened: ({ createdAt }) => <Moment at={createdAt} />,
  ...ACCOUNT,
  Status: ({ status }) => <Status>{status}</Status>,
  Amount: amount('amount'),
  'Paid by': ({ paymentMethod }) => PAYMENT_METHODS[paymentMethod],
  ...ENDED,
  Id: ({ transactionId }) => <Id>{transactionId}</Id>,
};

const ESIMS: Columns<Esim> = {
  eSIM: ({ transactionId, iccid, esimId }) => (
    <SubjectLink id={transactionId}>{iccid ?? shortOf(esimId)}</SubjectLink>
  ),
  Ordered: ({ createdAt }) => <Moment at={createdAt} />,
  ...ACCOUNT,
  Package: ({ packageName }) => packageName,
  Status: ({ status }) => <Status>{status}</Status>,
  Used: {
    number: ({ orderUsageBytes, totalVolumeBytes }) =>
      `${formatBytes(orderUsageBytes)} of ${formatBytes(totalVolumeBytes)}`,
  },
  Price: amount('price'),
  'Package code': ({ packageCode }) => <span className="breakable">{packageCode}</span>,
  'In use since': ({ activateTime }) => (activateTime === null ? '–' : <Moment at={activateTime} />),
  Expires: ({ expiredTime }) => (expiredTime === null ? '–' : <Moment at={expiredTime} />),
  'Usage as of': ({ usageAsOf }) => (usageAsOf === null ? '–' : <Moment at={usageAsOf} />),
  Id: ({ esimId }) => <Id>{esimId}</Id>,
};

const shortOf = (id: string): string => `…${id.slice(-8)}`;

interface Path {
  readonly purchases: '/operators/$environment/purchases';
  readonly fundings: '/operators/$environment/fundings';
  readonly esims: '/operators/$environment/esims';
}

/** A filter that is typed whole: it is asked for soon after the last letter. */
const TextFilter = ({
  label,
  placeholder,
  value,
  onSearch,
}: {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string | undefined;
  readonly onSearch: (text: string | undefined) => void;
}) => (
  <SearchField
    label={label}
    placeholder={placeholder}
    maxLength={100}
    value={value}
    onSearch={(text) => onSearch(text === '' ? undefined : text)}
  />
);

/** What all three pages have: the filters of every list, columns, the file and the list itself. */
function ListPage<T>({
  title,
  name,
  about,
  all,
  shown,
  search,
  read,
  readFile,
  onShow,
  children,
}: {
  readonly title: string;
  readonly name: keyof Path;
  readonly about: string;
  readonly all: Columns<T>;
  readonly shown: readonly string[];
  readonly search: Search & {
    readonly accountId?: string | undefined;
    readonly from?: string | undefined;
    readonly to?: string | undefined;
  };
  readonly read: (at: {
    readonly environment: 'live' | 'test';
    readonly after: string | undefined;
  }) => Promise<{
    readonly items: readonly T[];
    readonly nextCursor: string | null;
  }>;
  readonly readFile: (environment: 'live' | 'test') => Promise<File>;
  readonly onShow: (next: Search) => void;
  readonly children: ReactNode;
}) {
  const environment = useEnvironment();
  const query = useOpsPages([name, search], read, { keepsOld: true });
  const { columns, field } = useColumns(`operators.${name}`, all, shown);
  return (
    <Page
      title={title}
      about={about}
      extra={
        <Group gap="xs">
          {field}
          <DownloadCsv name={`${name}-${environment}.csv`} read={() => readFile(environment)} />
        </Group>
      }
    >
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm" role="search" aria-label={`Filter ${title}`}>
        {children}
        <TextFilter
          label="Account"
          placeholder="Id of an account"
          value={search.accountId}
          onSearch={(accountId) => onShow({ accountId })}
        />
        <DayRange of={search} onChange={(days) => onShow({ ...days })} />
      </SimpleGrid>
      <CursorList
        query={query}
        label={title}
        columns={columns}
        empty={
          query.hasNextPage
            ? 'None among the newest that were looked at. “Show more” looks further back; fewer days find it sooner.'
            : 'Nothing matches. Remove a filter, or look in the other environment.'
        }
      />
    </Page>
  );
}

const PURCHASES_PAGE = '/operators/$environment/purchases';

export function PurchasesPage() {
  const search = useSearch({ from: PURCHASES_PAGE });
  const navigate = useNavigate({ from: PURCHASES_PAGE });
  const asked = { ...search, ...timesOf(search) };
  const show = (next: Search) =>
    void navigate({ search: purchasesSearch({ ...search, ...next }), replace: true });
  return (
    <ListPage
      title="Purchases"
      name="purchases"
      about="eSIMs and top-ups of all accounts, newest first."
      all={PURCHASES}
      shown={['Opened', 'Account', 'Status', 'Price', 'Paid by', 'Why']}
      search={search}
      read={(at) => readOps('/ops/lists/purchases', { query: { ...at, ...asked, limit: 25 } })}
      readFile={(environment) =>
        ops.GET('/ops/lists/purchases', { ...CSV, params: { query: { environment, ...asked } } })
      }
      onShow={show}
    >
      <ChoiceField
        label="Status"
        data={listPurchaseLinesStatus}
        value={search.status}
        onChange={(status) => show({ status })}
      />
      <ChoiceField
        label="Type"
        data={TYPES}
        value={search.packageType}
        onChange={(packageType) => show({ packageType })}
      />
      <ChoiceField
        label="Paid by"
        data={chosenOf(PAYMENT_METHODS, listPurchaseLinesPaymentMethod)}
        value={search.paymentMethod}
        onChange={(paymentMethod) => show({ paymentMethod })}
      />
      <PackageFilters search={search} onShow={show} />
      <ReferenceFilter search={search} onShow={show} />
    </ListPage>
  );
}

function PackageFilters({
  search: { packageCode, country },
  onShow,
}: {
  readonly search: { readonly packageCode?: string | undefined; readonly country?: string | undefined };
  readonly onShow: (next: Search) => void;
}) {
  return (
    <>
      <TextFilter
        label="Package"
        placeholder="Its code"
        value={packageCode}
        onSearch={(code) => onShow({ packageCode: code })}
      />
      <TextInput
        label="Country"
        placeholder="Such as NG"
        maxLength={2}
        defaultValue={country ?? ''}
        onChange={({ currentTarget: { value } }) => {
          if (value === '' || /^[a-z]{2}$/i.test(value)) onShow({ country: value.toUpperCase() });
        }}
      />
    </>
  );
}

const ReferenceFilter = ({
  search: { reference },
  onShow,
}: {
  readonly search: { readonly reference?: string | undefined };
  readonly onShow: (next: Search) => void;
}) => (
  <TextFilter
    label="Reference"
    placeholder="The merchant’s own, whole"
    value={reference}
    onSearch={(given) => onShow({ reference: given })}
  />
);

const FUNDINGS_PAGE = '/operators/$environment/fundings';

export function FundingsPage() {
  const search = useSearch({ from: FUNDINGS_PAGE });
  const navigate = useNavigate({ from: FUNDINGS_PAGE });
  const asked = { ...search, ...timesOf(search) };
  const show = (next: Search) =>
    void navigate({ search: fundingsSearch({ ...search, ...next }), replace: true });
  return (
    <ListPage
      title="Fundings"
      name="fundings"
      about="Wallets funded through the gateway, newest first. What people booked by hand is on the page of its account."
      all={FUNDINGS}
      shown={['Opened', 'Account', 'Status', 'Amount', 'Paid by', 'Why']}
      search={search}
      read={(at) => readOps('/ops/lists/fundings', { query: { ...at, ...asked, limit: 25 } })}
      readFile={(environment) =>
        ops.GET('/ops/lists/fundings', { ...CSV, params: { query: { environment, ...asked } } })
      }
      onShow={show}
    >
      <ChoiceField
        label="Status"
        data={listFundingLinesStatus}
        value={search.status}
        onChange={(status) => show({ status })}
      />
      <ChoiceField
        label="Paid by"
        data={chosenOf(PAYMENT_METHODS, listFundingLinesPaymentMethod)}
        value={search.paymentMethod}
        onChange={(paymentMethod) => show({ paymentMethod })}
      />
      <ReferenceFilter search={search} onShow={show} />
    </ListPage>
  );
}

const ESIMS_PAGE = '/operators/$environment/esims';

export function EsimsPage() {
  const search = useSearch({ from: ESIMS_PAGE });
  const navigate = useNavigate({ from: ESIMS_PAGE });
  const asked = { ...search, ...timesOf(search) };
  const show = (next: Search) =>
    void navigate({ search: esimsSearch({ ...search, ...next }), replace: true });
  return (
    <ListPage
      title="eSIMs"
      name="esims"
      about="eSIMs of all accounts, newest first. Nothing here installs one."
      all={ESIMS}
      shown={['Ordered', 'Account', 'Package', 'Status', 'Used']}
      search={search}
      read={(at) => readOps('/ops/lists/esims', { query: { ...at, ...asked, limit: 25 } })}
      readFile={(environment) =>
        ops.GET('/ops/lists/esims', { ...CSV, params: { query: { environment, ...asked } } })
      }
      onShow={show}
    >
      <ChoiceField
        label="Status"
        data={listEsimLinesStatus}
        value={search.status}
        onChange={(status) => show({ status })}
      />
      <PackageFilters search={search} onShow={show} />
      <TextFilter
        label="ICCID"
        placeholder="Whole, 18 to 22 digits"
        value={search.iccid}
        onSearch={(iccid) => show({ iccid })}
      />
    </ListPage>
  );
}
