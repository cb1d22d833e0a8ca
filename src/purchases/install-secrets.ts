import type { EsimRow } from '../esims/store/esims.ts';

/**
 * Install data is kept with its eSIM only. Answers kept for an Idempotency-Key hold placeholders with the column's name instead, which are filled for
 * each caller.
 */
const COLUMNS = ['ac', 'matching_id', 'qr_code_url', 'short_url'] as const;
type SecretColumn = (typeof COLUMNS)[number];

/** JSON text holds no raw control character, so a placeholder is never part of an answer. */
const PLACEHOLDER = new RegExp(`\u0001(${COLUMNS.join('|')})\u0001`, 'g');
/** A placeholder as JSON writes it, with its quotes. */
const ESCAPED_PLACEHOLDER = new RegExp(`"\\\\u0001(${COLUMNS.join('|')})\\\\u0001"`, 'g');

/** Renders an eSIM's answer twice: `stored` with placeholders, to be kept, and `body`, for the caller. */
export function renderWithPlaceholders(
  esim: EsimRow,
  render: (esim: EsimRow) => string,
): { readonly body: string; readonly stored: string } {
  // A field that is empty in the first answer stays empty in every repeat.
  const known = COLUMNS.filter((column) => esim[column] !== '');
  const hidden = Object.fromEntries(known.map((column) => [column, `\u0001${column}\u0001`]));
  const stored = render({ ...esim, ...hidden }).replaceAll(ESCAPED_PLACEHOLDER, '\u0001$1\u0001');
  return { stored, body: fillPlaceholders(stored, esim) };
}

export function hasPlaceholders(text: string): boolean {
  return text.includes('\u0001');
}

export function fillPlaceholders(text: string, esim: Readonly<Record<SecretColumn, string>>): string {
  return text.replaceAll(PLACEHOLDER, (_placeholder, column: SecretColumn) => JSON.stringify(esim[column]));
}
