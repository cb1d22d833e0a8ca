/** Rates and prices are rows of a world: who changes them writes the audit log in the same transaction, so a world's role may add to it. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    grant insert (actor, action, subject, detail) on audit_log to simway_test, simway_live`.execute(db);
}
