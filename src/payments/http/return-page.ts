/**
 * The page that a buyer comes back to after a hosted checkout. A content policy names its style and script by
 * hash and allows nothing else. It renews itself with the script, and without it by reloading.
 */
import { formatMinor, type Money } from '../../domain/money.ts';
import { DomainError } from '../../domain/errors.ts';
import { renderError, type ErrorAnswer } from '../../platform/http/errors.ts';
import { brandHead, brandStyle, supportLinks } from '../../platform/http/brand-html.ts';
import type { ShownBrand } from '../../domain/brand.ts';
import { hashOf, html, inlineStyle, type Html } from '../../platform/http/html.ts';
import type { PaymentStatusView } from '../views.ts';
import type { PurchaseStatus } from '../../domain/states.ts';
import type { FailureReason } from '../../domain/refusals.ts';

const RELOAD_SECONDS = 5;

const STYLE = inlineStyle(`
:root { color-scheme: light dark; font: 1.05rem/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: Canvas; color: CanvasText; }
main { max-width: 26rem; padding: 2rem 1.5rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 0.75rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.25rem 1rem; margin: 1.5rem 0 0; font-size: 0.95rem; }
dt { opacity: 0.75; }
dd { margin: 0; }
ul { display: grid; gap: 0.75rem; margin: 1.5rem 0 0; padding: 0; list-style: none; }
a { display: inline-block; padding: 0.6rem 1rem; border: 1px solid currentcolor; border-radius: 0.5rem; color: inherit; text-decoration: none; }
a.first { background: var(--shop, CanvasText); color: var(--on-shop, Canvas); }
.shop { display: flex; align-items: center; gap: 0.625rem; margin: 0 0 1.5rem; font-weight: 650; }
.shop img { display: block; height: 2.5rem; width: auto; max-width: 10rem; object-fit: contain; }
h2 { font-size: 1rem; margin: 1.5rem 0 0; }
.contacts { gap: 0; margin: 0; }
.contacts a { padding: 0.6rem 0; border: 0; text-decoration: underline; }
`);

/**
 * Checks often at first and seldom later, at once when the buyer comes back to the page, and stops once
 * nothing can change.
 */
const SCRIPT = `
(() => {
  const FIRST_PAUSE_MS = 1500, GROWTH = 1.4, LONGEST_PAUSE_MS = 30000;
  const place = document.getElementById('status');
  let pauseMs = FIRST_PAUSE_MS, timer = 0;
  const plan = () => { timer = place.dataset.ask ? setTimeout(check, pauseMs) : 0; };
  const show = async () => {
    const answer = await fetch(location.href, { cache: 'no-store' });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const fresh = page.getElementById('status');
    document.title = page.title;
    place.replaceChildren(...fresh.childNodes);
    place.dataset.status = fresh.dataset.status;
    if (!fresh.dataset.ask) delete place.dataset.ask;
    pauseMs = FIRST_PAUSE_MS;
  };
  const check = async () => {
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
    check();
  });
  plan();
})();
`;

const contentPolicy = (brand: ShownBrand | undefined): string =>
  [
    "default-src 'none'",
    ['style-src', STYLE.source, (brand && brandStyle(brand))?.source ?? ''].join(' ').trim(),
    `script-src ${hashOf(SCRIPT)}`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** No referrer: the page's address has the reference. */
const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
} as const;

export const pageHeaders = (brand?: ShownBrand) => ({
  ...PAGE_HEADERS,
  'Content-Security-Policy': contentPolicy(brand),
});

/** The page for a payment as it now stands; `statusUrl` answers its status to the script. */
export function renderStatus(view: PaymentStatusView, statusUrl: string): string {
  const words = wordsFor(view);
  const status = html`data-status="${view.status}"`;
  const facts = html`${linksOf(view)} ${factsOf(view)}`;
  const { brand } = view;
  if (view.status === 'SUCCESS' || view.status === 'FAILED') {
    return documentOf(words, { attributes: status, facts }, brand);
  }
  return documentOf(
    words,
    {
      head: html`<noscript><meta http-equiv="refresh" content="${String(RELOAD_SECONDS)}" /></noscript>`,
      attributes: html`${status} data-ask="${statusUrl}"`,
      facts,
      script: { markup: `<script>${SCRIPT}</script>` },
    },
    brand,
  );
}

/** Each address was checked when it was read: nothing else is ever linked. */
function linksOf({ installUrl, backUrl, shop, status }: PaymentStatusView): Html | string {
  if (installUrl === undefined && backUrl === undefined) return '';
  const install =
    installUrl === undefined
      ? ''
      : html`<li><a class="first" href="${installUrl}">Install your eSIM</a></li>`;
  const where = shop ?? 'the shop';
  const words = status === 'PENDING' ? `Go back to ${where} without paying` : `Back to ${where}`;
  const back = backUrl === undefined ? '' : html`<li><a href="${backUrl}">${words}</a></li>`;
  return html`<ul>
    ${install} ${back}
  </ul>`;
}

function factsOf({ packageName, charge, receivedMinor, reference, shop }: PaymentStatusView): Html {
  const from =
    shop === undefined
      ? ''
      : html`<dt>Shop</dt>
          <dd>${shop}</dd>`;
  const name =
    packageName === null
      ? ''
      : html`<dt>Package</dt>
          <dd>${packageName}</dd>`;
  const isOtherwise = receivedMinor !== 0n && receivedMinor !== charge.amountMinor;
  const came = isOtherwise
    ? html`<dt>Paid</dt>
        <dd>${readable({ ...charge, amountMinor: receivedMinor })}</dd>`
    : '';
  return html`<dl>
    ${from} ${name}
    <dt>${isOtherwise ? 'Asked for' : 'Amount'}</dt>
    <dd>${readable(charge)}</dd>
    ${came}
    <dt>Reference</dt>
    <dd>${reference}</dd>
  </dl>`;
}

/** `19,178.12 NGN`: the page is in English. */
const readable = ({ amountMinor, currency }: Money): string =>
  `${formatMinor(amountMinor).replace(/\B(?=(?:\d{3})+\.)/g, ',')} ${currency}`;

/** A refusal as a page. A person with a malformed link sees the page for an unknown one. */
export function refusalPage(refusal: DomainError): ErrorAnswer {
  const isMalformed = refusal.code === 'VALIDATION_ERROR';
  const answer = renderError(
    isMalformed ? new DomainError('NOT_FOUND', refusal.message) : refusal,
    'general',
  );
  const body = documentOf(REFUSALS[answer.status] ?? UNAVAILABLE);
  return { ...answer, body, headers: { ...answer.headers, ...pageHeaders() } };
}

function documentOf(
  words: Words,
  { head = '', attributes = '', facts = '', script = '' }: Partial<Record<DocumentPart, Html | string>> = {},
  brand?: ShownBrand,
): string {
  const contacts = brand ? supportLinks(brand) : [];
  const support = html`<h2>Questions? Ask the shop</h2>
    <ul class="contacts">
      ${{ markup: contacts.map(({ markup }) => markup).join('') }}
    </ul>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${words.title}</title>
        <link rel="icon" href="data:," />
        ${head} ${STYLE} ${(brand && brandStyle(brand)) ?? ''}
      </head>
      <body>
        <main>
          ${brand ? brandHead(brand) : ''}
          <div id="status" role="status" ${attributes}>
            <h1>${words.title}</h1>
            <p>${words.text}</p>
            ${facts}
          </div>
          ${contacts.length === 0 ? '' : support}
        </main>
        ${script}
      </body>
    </html>`.markup;
}

type DocumentPart = 'head' | 'attributes' | 'facts' | 'script';

interface Words {
  readonly title: string;
  readonly text: string;
}

// Most buyers come here a second after they paid, before the gateway notifies us.
const WAITING: Words = {
  title: 'Checking your payment',
  text: 'If you have paid, we usually know within a few seconds. This page updates automatically, and you may close it: nothing gets lost.',
};

const GO_BACK = 'You can close this page and go back to where you ordered it.';

const PURCHASE: Readonly<Record<Exclude<PurchaseStatus, 'FAILED'>, Words>> = {
  PENDING: WAITING,
  PROCESSING: {
    title: 'Paid. Preparing your eSIM',
    text: 'Your money has arrived. This usually takes less than a minute.',
  },
  SUCCESS: { title: 'Done. Your eSIM is ready', text: GO_BACK },
};

const FUNDING: typeof PURCHASE = {
  PENDING: WAITING,
  PROCESSING: { title: 'Paid. Filling your wallet', text: 'Your money has arrived.' },
  SUCCESS: { title: 'Done. The money is in your wallet', text: 'You can close this page and spend it now.' },
};

const UNDELIVERED = 'What you ordered cannot be delivered. Your money goes back to where it came from.';

const REASONS: Readonly<Record<FailureReason, string>> = {
  INSUFFICIENT_BALANCE: 'There was not enough money in the wallet.',
  KEY_BUDGET_EXCEEDED: 'The shop’s budget did not allow this purchase.',
  PACKAGE_WITHDRAWN: UNDELIVERED,
  PACKAGE_UNAVAILABLE: UNDELIVERED,
  OUT_OF_STOCK: UNDELIVERED,
  PRICE_CHANGED: UNDELIVERED,
  SUPPLIER_BALANCE_TOO_LOW: UNDELIVERED,
  SUPPLIER_REFUSED: UNDELIVERED,
  ESIM_NOT_ACTIVE: 'This eSIM can no longer be topped up. Your money goes back to where it came from.',
  MANDATE_NOT_VALID: 'The automatic top-up was not allowed any more. No money was taken.',
  QUOTE_USED: 'The price was offered once only. No money was taken.',
  REFERENCE_ALREADY_USED: 'The shop has an order with this number already. No money was taken.',
  TOO_MANY_UNPAID_PAYMENTS: 'Too many payments of the shop were open at once. No money was taken.',
  PAYMENT_NOT_SERVED: 'This way of paying is not possible for this amount. No money was taken.',
  PAYMENT_NOT_OPENED: 'The payment could not be opened. No money was taken.',
  NOT_VERIFIED: 'The payment could not be opened. No money was taken.',
  NOT_RECORDED: 'The payment could not be opened. No money was taken.',
  SUPERSEDED: 'The shop has asked for something else instead. No money was taken.',
  PAYMENT_EXPIRED:
    'The payment did not arrive in time. Money that still arrives is not lost: it goes to the wallet of the account that ordered.',
  PAYMENT_UNDERPAID:
    'Less than the price arrived, so nothing is delivered. What arrived went to the wallet of the account that ordered.',
  PAYMENT_WRONG_CURRENCY: 'The payment came in another currency than agreed. It is sent back to you.',
  PAYMENT_REVERSED: 'The payment was taken back before anything could be delivered.',
  CANCELLED_BY_OPERATOR:
    'It was cancelled. What was paid for it goes back, or is in the wallet of the account that ordered.',
};

const OTHER_REASON = 'It ended without a delivery. Ask where you ordered it.';

function wordsFor(view: PaymentStatusView): Words {
  const { status, reason, purpose, backUrl } = view;
  if (status !== 'FAILED') {
    const words = (purpose === 'purchase' ? PURCHASE : FUNDING)[status];
    // The way back is a button below.
    return words.text === GO_BACK && backUrl !== undefined
      ? { ...words, text: 'You can close this page.' }
      : words;
  }
  const isKnown = reason !== null && Object.hasOwn(REASONS, reason);
  return { title: 'Not completed', text: isKnown ? REASONS[reason as FailureReason] : OTHER_REASON };
}

/** By HTTP status. */
const REFUSALS: Readonly<Record<number, Words>> = {
  404: {
    title: 'We do not know this payment',
    text: 'The link is incomplete or wrong. Nothing has happened to your money: go back to where you ordered and check there.',
  },
  429: {
    title: 'A moment, please',
    text: 'This page was asked for too often. Open it again in a minute.',
  },
};

const UNAVAILABLE: Words = {
  title: 'Not available right now',
  text: 'Your payment goes on without this page. Open it again in a minute.',
};
