/** A code of an authenticator app counts once, and one address gets few of our mails. Both hold hashes, for minutes and an hour. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table used_codes (
      user_id text not null references users (id) on delete cascade,
      code_sha256 bytea not null,
      used_at timestamptz not null,
      primary key (user_id, code_sha256)
    )`.execute(db);
  await sql`
    create table mails_to (
      address_sha256 bytea primary key,
      since timestamptz not null,
      count integer not null check (count > 0)
    )`.execute(db);
  await sql`grant select, insert, delete on used_codes to simway_accounts`.execute(db);
  await sql`grant select, insert, update, delete on mails_to to simway_accounts`.execute(db);
}
