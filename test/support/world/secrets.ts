// Whether a text contains a secret.

/**
 * A secret anywhere in the text. Four digits occur by chance in ids, times and numbers, so a PIN counts only
 * outside of these: a PIN is never written as a number.
 */
export function givesAway(text: string, secret: string): boolean {
  return /^\d{4}$/.test(secret)
    ? new RegExp(`(?<![\\da-f.-]|":)${secret}(?![\\da-f-])`).test(text)
    : text.includes(secret);
}
