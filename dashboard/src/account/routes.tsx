/** Signing up and in, and one's own login. */
import { pagesBelow } from '../app/pages-below.ts';
import { rootRoute } from '../app/root-route.tsx';
import { textIn, type Search } from '../ui/address.ts';

const page = pagesBelow(rootRoute);

export const accountRoutes = [
  page('/', () => import('./start.tsx'), 'Start'),
  page('/sign-in', () => import('./sign-in.tsx'), 'SignIn', {
    // Only a path of the dashboard, never another site.
    validateSearch: ({ next }: Search): { next?: string | undefined } => ({
      next: /^\/(?!\/)/.test(textIn(next) ?? '') ? textIn(next) : undefined,
    }),
  }),
  page('/sign-up', () => import('./sign-up.tsx'), 'SignUp'),
  page('/confirm', () => import('./confirm.tsx'), 'Confirm'),
  page('/reset-password', () => import('./reset.tsx'), 'Reset'),
  page('/invitation', () => import('./invitation.tsx'), 'AcceptInvitation'),
  page('/settings', () => import('./own-login.tsx'), 'OwnLoginAlone'),
] as const;
