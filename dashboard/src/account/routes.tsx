import { pagesBelow } from '../app/pages-below.ts';
import { rootRoute } from '../app/root-route.tsx';
import { textIn, type Search } from '../ui/address.ts';

const page = pagesBelow(rootRoute);

export const accountRoutes = [
  page('/', () => import('./sign-in.tsx'), 'Start'),
  page('/sign-in', () => import('./sign-in.tsx'), 'SignIn', {
    // Only a path of the dashboard, never another site.
    validateSearch: ({ next }: Search): { next?: string | undefined } => ({
      next: /^\/(?!\/)/.test(textIn(next) ?? '') ? textIn(next) : undefined,
    }),
  }),
  page('/sign-up', () => import('./sign-up.tsx'), 'SignUp'),
  page('/confirm', () => import('./sign-up.tsx'), 'Confirm'),
  page('/reset-password', () => import('./sign-up.tsx'), 'Reset'),
  page('/invitation', () => import('./sign-up.tsx'), 'AcceptInvitation'),
  page('/settings', () => import('./own-login.tsx'), 'OwnLoginAlone'),
] as const;
