/** Signing up and in, and one's own login. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../app/root-route.tsx';
import { textIn, type Search } from '../ui/address.ts';

const start = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./start.tsx'), 'Start'),
});

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  // Only a path of the dashboard, never another site.
  validateSearch: ({ next }: Search): { next?: string | undefined } => ({
    next: /^\/(?!\/)/.test(textIn(next) ?? '') ? textIn(next) : undefined,
  }),
  component: lazyRouteComponent(() => import('./sign-in.tsx'), 'SignIn'),
});

const signUp = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-up',
  component: lazyRouteComponent(() => import('./sign-up.tsx'), 'SignUp'),
});

const confirm = createRoute({
  getParentRoute: () => rootRoute,
  path: '/confirm',
  component: lazyRouteComponent(() => import('./confirm.tsx'), 'Confirm'),
});

const reset = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./reset.tsx'), 'Reset'),
});

const invitation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./invitation.tsx'), 'AcceptInvitation'),
});

const settings = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./own-login.tsx'), 'OwnLoginAlone'),
});

export const accountRoutes = [start, signIn, signUp, confirm, reset, invitation, settings] as const;
