import { Anchor } from '@mantine/core';
import { createRouter, Link } from '@tanstack/react-router';
import { accountRoutes } from '../account/routes.tsx';
import { CardPage } from '../account/card-page.tsx';
import { merchantRoutes } from '../merchant/routes.tsx';
import { Failed } from '../ui/parts.tsx';
import { textOfSearch } from '../ui/address.ts';
import { operatorRoutes } from '../operators/routes.tsx';
import type { Permission as MemberPermission } from '../merchant/place.ts';
import type { Permission as OperatorPermission } from '../operators/place.ts';
import type { ListedPage } from '../ui/app-layout.tsx';
import { rootRoute } from './root-route.tsx';

export const router = createRouter({
  routeTree: rootRoute.addChildren([...accountRoutes, ...merchantRoutes, ...operatorRoutes]),
  basepath: '/dashboard',
  // A text stays a text: by default the router takes the 20 digits of an ICCID for a number, and rounds it.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: textOfSearch,
  defaultPreload: 'intent',
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: ({ error, reset }) => (
    <Failed error={error instanceof Error ? error : new Error(String(error))} again={reset} />
  ),
});

function NotFound() {
  return (
    <CardPage title="Page not found">
      <Anchor component={Link} to="/">
        Go to the first page
      </Anchor>
    </CardPage>
  );
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    /** Its entry in the list of pages; absent: it has none. */
    readonly operatorsPage?: ListedPage<OperatorPermission>;
    readonly merchantPage?: ListedPage<MemberPermission>;
  }
}
