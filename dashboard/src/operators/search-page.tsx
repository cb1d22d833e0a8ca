import { Alert } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { GoTo } from '../ui/go-to.tsx';
import { NothingFound, PageLink, type Target, QueryView, Empty, Id, Page } from '../ui/parts.tsx';
import { Rows } from '../ui/rows.tsx';
import { FOUND_BY, FOUND_KINDS } from '../ui/words.ts';
import { type Found, useEnvironment, useOps } from './place.ts';
import { WorkflowLink, SubjectLink } from './links.tsx';

export function SearchPage() {
  const { text = '' } = useSearch({ from: '/operators/$environment/search' });
  return (
    <Page title="Search">
      {text === '' ? <Empty>Type an id into the search box above.</Empty> : <Results text={text} />}
    </Page>
  );
}

function Results({ text }: { readonly text: string }) {
  const environment = useEnvironment();
  const found = useOps('/ops/search', { query: { text } });
  return (
    <QueryView query={found}>
      {({ items, isCut }) => {
        const [only, ...more] = items;
        if (!only)
          return (
            <NothingFound text={text} environment={environment}>
              The box takes the complete id of a purchase, funding, eSIM, batch, message, account, key or
              request, ids and references of the gateway and of the supplier, ICCIDs, and parts of an
              account’s name or e-mail address.
            </NothingFound>
          );
        if (more.length === 0 && SHOWN_WHOLE.has(only.kind))
          return <GoTo key={only.id} {...pageOf(only)} replace />;
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

/** The page that shows it, or its account. */
function pageOf({ kind, id, account }: Found): Target {
  switch (kind) {
    case 'purchase':
    case 'funding':
      return { to: '/operators/$environment/purchases/$id', params: { id } };
    case 'repair':
      return { to: '/operators/$environment/repairs/$repairId', params: { repairId: id } };
    case 'difference':
      return { to: '/operators/$environment/differences', search: { id } };
    case 'gateway event':
      return { to: '/operators/$environment/stuck', search: { class: 'inbox-without-purchase' } };
    case 'person':
      return { to: '/operators/$environment/people' };
    default:
      return {
        to: '/operators/$environment/accounts/$id',
        params: { id: account?.accountId ?? id },
        search: kind === 'message' ? { message: id } : {},
      };
  }
}

function List({ items }: { readonly items: readonly Found[] }) {
  return (
    <Rows
      label="Found"
      rows={items}
      columns={{
        Kind: ({ kind }) => FOUND_KINDS[kind],
        What: (item) => <PageLink {...pageOf(item)}>{item.title}</PageLink>,
        // A batch has no page. Its workflow has its id.
        Id: ({ kind, id }) => (kind === 'batch' ? <WorkflowLink workflowId={id} /> : <Id>{id}</Id>),
        Account: ({ account }) =>
          account ? <SubjectLink id={account.accountId}>{account.name}</SubjectLink> : '–',
        'Found by': ({ foundBy }) => FOUND_BY[foundBy],
      }}
    />
  );
}
