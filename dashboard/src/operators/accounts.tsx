import { Group, SimpleGrid } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { listAccountsPlan, listedAccountCurrency } from 'simway-client/generated/ops-lists.ts';
import { ops } from '../api/client.ts';
import type { Search } from '../ui/address.ts';
import { useColumns } from '../ui/columns.tsx';
import { DownloadCsv } from '../ui/download-csv.tsx';
import { ChoiceField, SearchField } from '../ui/filters.tsx';
import { CSV } from '../ui/paper-forms.tsx';
import { Id, Moment, Page } from '../ui/parts.tsx';
import { amount, PagedRows, type Columns } from '../ui/rows.tsx';
import { ACCOUNT_TYPES, PLANS } from '../ui/words.ts';
import { AccountState } from './account.tsx';
import { SubjectLink } from './links.tsx';
import { type ListedAccount, useEnvironment, useOps } from './place.ts';
import { accountsSearch } from './search.ts';

const FROM = '/operators/$environment/accounts';

const COLUMNS: Columns<ListedAccount> = {
  Account: ({ accountId, name }) => <SubjectLink id={accountId}>{name}</SubjectLink>,
  'E-mail': ({ email }) => <span className="breakable">{email}</span>,
  Plan: ({ plan }) => PLANS[plan],
  Status: (account) => <AccountState {...account} />,
  Balance: amount('balance'),
  Since: ({ createdAt }) => <Moment at={createdAt} />,
  Type: ({ type }) => ACCOUNT_TYPES[type],
  Website: ({ websiteUrl }) => <span className="breakable">{websiteUrl ?? '–'}</span>,
  'Requests a minute': { number: ({ requestsPerMinute }) => requestsPerMinute.toLocaleString() },
  Id: ({ accountId }) => <Id>{accountId}</Id>,
};

const STATES = { false: 'Active', true: 'Disabled' } as const;

export function AccountsPage() {
  const { page = 1, ...filters } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const environment = useEnvironment();
  const show = (next: Search) =>
    void navigate({ search: accountsSearch({ ...filters, ...next }), replace: true });
  const accounts = useOps('/ops/accounts', { query: { page, limit: 25, ...filters } }, { keepsOld: true });
  const { columns, field } = useColumns('operators.accounts', COLUMNS, [
    ...['E-mail', 'Plan', 'Status', 'Balance', 'Since'],
  ]);
  return (
    <Page
      title="Accounts"
      about="Customer accounts, newest first."
      extra={
        <Group gap="xs">
          {field}
          <DownloadCsv
            name={`accounts-${environment}.csv`}
            read={() => ops.GET('/ops/accounts', { ...CSV, params: { query: { environment, ...filters } } })}
          />
        </Group>
      }
    >
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm" role="search" aria-label="Find accounts">
        <SearchField
          label="Find"
          placeholder="Id, name or e-mail address"
          maxLength={254}
          value={filters.text}
          onSearch={(text) => show({ text })}
        />
        <ChoiceField
          label="Plan"
          data={Object.fromEntries(listAccountsPlan.map((plan) => [plan, PLANS[plan]]))}
          value={filters.plan}
          onChange={(plan) => show({ plan })}
        />
        <ChoiceField
          label="Status"
          data={STATES}
          value={filters.disabled}
          onChange={(disabled) => show({ disabled })}
        />
        <ChoiceField
          label="Currency"
          data={listedAccountCurrency}
          value={filters.currency}
          onChange={(currency) => show({ currency })}
        />
        <ChoiceField
          label="Type"
          data={ACCOUNT_TYPES}
          value={filters.type}
          onChange={(type) => show({ type })}
        />
      </SimpleGrid>
      <PagedRows
        countsNone
        query={accounts}
        onPage={(next) => void navigate({ search: (old) => ({ ...old, page: next }) })}
        label="Accounts"
        empty="Nothing matches. Remove a filter, or look for another part of the name."
        columns={columns}
      />
    </Page>
  );
}
