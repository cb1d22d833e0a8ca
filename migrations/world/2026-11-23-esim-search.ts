/**
 * The two extensions of Postgres that a search by a part of an id needs; its index is in ../indexes.ts. Both are trusted: who may create in the database may
 * add them. They get a schema of their own, since both worlds use them, unless they are there already.
 */
import { sql, type Kysely } from 'kysely';

const EXTENSIONS = ['pg_trgm', 'btree_gin'];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of EXTENSIONS) {
    const found = await sql`select from pg_extension where extname = ${name}`.execute(db);
    if (found.rows.length > 0) continue;
    await sql`create schema if not exists extensions`.execute(db);
    await sql`create extension if not exists ${sql.id(name)} schema extensions`
      .execute(db)
      .catch((cause: unknown) => {
        throw new Error(
          `Postgres does not allow its extension ${name}: install the contrib package of this Postgres, or let a superuser run: create extension ${name}`,
          { cause },
        );
      });
  }
}
