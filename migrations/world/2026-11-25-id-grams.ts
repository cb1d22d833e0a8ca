/**
 * Grams of four characters of ids, for the search index, in place of trigrams: among a million eSIMs some 20,000 have any three digits, and a search for six digits had to
 * cross four such lists. Four characters are in one list of some 3,000. Its index is in ../indexes.ts.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // A quarter of the accounts share their lists: what others have in common with a search is mostly left out, and the grams are still so few (some 260,000)
  // that they fit into the memory in which Postgres builds the index. The space ends the last id, so that its last three characters begin a gram, too. Dear
  // to compute: no plan may do it row by row, nor start workers for some thousand rows because of it.
  await sql`
    create function id_grams(account_id text, ids text) returns text[] language sql immutable strict parallel unsafe cost 1000 as $$
      select array(
        select quarter || substr(ended, i, 4)
          from (select (ascii(right(account_id, 1)) % 4)::text as quarter, lower(ids) || ' ' as ended offset 0) text,
            generate_series(1, length(ids) - 2) i
      )
    $$`.execute(db);
  await sql`drop index if exists esim_search_by_part`.execute(db);
}
