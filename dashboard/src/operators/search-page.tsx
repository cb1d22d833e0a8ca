import { Alert, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate, useSearch, type LinkProps } from '@tanstack/react-router';
import { searchQuery, type Found } from './data.ts';
import { PageLink } from '../ui/page-link.tsx';
import { QueryView, Empty, Id, PageHead } from '../ui/parts.tsx';
import { useWorld } from './place.ts';
import { Rows } from '../ui/rows.tsx';
import type { World } from '../ui/world.ts';
import { SubjectLink } from './subject-link.tsx';
import { plain } from './words.ts';
import { WorkflowLink } from './workflow-link.tsx';

/** What an id, a reference, an ICCID or an e-mail address leads to. A single result opens at once where it has a page. */
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
        if (more.length === 0 && SHOWN_WHOLE.has(only.kind))
          return <Navigate {...pageOf(only, world)} replace />;
        return (
          <>
            {isCut && <Alert color="yellow">Only the first 20 results are shown.</Alert>}
            <List items={items} />
          </>
        );
      }}
    </QueryView>
  );
}

/** The others have no page. */
const SHOWN_WHOLE: ReadonlySet<Found['kind']> = new Set([
  ...(['purchase', 'funding', 'repair', 'difference'] as const),
  ...(['account', 'member', 'key', 'endpoint', 'message'] as const),
]);

type Page = Pick<LinkProps, 'to' | 'params' | 'search'>;

/** The page that shows it, or its account. */
function pageOf({ kind, id, account }: Found, world: World): Page {
  switch (kind) {
    case 'purchase':
    case 'funding':
      return { to: '/operators/$world/purchases/$id', params: { world, id } };
    case 'repair':
      return { to: '/operators/$world/repairs/$repairId', params: { world, repairId: id } };
    case 'difference':
      return { to: '/operators/$world/differences', params: { world }, search: { id } };
    case 'gateway event':
      return {
        to: '/operators/$world/stuck',
        params: { world },
        search: { class: 'inbox-without-purchase' },
      };
    case 'person':
      return { to: '/operators/$world/people', params: { world } };
    default:
      return {
        to: '/operators/$world/accounts/$id',
        params: { world, id: account?.accountId ?? id },
        search: kind === 'message' ? { message: id } : {},
      };
  }
}

function Nothing({ text }: { readonly text: string }) {
  const world = useWorld();
  return (
    <div role="status">
      <Empty>
        No result for “{text}” in the {world} world.
      </Empty>
      <Text ta="center" size="sm">
        The box takes complete ids of anything shown on these pages, ids and references of the gateway and of
        the supplier, ICCIDs, and parts of an account’s name or e-mail address.
      </Text>
    </div>
  );
}

function List({ items }: { readonly items: readonly Found[] }) {
  const world = useWorld();
  return (
    <Rows
      label="Found"
      rows={items}
      keyOf={({ kind, id }, index) => `${kind} ${id} ${String(index)}`}
      columns={[
        { title: 'Kind', cell: ({ kind }) => plain(kind) },
        {
          title: 'What',
          cell: (item) => <PageLink {...pageOf(item, world)}>{item.title}</PageLink>,
        },
        {
          title: 'Id',
          // A batch has no page. Its workflow has its id.
          cell: ({ kind, id }) => (kind === 'batch' ? <WorkflowLink workflowId={id} /> : <Id>{id}</Id>),
        },
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
