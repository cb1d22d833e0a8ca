// eslint-disable-next-line no-restricted-imports -- the one place that may
import { Navigate, useLocation, type NavigateOptions } from '@tanstack/react-router';
import { useState } from 'react';

/**
 * Leads to another page, once. `Navigate` alone navigates again at each render that gives it new properties,
 * and the page that is being loaded never comes.
 */
export function GoTo(to: NavigateOptions) {
  const [there] = useState(() => <Navigate {...to} />);
  return there;
}

/** Leads to the sign-in page, and from there back to the page that was asked for. */
export function SignInFirst() {
  const { pathname } = useLocation();
  return <GoTo to="/sign-in" search={{ next: pathname.replace(/^\/dashboard/, '') }} />;
}
