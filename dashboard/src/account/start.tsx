import { useNavigate } from '@tanstack/react-router';
import { GoTo } from '../ui/go-to.tsx';
import { useEffect } from 'react';
import { isSignedOut, homePathOf, useCurrentUser } from '../app/session.ts';
import { QueryView } from '../ui/parts.tsx';

/** /dashboard itself: leads to the user's first page. */
export function Start() {
  const query = useCurrentUser();
  const navigate = useNavigate();
  const user = query.data;
  useEffect(() => {
    if (user) void navigate({ href: `/dashboard${homePathOf(user)}`, replace: true });
  }, [user, navigate]);
  if (isSignedOut(query.error)) return <GoTo to="/sign-in" />;
  return <QueryView query={query}>{() => null}</QueryView>;
}
