/**
 * Events of accounts, for the feed that is pulled, each with its place in the order of commits; and on messages, which event they are about.
 * The index for that is in migrations/indexes.ts.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // `cluster`: what the transaction ids are from. A server that was restored counts them again (../event-positions.ts).
  await sql`
    create table event_feed (
      is_only boolean primary key default true check (is_only),
      position_offset bigint not null default 0,
      deleted_to bigint not null default 0,
      cluster text
    )`.execute(db);
  await sql`insert into event_feed default values`.execute(db);
  // Volatile, as the transaction's id is taken here where it has none yet.
  await sql`
    create function event_position() returns bigint language sql volatile as $$
      select pg_current_xact_id()::text::bigint + position_offset from event_feed
    $$`.execute(db);
  // Events without an account are for all.
  await sql`
    create table events (
      id text primary key check (id ~ '^evt-[0-9a-f]{32}$'),
      position bigint not null default event_position(),
      seq bigint not null generated always as identity,
      account_id text,
      event text not null,
      event_key text not null,
      subject text,
      body text not null,
      created_at timestamptz not null default now(),
      constraint event_once unique (event_key)
    )`.execute(db);
  await sql`create index events_by_account on events (account_id, position, seq)`.execute(db);
  await sql`create index events_by_age on events (created_at)`.execute(db);
  await sql`alter table webhook_messages add column event_id text`.execute(db);
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`
    grant select, insert (id, account_id, event, event_key, subject, body), delete on events to ${role}`.execute(
    db,
  );
  await sql`grant select, update (deleted_to) on event_feed to ${role}`.execute(db);
}
