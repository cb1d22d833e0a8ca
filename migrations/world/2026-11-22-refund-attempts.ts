/** A person may have a failed refund asked for again: each attempt goes by a key of its own at the gateway. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table refunds add column attempt integer not null default 1 check (attempt >= 1)`.execute(
    db,
  );
}
