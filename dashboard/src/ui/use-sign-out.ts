import { useMutation } from '@tanstack/react-query';
import { api } from '../api/client.ts';

/** Ends the session and leads to the sign-in page, also if the request failed. */
export function useSignOut() {
  const { mutate, isPending } = useMutation({
    mutationFn: () => api.DELETE('/auth/sessions/current'),
    // A new load, so that nothing that was read stays in memory.
    onSettled: () => window.location.assign('/dashboard/sign-in'),
  });
  return { signOut: () => mutate(), isSigningOut: isPending };
}
