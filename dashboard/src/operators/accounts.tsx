import { Button, Group, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { plain } from '../ui/format.ts';
import { Moment, Page, Status } from '../ui/parts.tsx';
import { PagedRows, amount } from '../ui/rows.tsx';
import type { ListedAccount } from './data.ts';
import { SubjectLink } from './links.tsx';
import { useOps } from './place.ts';

const FROM = '/operators/$environment/accounts';

export function AccountsPage() {
  const { text, page = 1 } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const accounts = useOps('/ops/accounts', { query: { page, limit: 25, text } }, { keepsOld: true });
  return (
    <Page title="Accounts" about="Customer accounts, newest first.">
      <Filter key={text} text={text ?? ''} />
      <PagedRows
        countsNone
        query={accounts}
        onPage={(next) => void navigate({ search: (old) => ({ ...old, page: next }) })}
        label="Accounts"
        empty="No results."
        keyOf={({ accountId }) => accountId}
        columns={{
          Account: ({ accountId, name }) => <SubjectLink id={accountId}>{name}</SubjectLink>,
          'E-mail': ({ email }) => <span className="breakable">{email}</span>,
          Plan: ({ plan }) => plain(plan),
          Status: (account) => <AccountState {...account} />,
          Balance: amount('balance'),
          Since: ({ createdAt }) => <Moment at={createdAt} />,
        }}
      />
    </Page>
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

export const AccountState = ({ disabledAt }: Pick<ListedAccount, 'disabledAt'>) =>
  disabledAt === null ? <Status color="green">Active</Status> : <Status color="red">Disabled</Status>;
