/** How a shop looks to its travellers and buyers, and what it offers them. */

/** Whom a traveller asks; each is null where the shop has given none. */
export interface SupportContact {
  readonly supportEmail: string | null;
  readonly supportUrl: string | null;
  readonly supportPhone: string | null;
}

/** Top-ups that travellers may agree to in advance. */
export interface AutoTopUpOffer {
  /** What a traveller pays for a top-up, in the words of the shop. */
  readonly priceText: string;
  /** The most that one eSIM gets through its install page. */
  readonly maxTopUps: number;
}

export interface Brand extends SupportContact {
  /** null: the install page shows no name; the page after a checkout shows the name of the account. */
  readonly shopName: string | null;
  /** `#rrggbb`, in lower case. */
  readonly accentColor: string | null;
  readonly autoTopUp: AutoTopUpOffer | null;
}

/** What pages show of it. */
export interface ShownBrand extends SupportContact {
  readonly name: string | null;
  readonly accentColor: string | null;
  readonly logoPath: string | null;
}

export const LOGO_TYPES = ['image/png', 'image/jpeg', 'image/webp'] as const;
export type LogoType = (typeof LOGO_TYPES)[number];

export const COLOR = /^#[0-9a-f]{6}$/;

/** Where logos are, under the API's public address: each by the SHA-256 of its bytes. */
export const LOGO_PATH = '/i/logos';
export const logoPathOf = (hash: string): string => `${LOGO_PATH}/${hash}`;

/**
 * Black or white, whichever is easier to read on this colour. One of them always has a contrast of 4.58:1 or
 * more, so the 4.5:1 of WCAG AA holds for every colour.
 */
export function textOn(color: string): '#000000' | '#ffffff' {
  return contrastOf(color, '#000000') >= contrastOf(color, '#ffffff') ? '#000000' : '#ffffff';
}

/** As WCAG 2 defines it: from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
