// Whether a text gives a secret away.

/**
 * Anywhere, as it stands. Four digits stand by chance in ids, times and numbers, so a PIN's count only where they are no part of any: a PIN is
 * never written as a number.
 */
export function givesAway(text: string, secret: string): boolean {
  return /^\d{4}$/.test(secret)
    ? new RegExp(`(?<![\\da-f.-]|":)${secret}(?![\\da-f-])`).test(text)
    : text.includes(secret);
}
