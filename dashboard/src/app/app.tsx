import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import {
  MutationCache,
  QueryCache,
  QueryClient,
  QueryClientProvider,
  type Mutation,
  type Query,
} from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { Refusal } from '../api/client.ts';
import { router } from './router.tsx';
import { currentUserQuery, isSignedOut, setSessionEnded } from './session.ts';
import { theme } from './theme.ts';

const styleNonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';

const FRESH_FOR_MS = 5_000;
const MAX_RETRIES = 2;

/** Before the first read of the user, pages redirect to the sign-in page; no dialog is needed. */
function noteRefusedRead(error: unknown): void {
  if (isSignedOut(error) && queries.getQueryData(currentUserQuery.queryKey)) setSessionEnded(true);
}

/** A wrong password in a form is also 401. Reading /auth/me shows whether the session has ended. */
function noteRefusedChange(error: unknown): void {
  if (isSignedOut(error)) void queries.invalidateQueries({ queryKey: currentUserQuery.queryKey });
}

/** After a change, also a refused one, everything that pages show is read again. */
function readAgain({ meta }: Mutation<unknown, unknown>): void {
  const isShown = ({ queryKey: [root] }: Query) => root === 'm' || root === 'ops';
  if (meta?.['changesNothing'] !== true) void queries.invalidateQueries({ predicate: isShown });
}

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteRefusedRead }),
  mutationCache: new MutationCache({
    onError: noteRefusedChange,
    onSettled: (_data, _error, _sent, _context, mutation) => readAgain(mutation),
  }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_FOR_MS,
      // Only network errors and 5xx are retried.
      retry: (failures, error) =>
        failures < MAX_RETRIES && error instanceof Refusal && (error.status === 0 || error.status >= 500),
    },
  },
});

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => styleNonce}>
      <Notifications />
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}
