import type { ReactNode } from 'react';
import { PageLink } from '../ui/page-link.tsx';
import { Id } from '../ui/parts.tsx';

/** An id as a link to its page; to be copied where it has none. `children` stand in place of the id. */
export function SubjectLink({ id, children = id }: { readonly id: string; readonly children?: ReactNode }) {
  const to = id.startsWith('txn-')
    ? '/operators/$environment/purchases/$id'
    : id.startsWith('acc-')
      ? '/operators/$environment/accounts/$id'
      : null;
  if (to === null) return children === id ? <Id>{id}</Id> : children;
  return (
    <PageLink inherit className="id" title={id} to={to} params={{ id }}>
      {children}
    </PageLink>
  );
}
