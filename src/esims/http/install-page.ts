/**
 * The page from which a traveller installs an eSIM. Reads no request, asks nothing outside, and shows no
 * address of a supplier but the SM-DP+ in the code.
 */
import { DomainError } from '../../domain/errors.ts';
import { renderError, type ErrorAnswer } from '../../platform/http/errors.ts';
import { brandHead, brandStyle, supportLinks } from '../../platform/http/brand-html.ts';
import type { ShownBrand } from '../../domain/brand.ts';
import { html, type Html } from '../../platform/http/html.ts';
import type { Visitor } from '../../platform/http/route.ts';
import type { InstallView } from '../installing.ts';
import { androidInstallLink, iosInstallLink, qrSvg } from '../activation.ts';
import { ageText, bytesText, dateText, unitsText } from '../install-figures.ts';
import { STYLE } from './install-page-assets.ts';
import { LANGUAGES, TEXTS, type Language } from '../install-texts/languages.ts';
import type { InstallTexts } from '../install-texts/texts.ts';
import { languageOf } from './language.ts';

export const SCRIPT_PATH = '/i/copy.js';
/**
 * A page for an eSIM that is not there yet loads itself again, so that it works without scripts. 120 views an
 * hour.
 */
const RELOAD_SECONDS = 30;

/** Forms only lead back to the page itself. */
const contentPolicy = (brand: ShownBrand | undefined): string =>
  [
    "default-src 'none'",
    ['style-src', STYLE.source, (brand && brandStyle(brand))?.source ?? ''].join(' ').trim(),
    "script-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

/** No referrer: the page's address is the secret. */
const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex, nofollow, noarchive',
  Vary: 'Accept-Language',
} as const;

export const pageHeaders = (language: Language, brand?: ShownBrand) => ({
  ...PAGE_HEADERS,
  'Content-Security-Policy': contentPolicy(brand),
  'Content-Language': language,
});

/** What the shop adds to the page. */
export interface ShopParts {
  readonly brand?: ShownBrand | undefined;
  /** Automatic top-ups: offered, or agreed to. */
  readonly topUps?: Html | undefined;
}

export function renderInstallPage(
  view: InstallView,
  language: Language,
  now: Date,
  { brand, topUps = none }: ShopParts = {},
): string {
  const texts = TEXTS[language];
  switch (view.installState) {
    case 'NOT_DELIVERED':
      return documentOf(language, {
        brand,
        words: texts.notDelivered,
        head: html`<meta http-equiv="refresh" content="${String(RELOAD_SECONDS)}" />`,
        body: html`${noteOf(view, texts)}`,
      });
    case 'READY':
      return documentOf(language, {
        brand,
        words: texts.ready,
        body: readyBody(view, texts, now, topUps),
      });
    case 'INSTALLED':
      return documentOf(language, {
        brand,
        words: texts.installed,
        body: html`${packageOf(view)}${noteOf(view, texts)}${planOf(view, texts, now)}${topUps}${helpOf(texts)}`,
      });
    case 'ENDED':
      return documentOf(language, {
        brand,
        words: texts.ended,
        body: html`${packageOf(view)}${noteOf(view, texts)}`,
      });
  }
}

/** A refusal as a page. A malformed link, an unknown and a revoked one look the same. */
export function installRefusalPage(refusal: DomainError, visitor: Visitor): ErrorAnswer {
  const language = languageOf(visitor);
  const isMalformed = refusal.code === 'VALIDATION_ERROR';
  const answer = renderError(
    isMalformed ? new DomainError('NOT_FOUND', refusal.message) : refusal,
    'general',
  );
  const { notFound, tooMany, unavailable } = TEXTS[language];
  const words = { 404: notFound, 429: tooMany }[answer.status] ?? unavailable;
  return {
    ...answer,
    body: documentOf(language, { words, body: none }),
    headers: { ...answer.headers, ...pageHeaders(language) },
  };
}

const none: Html = { markup: '' };
const all = (parts: readonly Html[]): Html => ({ markup: parts.map(({ markup }) => markup).join('') });

function readyBody(view: InstallView, texts: InstallTexts, now: Date, topUps: Html): Html {
  const note = view.code === 'NOT_SCANNED' ? none : noteOf(view, texts);
  return html`${packageOf(view)}${note}${oneTapOf(view, texts)}${qrOf(view, texts)}${byHandOf(view, texts)}
    ${stepsOf(texts)}${planOf(view, texts, now)}${topUps}${helpOf(texts)}
    <p class="soft private">${texts.keepPrivate}</p>
    <script src="${SCRIPT_PATH}" defer></script>`;
}

const packageOf = ({ packageName }: InstallView): Html =>
  html`<p class="package"><bdi>${packageName}</bdi></p>`;

function noteOf({ code }: InstallView, texts: InstallTexts): Html {
  const { summary, nextStep } = texts.diagnosis[code];
  return html`<div class="note" data-code="${code}">
    <p><strong>${summary}</strong> ${nextStep}</p>
  </div>`;
}

function oneTapOf({ ac }: InstallView, { oneTap }: InstallTexts): Html {
  const link = (href: string, label: string, note: string) =>
    html`<a class="tap" href="${href}" rel="noreferrer">${label} <small>${note}</small></a>`;
  return html`<section>
    <h2>${oneTap.title}</h2>
    <p>${oneTap.text}</p>
    ${link(iosInstallLink(ac), oneTap.iphone, oneTap.iphoneNote)}
    ${link(androidInstallLink(ac), oneTap.android, oneTap.androidNote)}
  </section>`;
}

function qrOf({ ac }: InstallView, { qr }: InstallTexts): Html {
  // The label is one of our texts, without markup.
  return html`<section>
    <h2>${qr.title}</h2>
    <p>${qr.text}</p>
    <div class="qr">${{ markup: qrSvg(ac, qr.label) }}</div>
  </section>`;
}

function byHandOf({ smdpAddress, matchingId, ac, apn }: InstallView, { byHand }: InstallTexts): Html {
  const codes = [
    [byHand.smdpAddress, smdpAddress],
    [byHand.matchingId, matchingId],
    [byHand.activationCode, ac],
    [byHand.apn, apn],
  ].filter(([, code]) => code !== '');
  const rows = codes.map(([label = '', code = ''], index) => {
    const id = `code-${index}`;
    return html`<dt id="${id}-label">${label}</dt>
      <dd class="code">
        <code
          id="${id}"
          aria-labelledby="${id}-label"
          data-copy="${byHand.copy}"
          data-copied="${byHand.copied}"
          >${code}</code
        >
      </dd>`;
  });
  return html`<section>
    <h2>${byHand.title}</h2>
    <p>${byHand.text}</p>
    <dl>${all(rows)}</dl>
  </section>`;
}

function stepsOf({ steps }: InstallTexts): Html {
  const phones = [steps.iphone, steps.samsung, steps.pixel].map(
    (phone) =>
      html`<details>
        <summary>${phone.title}</summary>
        <ol>
          ${all(phone.steps.map((step) => html`<li>${step}</li>`))}
        </ol>
      </details>`,
  );
  return html`<section>
    <h2>${steps.heading}</h2>
    ${all(phones)}
  </section>`;
}

function planOf(view: InstallView, { plan, locale }: InstallTexts, now: Date): Html {
  const left = view.totalBytes > view.usedBytes ? view.totalBytes - view.usedBytes : 0n;
  const time = unitsText(view.remainingUnits, view.durationUnit, locale);
  const until = view.expiredTime ? dateText(view.expiredTime, locale) : undefined;
  const untilFirstUse = view.installState === 'READY' ? plan.installBy : plan.firstUseBy;
  const times: readonly (readonly [string, string | undefined])[] = view.activateTime
    ? [
        [plan.timeLeft, time],
        [plan.validUntil, until],
      ]
    : [
        [untilFirstUse, until],
        [plan.validFor, time],
      ];
  const data = plan.of(bytesText(left, locale), bytesText(view.totalBytes, locale));
  const rows = [[plan.dataLeft, data] as const, ...times];
  const asOf = view.asOf
    ? html`<p class="soft">
        <time datetime="${view.asOf.toISOString()}">${plan.asOf(ageText(view.asOf, now, locale))}</time>
      </p>`
    : none;
  return html`<section>
    <h2>${plan.heading}</h2>
    <dl class="plan">
      ${all(
        rows.map(([name, value]) =>
          value === undefined
            ? none
            : html`<dt>${name}</dt>
                <dd><bdi>${value}</bdi></dd>`,
        ),
      )}
    </dl>
    ${asOf}
  </section>`;
}

function helpOf({ help }: InstallTexts): Html {
  const causes = help.causes.map(
    ({ summary, nextStep }) =>
      html`<dt>${summary}</dt>
        <dd>${nextStep}</dd>`,
  );
  return html`<section>
    <h2>${help.heading}</h2>
    <dl class="causes">${all(causes)}</dl>
  </section>`;
}

function languagesOf(current: Language, label: string): Html {
  const links = LANGUAGES.map((one) => {
    const mark = one === current ? html` aria-current="true"` : none;
    return html`<li>
      <a href="?lang=${one}" lang="${one}" hreflang="${one}" ${mark}>${TEXTS[one].name}</a>
    </li>`;
  });
  return html`<nav aria-label="${label}">
    <ul>
      ${all(links)}
    </ul>
  </nav>`;
}

function documentOf(
  language: Language,
  {
    brand,
    words,
    head = none,
    body,
  }: {
    readonly brand?: ShownBrand | undefined;
    readonly words: InstallTexts['ready'];
    readonly head?: Html;
    readonly body: Html;
  },
): string {
  const { direction, chooseLanguage, askShop } = TEXTS[language];
  const contacts = brand ? supportLinks(brand) : [];
  const support =
    contacts.length === 0
      ? none
      : html`<section>
          <h2>${askShop}</h2>
          <ul class="contacts">
            ${all(contacts)}
          </ul>
        </section>`;
  return html`<!doctype html>
    <html lang="${language}" dir="${direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${words.title}</title>
        <link rel="icon" href="data:," />
        ${head} ${STYLE} ${(brand && brandStyle(brand)) ?? none}
      </head>
      <body>
        <header>${languagesOf(language, chooseLanguage)} ${brand ? brandHead(brand) : none}</header>
        <main>
          <h1>${words.title}</h1>
          <p>${words.text}</p>
          ${body} ${support}
        </main>
      </body>
    </html>`.markup;
}
