/**
 * The pattern of `like` and `ilike` for a text that contains this one: `%`, `_` and `\\` in it stand for
 * themselves.
 */
export const containing = (text: string): string =>
  `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
