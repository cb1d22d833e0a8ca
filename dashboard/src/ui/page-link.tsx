import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** A page. Parameters of its path that are not named are those of the page that is open. */
export type Target = Pick<LinkProps, 'to' | 'params' | 'search' | 'hash'>;

/** A link of the router that looks like one. */
export function PageLink({
  to,
  params,
  search,
  hash,
  ...anchor
}: Target & AnchorProps & { readonly title?: string; readonly children: ReactNode }) {
  return (
    <Anchor
      {...anchor}
      renderRoot={(props) => <Link {...props} {...({ to, params, search, hash } as Target)} />}
    />
  );
}

/** A link of the router that looks like a button. */
export function LinkButton({
  to,
  params,
  search,
  ...button
}: Target & ButtonProps & { readonly children: ReactNode }) {
  return (
    <Button {...button} renderRoot={(props) => <Link {...props} {...({ to, params, search } as Target)} />} />
  );
}
