/** When a key was last used. Writing it is no change of the key, so `changed_at` stays and no process reads the key again because of it. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table api_keys add column last_used_at timestamptz`.execute(db);
}
