/**
 * Who gave a person access, and who confirmed it. Guarantee: the database refuses a confirmation by the one who gave the access, and the record
 * stays. Worlds read who it was, to see whether two people are two.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // `second_half`: of the one-time password, until it was shown to the person who confirms, or is void. `email` is the person's and never changes.
  await sql`
    create table access_grants (
      id bigint generated always as identity primary key,
      person_id text not null references people (id),
      email text not null,
      role text not null check (role in ('SUPPORT', 'OPERATIONS', 'FINANCE', 'ADMIN')),
      given_by text not null check (length(given_by) between 1 and 254),
      given_at timestamptz not null,
      second_half text,
      confirmed_by text check (length(confirmed_by) between 1 and 254),
      confirmed_at timestamptz,
      check ((confirmed_by is null) = (confirmed_at is null)),
      check (second_half is null or confirmed_by is null),
      constraint access_by_two_people check (lower(trim(confirmed_by)) <> lower(trim(given_by)))
    )`.execute(db);
  await sql`
    create unique index access_grants_waiting on access_grants (person_id) where second_half is not null`.execute(
    db,
  );
  await sql`create index access_grants_by_email on access_grants (email, given_at)`.execute(db);
  await sql`
    grant select, insert, update (second_half, confirmed_by, confirmed_at) on access_grants to simway_accounts`.execute(
    db,
  );
  await sql`
    grant select (email, given_by, given_at, confirmed_by, confirmed_at) on access_grants
      to simway_test, simway_live`.execute(db);
}
