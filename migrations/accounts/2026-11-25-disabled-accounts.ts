/** An operator may disable an account: its keys and members are refused until it is enabled again. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table accounts add column disabled_at timestamptz`.execute(db);
}
