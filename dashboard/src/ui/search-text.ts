/** What is searched for is in the address of the page, where a key must not be. */
export const looksSecret = (text: string): boolean =>
  /_(?:test|live)_[0-9A-Za-z]{10}|^ops_|^whsec_/.test(text);

/** `?text=` of a search page. A key or a secret is dropped. */
export function searchText({ text }: Readonly<Record<string, unknown>>): {
  readonly text?: string | undefined;
} {
  const wanted = typeof text === 'number' ? String(text) : typeof text === 'string' ? text.trim() : '';
  return { text: wanted === '' || looksSecret(wanted) ? undefined : wanted };
}
