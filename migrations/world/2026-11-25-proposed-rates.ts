/**
 * A rate that a person proposed and that is far from the current one waits in quarantine, with who proposed it and why. Guarantee: the database
 * refuses a confirmation by the same person.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table exchange_rates
      add column proposed_by text,
      add column proposed_reason text,
      add constraint proposed_rates_by_two_people
        check (lower(trim(confirmed_by)) <> lower(trim(proposed_by))) not valid`.execute(db);
}
