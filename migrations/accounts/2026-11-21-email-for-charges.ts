/** A gateway's charge needs the account's e-mail address: a world's role may read it, and nothing else of an account. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Roles of the worlds are made with their schemas, which come later in a first migration.
  for (const role of ['simway_test', 'simway_live']) {
    await sql`
      do $$ begin
        if not exists (select from pg_roles where rolname = ${sql.lit(role)}) then create role ${sql.id(role)} nologin; end if;
      exception when duplicate_object or unique_violation then null;
      end $$`.execute(db);
    await sql`grant usage on schema accounts to ${sql.id(role)}`.execute(db);
    await sql`grant select (id, email) on accounts to ${sql.id(role)}`.execute(db);
  }
}
