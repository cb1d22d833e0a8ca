import { Anchor, type AnchorProps } from '@mantine/core';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';

type Target = Pick<LinkProps, 'to' | 'params' | 'search' | 'hash'>;

/** A link of the router that looks like one. */
export function PageLink({
  to,
  params,
  search,
  hash,
  children,
  ...anchor
}: Target & AnchorProps & { readonly title?: string; readonly children: ReactNode }) {
  return (
    <Anchor
      {...anchor}
      renderRoot={(props) => <Link {...props} {...({ to, params, search, hash } as Target)} />}
    >
      {children}
    </Anchor>
  );
}
