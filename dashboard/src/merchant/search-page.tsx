import { useSearch } from '@tanstack/react-router';
import { readApi, type ApiSchemas } from '../api/client.ts';
import { GoTo } from '../ui/go-to.tsx';
import { NothingFound, Empty, Id, QueryView, Status, Page } from '../ui/parts.tsx';
import { Rows } from '../ui/rows.tsx';
import { ItemLink, pageOf } from './item-link.tsx';
import { useMembership, usePlace, useReads } from './place.ts';

type FoundItem = ApiSchemas['FoundItem'];

/** `/api/search` does not cover keys and requests; they are read from the account's routes. */
interface Found extends Pick<FoundItem, 'id' | 'title' | 'status'> {
  readonly kind: FoundItem['kind'] | 'request' | 'key';
}

const KINDS: Readonly<Record<Found['kind'], string>> = {
  purchase: 'Purchase',
  funding: 'Funding',
  esim: 'eSIM',
  batch: 'Batch',
  message: 'Webhook message',
  endpoint: 'Webhook endpoint',
  quote: 'Quote',
  request: 'API request',
  key: 'API key',
};

export function SearchPage() {
  const { text } = useSearch({ from: '/m/$accountId/$environment/search' });
  return (
    <Page title="Search">
      {text === undefined ? <Empty>Type an id into the search box above.</Empty> : <Results text={text} />}
    </Page>
  );
}

function Results({ text }: { readonly text: string }) {
  const { environment } = usePlace();
  const { may } = useMembership();
  const query = useReads(['search', text], async () => {
    const [{ items }, requests, keys] = await Promise.all([
      readApi('/api/search', { query: { text } }),
      may('requests') ? findRequests(text) : [],
      may('keys') ? findKeys(text) : [],
    ]);
    return [...items, ...requests, ...keys] satisfies Found[];
  });
  return (
    <QueryView query={query}>
      {(items) => {
        const [only, ...more] = items;
        if (!only)
          return (
            <NothingFound text={text} environment={environment}>
              The box takes the complete id of a purchase, funding, eSIM, batch, message, endpoint, quote,
              request or key, your own references in batches, references of payments, and ICCIDs.
            </NothingFound>
          );
        const page = pageOf(only.kind, only.id);
        if (more.length === 0 && page) return <GoTo key={text} {...page} replace />;
        return (
          <Rows
            label="Found"
            rows={items}
            columns={{
              Kind: ({ kind }) => KINDS[kind],
              What: ({ kind, id, title }) => (
                <ItemLink kind={kind} id={id}>
                  {title}
                </ItemLink>
              ),
              Status: ({ status }) => <Status>{status === '' ? null : status}</Status>,
              Id: ({ id }) => <Id>{id}</Id>,
            }}
          />
        );
      }}
    </QueryView>
  );
}

/** Callers choose this id, so several requests may have it; they share a page. */
async function findRequests(text: string): Promise<Found[]> {
  const { items } = await readApi('/account/requests', { query: { requestId: text, limit: 1 } });
  return items.map(({ requestId: id, method, path, status }) => ({
    ...{ kind: 'request' as const, id, title: `${method} ${path}`, status: String(status) },
  }));
}

async function findKeys(text: string): Promise<Found[]> {
  if (!text.startsWith('key-')) return [];
  const { items } = await readApi('/account/keys', {});
  return items
    .filter(({ keyId }) => keyId === text)
    .map(({ keyId: id, key, revokedAt }) => ({
      ...{ kind: 'key' as const, id, title: key, status: revokedAt === null ? '' : 'REVOKED' },
    }));
}
