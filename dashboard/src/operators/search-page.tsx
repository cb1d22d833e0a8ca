import { Alert, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate, useSearch } from '@tanstack/react-router';
import { searchQuery, type Found } from './data.ts';
import { QueryView, Empty, Id, PageHead } from '../ui/parts.tsx';
import { useWorld } from './place.ts';
import { Rows } from '../ui/rows.tsx';
import { SubjectLink } from './subject-link.tsx';
import { plain } from './words.ts';

/** What an id, a reference, an ICCID or an e-mail address leads to. */
export function SearchPage() {
  const { text = '' } = useSearch({ from: '/operators/$world/search' });
  return (
    <Stack>
      <PageHead title="Search" />
      {text === '' ? <Empty>Type an id into the search box above.</Empty> : <Results text={text} />}
    </Stack>
  );
}

function Results({ text }: { readonly text: string }) {
  const world = useWorld();
  const found = useQuery(searchQuery(world, text));
  return (
    <QueryView query={found}>
      {({ items, isCut }) => {
        const [only, ...more] = items;
        if (!only) return <Nothing text={text} />;
        if (more.length === 0 && pageOf(only)) return <ToPage of={only} />;
        return (
          <>
            {isCut && <Alert color="yellow">More results than shown. Type a longer text.</Alert>}
            <List items={items} />
          </>
        );
      }}
    </QueryView>
  );
}

/** The id whose page shows it; null: it has none. */
const pageOf = ({ kind, id, account }: Found): string | null =>
  kind === 'purchase' || kind === 'funding' ? id : (account?.accountId ?? null);

function ToPage({ of }: { readonly of: Found }) {
  const world = useWorld();
  const id = pageOf(of) ?? '';
  const to =
    id === of.account?.accountId ? '/operators/$world/accounts/$id' : '/operators/$world/purchases/$id';
  return <Navigate to={to} params={{ world, id }} replace />;
}

function Nothing({ text }: { readonly text: string }) {
  const world = useWorld();
  return (
    <div role="status">
      <Empty>
        No result for “{text}” in the {world} world.
      </Empty>
      <Text ta="center" size="sm">
        The box takes ids in full (purchases, fundings, eSIMs, webhook messages, events, operator actions,
        accounts, API keys, requests), references of the gateway, ICCIDs, and parts of an account’s name or
        e-mail address.
      </Text>
    </div>
  );
}

function List({ items }: { readonly items: readonly Found[] }) {
  return (
    <Rows
      label="Found"
      rows={items}
      keyOf={({ kind, id }, index) => `${kind} ${id} ${String(index)}`}
      columns={[
        { title: 'Kind', cell: ({ kind }) => plain(kind) },
        {
          title: 'What',
          cell: (item) => {
            const page = pageOf(item);
            return page === null ? item.title : <SubjectLink id={page}>{item.title}</SubjectLink>;
          },
        },
        { title: 'Id', cell: ({ id }) => <Id>{id}</Id> },
        {
          title: 'Account',
          cell: ({ account }) =>
            account ? <SubjectLink id={account.accountId}>{account.name}</SubjectLink> : '–',
        },
        { title: 'Found by', cell: ({ foundBy }) => plain(foundBy) },
      ]}
    />
  );
}
