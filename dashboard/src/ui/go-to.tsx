// oxlint-disable-next-line no-restricted-imports -- the one place that may
import { Navigate, useLocation, type NavigateOptions } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { type CurrentUser, useCurrentUser, isSignedOut } from '../app/session.ts';
import { QueryView } from './parts.tsx';

/** Once: `Navigate` alone navigates at each render, and the page that is being loaded never comes. */
export function GoTo(to: NavigateOptions) {
  const [there] = useState(() => <Navigate {...to} />);
  return there;
}

/** For who is signed in. Others are led to the sign-in page, and from there back to this one. */
export function SignedIn({ children }: { readonly children: (user: CurrentUser) => ReactNode }) {
  const query = useCurrentUser();
  const { pathname, searchStr } = useLocation();
  if (isSignedOut(query.error) && !query.data)
    return <GoTo to="/sign-in" search={{ next: pathname.replace(/^\/dashboard/, '') + searchStr }} />;
  return <QueryView query={query}>{children}</QueryView>;
}
