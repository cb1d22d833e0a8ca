import type { ReactNode } from 'react';
import type { ApiSchemas } from '../api/client.ts';
import { PageLink, type Target } from '../ui/parts.tsx';

export type ItemKind = ApiSchemas['FoundItem']['kind'] | 'request' | 'key' | 'package';

/** The page that shows it; undefined: it has none. */
export function pageOf(kind: ItemKind, id: string): Target | undefined {
  const developers = '/m/$accountId/$environment/developers';
  switch (kind) {
    case 'purchase':
    case 'funding':
      return { to: '/m/$accountId/$environment/purchases/$transactionId', params: { transactionId: id } };
    case 'esim':
      return { to: '/m/$accountId/$environment/esims/$esimId', params: { esimId: id } };
    case 'batch':
      return { to: '/m/$accountId/$environment/batches/$batchId', params: { batchId: id } };
    case 'package':
      return { to: '/m/$accountId/$environment/catalogue/$packageCode', params: { packageCode: id } };
    case 'message':
      return { to: `${developers}/webhooks/$messageId`, params: { messageId: id } };
    case 'endpoint':
      return { to: `${developers}/webhooks`, search: { endpointId: id } };
    case 'request':
      return { to: `${developers}/requests`, search: { requestId: id } };
    case 'key':
      return { to: `${developers}/keys` };
    case 'quote':
      return undefined;
  }
}

export function ItemLink({
  kind,
  id,
  children = id,
}: {
  readonly kind: ItemKind;
  readonly id: string;
  readonly children?: ReactNode;
}) {
  const page = pageOf(kind, id);
  return page ? <PageLink {...page}>{children}</PageLink> : children;
}
