/** What the pages for travellers and buyers show of a shop. */
import { COLOR, textOn, type ShownBrand } from '../../domain/brand.ts';
import { html, inlineStyle, type Html, type Inline } from './html.ts';

const none: Html = { markup: '' };

/** The colours of the shop; undefined: it has set none. Its hash belongs in the page's content policy. */
export function brandStyle({ accentColor }: Pick<ShownBrand, 'accentColor'>): Inline | undefined {
  // Nothing but a colour may reach a style.
  if (accentColor === null || !COLOR.test(accentColor)) return undefined;
  // Buttons without a ground have the colour of the text, which is readable whatever colour the shop has.
  return inlineStyle(
    `:root { --shop: ${accentColor}; --on-shop: ${textOn(accentColor)}; --quiet: var(--ink); }`,
  );
}

/** Logo and name; nothing where the shop has neither. */
export function brandHead({ name, logoPath }: Pick<ShownBrand, 'name' | 'logoPath'>): Html {
  if (name === null && logoPath === null) return none;
  // The name stands beside it, so that the picture says nothing more.
  const logo = logoPath === null ? none : html`<img src="${logoPath}" alt="" height="40" />`;
  return html`<p class="shop">${logo}${name === null ? none : html`<bdi>${name}</bdi>`}</p>`;
}

/** Each way to ask the shop, as links. */
export function supportLinks({ supportEmail, supportUrl, supportPhone }: ShownBrand): readonly Html[] {
  const links: (readonly [string, string] | undefined)[] = [
    supportUrl === null ? undefined : [supportUrl, new URL(supportUrl).host],
    supportEmail === null ? undefined : [`mailto:${supportEmail}`, supportEmail],
    supportPhone === null ? undefined : [`tel:${supportPhone.replaceAll(/[ -]/g, '')}`, supportPhone],
  ];
  return links.flatMap((link) =>
    link
      ? html`<li>
          <a href="${link[0]}" rel="noreferrer"><bdi>${link[1]}</bdi></a>
        </li>`
      : [],
  );
}
