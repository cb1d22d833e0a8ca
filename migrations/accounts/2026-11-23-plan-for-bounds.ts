/** How many payments may be open and unpaid depends on the account's plan: a world's role may read that as well. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const role of ['simway_test', 'simway_live'])
    await sql`grant select (plan) on accounts to ${sql.id(role)}`.execute(db);
}
