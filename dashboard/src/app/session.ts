import { queryOptions, useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { api, type ApiSchemas, dataOf, Refusal } from '../api/client.ts';

export type CurrentUser = ApiSchemas['CurrentUser']['data'];
export type Membership = ApiSchemas['Membership'];

export const currentUserQuery = queryOptions({
  queryKey: ['auth', 'me'],
  queryFn: () => dataOf(api.GET('/auth/me')),
  staleTime: 60_000,
});

export const useCurrentUser = () => useQuery(currentUserQuery);

export const isSignedOut = (error: unknown): boolean => error instanceof Refusal && error.status === 401;

/** The path of the user's first page, below /dashboard. */
export function homePathOf(user: CurrentUser): string {
  const [membership] = user.memberships;
  const environment = user.environments.includes('live') ? 'live' : 'test';
  if (membership) return `/m/${membership.accountId}/${environment}`;
  return user.operator ? `/operators/${environment}` : '/settings';
}

let isEnded = false;
const listeners = new Set<() => void>();

/** `true`: the session ended while a page was open. A dialog asks to sign in again. */
export function setSessionEnded(ended: boolean): void {
  isEnded = ended;
  for (const listener of listeners) listener();
}

/** Called after each change. Returns what ends the calls. */
export function onSessionEnded(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const isSessionEnded = (): boolean => isEnded;

export const useSessionEnded = (): boolean => useSyncExternalStore(onSessionEnded, isSessionEnded);
