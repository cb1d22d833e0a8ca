import { Badge, Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { accountsQuery, type ListedAccount } from './data.ts';
import { Moment, PageHead } from '../ui/parts.tsx';
import { useEnvironment } from './place.ts';
import { SubjectLink } from './subject-link.tsx';
import { amountColumn, PagedRows } from './tables.tsx';
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
      <PagedRows
        query={accounts}
        onPage={(next) => void navigate({ search: (old) => ({ ...old, page: next }) })}
        label="Accounts"
        empty="No results."
        keyOf={({ accountId }) => accountId}
        columns={[
          {
            title: 'Account',
            cell: ({ accountId, name }) => <SubjectLink id={accountId}>{name}</SubjectLink>,
          },
          { title: 'E-mail', cell: ({ email }) => <span className="breakable">{email}</span> },
          { title: 'Plan', cell: ({ plan }) => plain(plan) },
          { title: 'Status', cell: (account) => <AccountState {...account} /> },
          amountColumn('Balance', 'balance'),
          { title: 'Since', cell: ({ createdAt }) => <Moment at={createdAt} /> },
        ]}
      />
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
