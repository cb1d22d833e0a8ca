// Whether a text gives a secret away.

/**
 * Anywhere, as it stands. Four digits stand by chance in ids, times and amounts, so a PIN's count only as a text, or a word, of their own.
 */
export function givesAway(text: string, secret: string): boolean {
  return /^\d{4}$/.test(secret)
    ? new RegExp(`(?<=^|["'\\s=])${secret}(?=$|["'\\s,;])`, 'm').test(text)
    : text.includes(secret);
}
