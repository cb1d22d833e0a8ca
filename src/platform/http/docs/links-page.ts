/** A page that says one thing and leads on, for people with a browser. */
import { html, inlineStyle } from '../html.ts';

const STYLE = inlineStyle(`
:root { color-scheme: light dark; font: 1.05rem/1.6 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: Canvas; color: CanvasText; }
main { max-width: 32rem; padding: 2rem 1.5rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 0.75rem; }
ul { margin: 1.5rem 0 0; padding: 0; list-style: none; }
a { display: inline-block; padding: 0.5rem 0; color: LinkText; }
`);

const CONTENT_POLICY = [
  "default-src 'none'",
  `style-src ${STYLE.source}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const LINKS_PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': CONTENT_POLICY,
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
  Vary: 'Accept',
};

export function linksPage(
  title: string,
  text: string,
  links: readonly (readonly [address: string, words: string])[],
) {
  const items = links.map(([address, words]) => html`<li><a href="${address}">${words}</a></li>`);
  const { markup } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${STYLE}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          <p>${text}</p>
          <ul>
            ${{ markup: items.map((item) => item.markup).join('') }}
          </ul>
        </main>
      </body>
    </html> `;
  return { body: markup, headers: LINKS_PAGE_HEADERS };
}
