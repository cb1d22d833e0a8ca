/** The shop's pages: plain HTML. Everything that is put into a template is escaped. */
import type { Order } from './store.ts';

class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
type Value = string | number | Html | readonly Html[];

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
export const escape = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (found) => ESCAPES[found] ?? '&#39;');
const written = (value: Value): string => {
  if (value instanceof Html) return value.text;
  return typeof value === 'object' ? value.map(written).join('') : escape(String(value));
};
export const html = (texts: TemplateStringsArray, ...values: readonly Value[]): Html =>
  new Html(String.raw({ raw: texts }, ...values.map(written)));

const NONE = html``;

export function page(title: string, body: Html, { isTest, refresh }: { isTest: boolean; refresh?: boolean }) {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${refresh === true ? html`<meta http-equiv="refresh" content="3" />` : NONE}
        <title>${title}</title>
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        ${isTest ? html`<p class="test">Test shop: no money moves, and phones cannot install its eSIMs.</p>` : NONE}
        <header><a href="/">Travel eSIMs</a></header>
        <main>
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html>`.text;
}

export const regionList = (
  regions: readonly { readonly regionCode: string; readonly regionName: string }[],
) =>
  html`<ul class="regions">
    ${regions.map(
      ({ regionCode, regionName }) =>
        html`<li><a href="/packages/${encodeURIComponent(regionCode)}">${regionName}</a></li>`,
    )}
  </ul>`;

export interface Offer {
  readonly packageCode: string;
  readonly name: string;
  readonly facts: string;
  readonly price: string;
}

export const packageList = (offers: readonly Offer[]) =>
  html`<ul class="offers">
    ${offers.map(
      ({ packageCode, name, facts, price }) =>
        html`<li>
          <a href="/buy/${encodeURIComponent(packageCode)}"><strong>${name}</strong><span>${facts}</span></a>
          <span class="price">${price}</span>
        </li>`,
    )}
  </ul>`;

export const checkout = ({ facts, price }: Offer, token: string, problem = '') =>
  html`<p>${facts}</p>
    <p class="price">${price}</p>
    ${problem === '' ? NONE : html`<p class="problem" role="alert">${problem}</p>`}
    <form method="post" action="/orders">
      <input type="hidden" name="token" value="${token}" />
      <label
        >E-mail, for the eSIM <input type="email" name="email" required maxlength="254" autocomplete="email"
      /></label>
      <button>Buy for ${price}</button>
    </form>`;

/** Why there is no eSIM, for the buyer. Codes of docs/ERRORS.md; the last one is for all others. */
const FAILURES: Readonly<Record<string, string>> = {
  PAYMENT_EXPIRED: 'It was not paid in time. You were not charged.',
  PAYMENT_UNDERPAID: 'Less than the price was paid. We give it back to you: answer our e-mail.',
  PRICE_ABOVE_MAX: 'The price has just changed. You were not charged. Please order again.',
};
export const failureOf = ({ reason }: Order): string =>
  FAILURES[reason ?? ''] ?? 'It cannot be delivered. If you have paid, your money is on its way back to you.';

export function orderState(order: Order): Html {
  const what = html`<p>${order.packageName}, ${order.price}</p>`;
  if (order.status === 'DELIVERED')
    return html`${what}
      <p>Your eSIM is ready. We have sent this link to ${order.email}, too.</p>
      <p><a class="button" rel="noreferrer" href="${order.installUrl ?? ''}">Install the eSIM</a></p>`;
  if (order.status === 'FAILED')
    return html`${what}
      <p class="problem">${failureOf(order)}</p>`;
  if (order.paymentUrl === null)
    return html`${what}
      <p>One moment. This page updates itself.</p>`;
  return html`${what}
    <p>
      <a class="button" rel="noopener noreferrer" target="_blank" href="${order.paymentUrl}"
        >Pay ${order.price} by card</a
      >
    </p>
    <p>It opens in a new window. Come back to this page afterwards: your eSIM appears here.</p>`;
}

export const STYLE = `:root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif }
body { margin: 0 auto; max-width: 44rem; padding: 0 1rem 3rem }
header { padding: 1rem 0; font-weight: 700 } header a { color: inherit; text-decoration: none }
.test { background: #ffe08a; color: #3d2e00; margin: 0 -1rem; padding: .5rem 1rem; text-align: center }
ul { list-style: none; padding: 0 } .regions { columns: 14rem } .regions a { display: block; padding: .4rem 0 }
.offers li { display: flex; gap: 1rem; justify-content: space-between; border-top: 1px solid #8886; padding: .7rem 0 }
.offers a { flex: 1; min-width: 0; overflow-wrap: anywhere } .offers span { display: block } .price { font-weight: 700; white-space: nowrap }
label, input { display: block; width: 100%; box-sizing: border-box } input { font: inherit; padding: .6rem; margin: .3rem 0 1rem }
button, .button { font: inherit; font-weight: 600; display: inline-block; border: 0; border-radius: .4rem; padding: .7rem 1.2rem; background: #0b57d0; color: #fff; text-decoration: none }
.problem { border-left: 4px solid #c5221f; padding-left: .8rem }`;
