import { sql, type RawBuilder } from 'kysely';
import { spellings } from 'simway-client/search-text.ts';

/**
 * The pattern of `like` and `ilike` for a text that contains this one: `%`, `_` and `\\` in it stand for
 * themselves.
 */
export const containing = (text: string): string =>
  `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;

/**
 * Whether this column has the text in any spelling: without accents, by other names of a country. Reads every
 * row that other conditions leave.
 */
export const spells = (column: string, text: string): RawBuilder<boolean> => sql<boolean>`
  lower(regexp_replace(normalize(${sql.ref(column)}, nfkd), '[\\u0300-\\u036f]', '', 'g')) like any (${spellings(text).map(containing)}::text[])`;
