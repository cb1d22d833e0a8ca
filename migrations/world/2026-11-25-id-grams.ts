/**
 * What the index of parts of ids is over, in place of trigrams: among a million eSIMs some 20,000 have any three digits, and a search for six digits had to
 * cross four such lists. Four characters are in one list of some 3,000. Its index is in ../indexes.ts.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // The account's last character keeps what other accounts have in common with a search out of the lists; a whole id would make them many and short.
  // The space ends the last id, so that its last three characters begin a gram, too. Dear to compute: no plan may do it row by row, nor start workers for
  // some thousand rows because of it.
  await sql`
    create function id_grams(account_id text, ids text) returns text[] language sql immutable strict parallel unsafe cost 1000 as $$
      select array(
        select right(account_id, 1) || substr(ended, i, 4)
          from (select lower(ids) || ' ' as ended offset 0) text, generate_series(1, length(ids) - 2) i
      )
    $$`.execute(db);
  await sql`drop index if exists esim_search_by_part`.execute(db);
}
