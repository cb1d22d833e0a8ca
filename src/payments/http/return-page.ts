/**
 * The page that a buyer comes back to after a hosted checkout. It stands alone: style and script are part of it and named by hash in a
 * content policy that allows nothing else. It renews itself with a script, and without one by reloading.
 */
import { createHash } from 'node:crypto';
import { formatMinor } from '../../domain/money.ts';
import { DomainError } from '../../domain/errors.ts';
import { renderError, type ErrorAnswer } from '../../platform/http/errors.ts';
import { html, ownMarkup, type Html } from './return-page/html.ts';
import { wordsFor, wordsForRefusal, type Words } from './return-page/words.ts';
import type { PaymentStatusView } from '../views.ts';

const RELOAD_SECONDS = 5;

const STYLE = `
:root { color-scheme: light dark; font: 1.05rem/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: Canvas; color: CanvasText; }
main { max-width: 26rem; padding: 2rem 1.5rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 0.75rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.25rem 1rem; margin: 1.5rem 0 0; font-size: 0.95rem; }
dt { opacity: 0.75; }
dd { margin: 0; }
`;

/** Looks often at first and seldom later, at once when the buyer comes back to the page, and no more once nothing can change. */
const SCRIPT = `
(() => {
  const FIRST_PAUSE_MS = 1500, GROWTH = 1.4, LONGEST_PAUSE_MS = 30000;
  const place = document.getElementById('standing');
  let pauseMs = FIRST_PAUSE_MS, timer = 0;
  const plan = () => { timer = place.dataset.ask ? setTimeout(look, pauseMs) : 0; };
  const show = async () => {
    const answer = await fetch(location.href, { cache: 'no-store' });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const fresh = page.getElementById('standing');
    document.title = page.title;
    place.replaceChildren(...fresh.childNodes);
    place.dataset.status = fresh.dataset.status;
    if (!fresh.dataset.ask) delete place.dataset.ask;
    pauseMs = FIRST_PAUSE_MS;
  };
  const look = async () => {
    timer = 0;
    pauseMs = Math.min(pauseMs * GROWTH, LONGEST_PAUSE_MS);
    try {
      const answer = await fetch(place.dataset.ask, { cache: 'no-store' });
      if (answer.ok && (await answer.json()).status !== place.dataset.status) await show();
    } catch { /* Away for a moment: asked again. */ }
    plan();
  };
  document.addEventListener('visibilitychange', () => {
    if (document.hidden || timer === 0) return;
    clearTimeout(timer);
    look();
  });
  plan();
})();
`;

const CONTENT_POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Of every page here. The reference in its address is nobody else's business. */
export const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': CONTENT_POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
} as const;

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** The page for a payment as it now stands; `statusUrl` answers its status to the script. */
export function renderStanding(standing: PaymentStatusView, statusUrl: string): string {
  const words = wordsFor(standing);
  const status = html`data-status="${standing.status}"`;
  if (standing.status === 'SUCCESS' || standing.status === 'FAILED') {
    return documentOf(words, { attributes: status, facts: factsOf(standing) });
  }
  return documentOf(words, {
    head: html`<noscript><meta http-equiv="refresh" content="${String(RELOAD_SECONDS)}" /></noscript>`,
    attributes: html`${status} data-ask="${statusUrl}"`,
    facts: factsOf(standing),
    script: ownMarkup(`<script>${SCRIPT}</script>`),
  });
}

function factsOf({ packageName, charge, reference }: PaymentStatusView): Html {
  const name =
    packageName === null
      ? ''
      : html`<dt>Package</dt>
          <dd>${packageName}</dd>`;
  return html`<dl>
    ${name}
    <dt>Amount</dt>
    <dd>${formatMinor(charge.amountMinor)} ${charge.currency}</dd>
    <dt>Reference</dt>
    <dd>${reference}</dd>
  </dl>`;
}

/** A refusal as a page. For a person a link that is garbage is one that leads nowhere, so that is what both are told as. */
export function refusalPage(refusal: DomainError): ErrorAnswer {
  const isGarbage = refusal.code === 'VALIDATION_ERROR';
  const told = isGarbage ? new DomainError('NOT_FOUND', refusal.message) : refusal;
  const answer = renderError(told, 'shape-3');
  const body = documentOf(wordsForRefusal(answer.status), {});
  return { ...answer, body, headers: { ...answer.headers, ...PAGE_HEADERS } };
}

interface DocumentParts {
  readonly head?: Html;
  readonly attributes?: Html;
  readonly facts?: Html;
  readonly script?: Html;
}

function documentOf(words: Words, parts: DocumentParts): string {
  const { head = '', attributes = '', facts = '', script = '' } = parts;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${words.title}</title>
        <link rel="icon" href="data:," />
        ${head} ${ownMarkup(`<style>${STYLE}</style>`)}
      </head>
      <body>
        <main>
          <div id="standing" role="status" ${attributes}>
            <h1>${words.title}</h1>
            <p>${words.text}</p>
            ${facts}
          </div>
        </main>
        ${script}
      </body>
    </html>`.markup;
}
