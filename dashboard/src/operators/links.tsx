import { Anchor } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { PageLink, Id, ShortId } from '../ui/parts.tsx';
import { useTemporalUi } from './place.ts';

/** An id as a link to its page; to be copied where it has none. `children` stand in place of the id. */
export function SubjectLink({ id, children = id }: { readonly id: string; readonly children?: ReactNode }) {
  const to = id.startsWith('txn-')
    ? '/operators/$environment/purchases/$id'
    : id.startsWith('acc-')
      ? '/operators/$environment/accounts/$id'
      : null;
  if (to === null) return children === id ? <Id>{id}</Id> : children;
  return (
    <PageLink inherit className={children === id ? 'id' : 'breakable'} title={id} to={to} params={{ id }}>
      {children}
    </PageLink>
  );
}

/** A workflow's id, as a link where the address of the Temporal UI is known. */
export function WorkflowLink({ workflowId }: { readonly workflowId: string }) {
  const ui = useTemporalUi();
  if (ui === null) return <Id>{workflowId}</Id>;
  return (
    <ToTemporal href={`${ui}/workflows/${encodeURIComponent(workflowId)}`}>
      <ShortId>{workflowId}</ShortId>
    </ToTemporal>
  );
}

/** To the list of all workflows of a type; nothing where the address of the Temporal UI is not known. */
export function WorkflowsLink({ type, children }: { readonly type: string; readonly children: ReactNode }) {
  const ui = useTemporalUi();
  if (ui === null) return null;
  const query = encodeURIComponent(`WorkflowType="${type}"`);
  return <ToTemporal href={`${ui}/workflows?query=${query}`}>{children}</ToTemporal>;
}

function ToTemporal({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <Anchor href={href} target="_blank" rel="noreferrer" size="sm">
      {children} <IconExternalLink size={14} role="img" aria-label="opens the Temporal UI" />
    </Anchor>
  );
}
