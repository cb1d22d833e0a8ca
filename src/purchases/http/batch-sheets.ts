/**
 * The eSIMs of a batch on sheets of paper, one card each, in the traveller's language. A document of its own:
 * it works from a file too, asks nothing outside, and prints on A4 and Letter.
 */
import { qrSvg } from '../../esims/activation.ts';
import { bytesText, dateText, unitsText } from '../../esims/install-figures.ts';
import { TEXTS, type Language } from '../../esims/install-texts/languages.ts';
import { html, inlineScript, inlineStyle, type Html } from '../../platform/http/html.ts';
import type { Answer } from '../../platform/http/errors.ts';
import type { HandedRow } from '../batches/hand-out.ts';

export const HTML = 'text/html';

const STYLE = inlineStyle(`
:root { color-scheme: light; font: 10pt/1.35 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans Arabic", sans-serif; }
@page { margin: 10mm; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: #16181d; overflow-wrap: anywhere; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1rem; max-width: 190mm; margin: 1rem auto; padding: 0 1rem; }
header p { flex: 1 1 20rem; margin: 0; }
button { min-height: 2.75rem; padding: 0 1.25rem; border: 0; border-radius: 0.5rem; background: #0b57d0; color: #fff; font: inherit; font-weight: 650; cursor: pointer; }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 80mm), 1fr)); gap: 4mm; max-width: 190mm; margin: 0 auto; padding: 0 1rem 1rem; }
article { border: 1px dashed #8a919c; border-radius: 2mm; padding: 4mm; break-inside: avoid; }
h2 { font-size: 12pt; line-height: 1.25; margin: 0 0 1mm; }
p { margin: 0 0 2mm; }
.sender, .soft, dt { color: #565d68; font-size: 8.5pt; }
.install { display: flex; gap: 3mm; align-items: flex-start; }
.install svg { width: 34mm; height: 34mm; flex: none; }
.install p { margin: 0; }
dl { margin: 2mm 0; }
dd { margin: 0 0 1mm; }
code { font: 8.5pt/1.3 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; direction: ltr; unicode-bidi: isolate; }
@media print { header { display: none; } main { display: grid; grid-template-columns: 1fr 1fr; max-width: none; padding: 0; } }
`);

const PRINT = inlineScript(`document.querySelector('button').addEventListener('click', () => print());`);

const HEADERS = {
  'Content-Type': `${HTML}; charset=utf-8`,
  'Content-Security-Policy': `default-src 'none'; style-src ${STYLE.source}; script-src ${PRINT.source}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
} as const;

/** `sender`: who hands the eSIMs out. `language`: of the rows that name none. */
export function sheetsAnswer(
  batchId: string,
  rows: readonly HandedRow[],
  { sender, language }: { readonly sender: string; readonly language: Language },
): Answer {
  const ready = rows.filter(({ install }) => install?.installState === 'READY');
  const cards = ready.map((handed) => cardOf(handed, sender, handed.row.language ?? language));
  const left = rows.length - ready.length;
  return {
    status: 200,
    headers: { ...HEADERS, 'Content-Disposition': `inline; filename="${batchId}.html"` },
    body: documentOf(language, batchId, [
      html`<header>
        <p>
          ${cards.length === 1 ? '1 eSIM' : `${cards.length} eSIMs`} to
          install.${left === 0 ? '' : ` ${left === 1 ? '1 row has' : `${left} rows have`} no sheet: not delivered, or installed already.`}
          Who has a sheet can take its eSIM.
        </p>
        <button type="button">Print</button>
      </header>`,
      html`<main>${all(cards)}</main>`,
    ]),
  };
}

const all = (parts: readonly Html[]): Html => ({ markup: parts.map(({ markup }) => markup).join('') });

function cardOf({ row, install }: HandedRow, sender: string, language: Language): Html {
  const { qr, byHand, plan, locale, direction, keepPrivate, ready } = TEXTS[language];
  if (!install) throw new Error(`row ${row.row_number} has nothing to install`);
  const data = bytesText(install.totalBytes, locale);
  const days = unitsText(install.remainingUnits, install.durationUnit, locale);
  const codes = [
    [byHand.smdpAddress, install.smdpAddress],
    [byHand.matchingId, install.matchingId],
    [byHand.activationCode, install.ac],
    [byHand.apn, install.apn],
    ['ICCID', row.iccid ?? ''],
  ].filter(([, code]) => code !== '');
  const facts = [
    ...codes.map(
      ([name = '', code = '']) =>
        html`<dt>${name}</dt>
          <dd><code>${code}</code></dd>`,
    ),
    ...(install.expiredTime
      ? [
          html`<dt>${plan.installBy}</dt>
            <dd><bdi>${dateText(install.expiredTime, locale)}</bdi></dd>`,
        ]
      : []),
  ];
  return html`<article lang="${language}" dir="${direction}">
    <p class="sender"><bdi>${sender}</bdi> · <bdi>${row.reference}</bdi></p>
    <h2><bdi>${install.packageName}</bdi></h2>
    <p><bdi>${data}</bdi> · <bdi>${days}</bdi></p>
    <div class="install">
      ${{ markup: qrSvg(install.ac, qr.label) }}
      <p>${ready.text}</p>
    </div>
    <dl>${all(facts)}</dl>
    <p><code>${install.installUrl}</code></p>
    <p class="soft">${keepPrivate}</p>
  </article>`;
}

function documentOf(language: Language, title: string, body: readonly Html[]): string {
  return html`<!doctype html>
    <html lang="${language}" dir="${TEXTS[language].direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${STYLE}
      </head>
      <body>
        ${all(body)} ${PRINT}
      </body>
    </html>`.markup;
}
