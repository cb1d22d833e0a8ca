import type { LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { components } from 'simway-client/generated/api.ts';
import { PageLink } from '../ui/page-link.tsx';
import { usePlace } from './place.ts';

/** What has an id or a code, and mostly a page. */
export type ItemKind = components['schemas']['FoundItem']['kind'] | 'request' | 'key' | 'package';

/** The page that shows it; undefined: it has none. */
export function usePageOf(): (
  kind: ItemKind,
  id: string,
) => Pick<LinkProps, 'to' | 'params' | 'search'> | undefined {
  const place = usePlace();
  const developers = '/m/$accountId/$environment/developers';
  return (kind, id) => {
    switch (kind) {
      case 'purchase':
      case 'funding':
        return {
          to: '/m/$accountId/$environment/purchases/$transactionId',
          params: { ...place, transactionId: id },
        };
      case 'esim':
        return { to: '/m/$accountId/$environment/esims/$esimId', params: { ...place, esimId: id } };
      case 'batch':
        return { to: '/m/$accountId/$environment/batches/$batchId', params: { ...place, batchId: id } };
      case 'package':
        return {
          to: '/m/$accountId/$environment/catalogue/$packageCode',
          params: { ...place, packageCode: id },
        };
      case 'message':
        return { to: `${developers}/webhooks/$messageId`, params: { ...place, messageId: id } };
      case 'endpoint':
        return { to: `${developers}/webhooks`, params: place, search: { endpointId: id } };
      case 'request':
        return { to: `${developers}/requests`, params: place, search: { requestId: id } };
      case 'key':
        return { to: `${developers}/keys`, params: place };
      case 'quote':
        return undefined;
    }
  };
}

/** Leads to its page, if it has one. */
export function ItemLink({
  kind,
  id,
  children = id,
}: {
  readonly kind: ItemKind;
  readonly id: string;
  readonly children?: ReactNode;
}) {
  const page = usePageOf()(kind, id);
  return page ? <PageLink {...page}>{children}</PageLink> : children;
}
