import type { EsimView } from '../esims/esim-view.ts';

/**
 * Install data is kept with its eSIM only. Answers kept for an Idempotency-Key hold placeholders instead, which are filled for each caller.
 * Placeholders carry column names, as in the rows of earlier releases.
 */
const FIELD_OF = {
  ac: 'ac',
  matching_id: 'matchingId',
  qr_code_url: 'qrCodeUrl',
  short_url: 'shortUrl',
} as const satisfies Record<string, keyof EsimView>;

type SecretColumn = keyof typeof FIELD_OF;
const COLUMNS = Object.keys(FIELD_OF) as SecretColumn[];

/** JSON text holds no raw control character, so a placeholder is never part of an answer. */
const PLACEHOLDER = new RegExp(`\u0001(${COLUMNS.join('|')})\u0001`, 'g');
/** A placeholder as JSON writes it, with its quotes. */
const ESCAPED_PLACEHOLDER = new RegExp(`"\\\\u0001(${COLUMNS.join('|')})\\\\u0001"`, 'g');

/** Renders an eSIM's answer twice: `stored` with placeholders, to be kept, and `body`, for the caller. */
export function renderWithPlaceholders(
  esim: EsimView,
  render: (esim: EsimView) => string,
): { readonly body: string; readonly stored: string } {
  // A field that is empty in the first answer stays empty in every repeat.
  const known = COLUMNS.filter((column) => esim[FIELD_OF[column]] !== '');
  const hidden = Object.fromEntries(known.map((column) => [FIELD_OF[column], `\u0001${column}\u0001`]));
  const stored = render({ ...esim, ...hidden }).replaceAll(ESCAPED_PLACEHOLDER, '\u0001$1\u0001');
  const { ac, matchingId: matching_id, qrCodeUrl: qr_code_url, shortUrl: short_url } = esim;
  return { stored, body: fillPlaceholders(stored, { ac, matching_id, qr_code_url, short_url }) };
}

export function hasPlaceholders(text: string): boolean {
  return text.includes('\u0001');
}

export function fillPlaceholders(text: string, esim: Readonly<Record<SecretColumn, string>>): string {
  return text.replaceAll(PLACEHOLDER, (_placeholder, column: SecretColumn) => JSON.stringify(esim[column]));
}
