/** The page behind the link in each mail to a stranger, and its button, which mail programs press too. */
import { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { html, inlineStyle, type Html } from '../../platform/http/html.ts';
import { routesFor, type Route } from '../../platform/http/route.ts';
import { MAIL_STOP_PATH } from '../mail-stops.ts';
import type { UserCases } from '../users/users.ts';

const STYLE = inlineStyle(
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}',
);

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; style-src ${STYLE.source}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
} as const;

const page = (title: string, text: string, form: Html | string = ''): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${STYLE}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          <p>${text}</p>
          ${form}
        </main>
      </body>
    </html>`.markup;

const ROUTE = {
  path: `${MAIL_STOP_PATH}/{token}`,
  key: 'anybody',
  scope: undefined,
  docs: undefined,
  errors: ['NOT_FOUND'],
  params: {
    token: {
      description: 'From the link in the mail',
      example: 'x'.repeat(86),
      isPossible: (text: string) => /^[\w-]{86}$/.test(text),
      notFound: { code: 'NOT_FOUND', message: 'No such route' },
    },
  },
  responses: { 200: { description: 'The page', contentType: 'text/html', schema: z.string() } },
} as const;

const notOurs = () => new DomainError('NOT_FOUND', 'No such route');
const defineRoute = routesFor<UserCases>();

/** Opening a link changes nothing: programs open links in mails to look behind them. */
export const mailStopRoutes: readonly Route<UserCases>[] = [
  defineRoute({
    ...ROUTE,
    method: 'GET',
    async handle({ cases, params }) {
      if (!(await cases.canStopMails(params['token'] ?? ''))) throw notOurs();
      const form = html`<form method="post"><button>Stop these mails</button></form>`;
      const text =
        'A customer of ours sent you a mail through us. If you do not know the sender or want no more such mail, say so here: it stops for your address, whoever sends it, and we hear about it.';
      const body = page('Stop mails to your address', text, form);
      return { status: 200, body, headers: HEADERS };
    },
  }),
  defineRoute({
    ...ROUTE,
    method: 'POST',
    async handle({ cases, params, context }) {
      if (!(await cases.stopMails(params['token'] ?? '', context))) throw notOurs();
      const body = page('Stopped', 'We send no more mail of our customers to your address.');
      return { status: 200, body, headers: HEADERS };
    },
  }),
];
