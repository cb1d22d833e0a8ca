/** What was sent in each attempt of a webhook, and the headers of its answer, for the merchant. Null on attempts that are there already. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table webhook_attempts
      add column url text,
      add column request_headers jsonb,
      add column answer_headers jsonb`.execute(db);
}
