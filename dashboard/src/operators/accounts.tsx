import { Badge, Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { accountsQuery, type ListedAccount } from './data.ts';
import { Amount, QueryView, Empty, Moment, PageHead, Pages } from '../ui/parts.tsx';
import { useEnvironment } from './place.ts';
import { Rows } from '../ui/rows.tsx';
import { SubjectLink } from './subject-link.tsx';
import { plain } from './words.ts';

const FROM = '/operators/$environment/accounts';

export function AccountsPage() {
  const environment = useEnvironment();
  const { text, page = 1 } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const accounts = useQuery(
    accountsQuery({ environment, page, limit: 25, ...(text === undefined ? {} : { text }) }),
  );
  return (
    <Stack>
      <PageHead title="Accounts" about="Customer accounts, newest first." />
      <Filter key={text} text={text ?? ''} />
      <QueryView query={accounts}>
        {({ items, pagination }) => (
          <>
            {items.length === 0 ? <Empty>No results.</Empty> : <List items={items} />}
            <Pages
              of={pagination}
              onChange={(next) => void navigate({ search: (old) => ({ ...old, page: next }) })}
            />
          </>
        )}
      </QueryView>
    </Stack>
  );
}

function Filter({ text }: { readonly text: string }) {
  const navigate = useNavigate({ from: FROM });
  const form = useForm({ initialValues: { text } });
  return (
    <form
      role="search"
      aria-label="Find accounts"
      onSubmit={form.onSubmit((values) => {
        const wanted = values.text.trim();
        void navigate({ search: wanted === '' ? {} : { text: wanted } });
      })}
    >
      <Group align="flex-end">
        <TextInput
          label="Find"
          placeholder="Id, name or e-mail address"
          maxLength={254}
          {...form.getInputProps('text')}
        />
        <Button type="submit" variant="default">
          Show
        </Button>
      </Group>
    </form>
  );
}

export function AccountState({ disabledAt }: Pick<ListedAccount, 'disabledAt'>) {
  return disabledAt === null ? (
    <Badge color="green" variant="light" className="status">
      Active
    </Badge>
  ) : (
    <Badge color="red" variant="light" className="status">
      Disabled
    </Badge>
  );
}

function List({ items }: { readonly items: readonly ListedAccount[] }) {
  return (
    <Rows
      label="Accounts"
      rows={items}
      keyOf={({ accountId }) => accountId}
      columns={[
        {
          title: 'Account',
          cell: ({ accountId, name }) => <SubjectLink id={accountId}>{name}</SubjectLink>,
        },
        { title: 'E-mail', cell: ({ email }) => <span className="breakable">{email}</span> },
        { title: 'Plan', cell: ({ plan }) => plain(plan) },
        { title: 'Status', cell: (account) => <AccountState {...account} /> },
        {
          title: 'Balance',
          cell: ({ balance, currency }) => <Amount of={balance} currency={currency} />,
          isNumber: true,
        },
        { title: 'Since', cell: ({ createdAt }) => <Moment at={createdAt} /> },
      ]}
    />
  );
}
