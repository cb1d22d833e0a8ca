/**
 * Disputes, each by the gateway's id: what was put at risk for it, how it stands at the gateway, and the outcome that a person stated. Those of
 * before are taken over from their ledger transactions when they are met again.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table disputes (
      reference text not null references payments (reference),
      dispute_id text not null,
      transaction_id text not null,
      operation_key text unique,
      gateway_state text check (gateway_state in ('open', 'won', 'lost', 'unknown')),
      gateway_status text,
      looked_at timestamptz,
      outcome text check (outcome in ('WON', 'LOST')),
      settled_by_move text,
      opened_at timestamptz not null default now(),
      settled_at timestamptz,
      primary key (reference, dispute_id),
      check (outcome is null or settled_at is not null)
    )`.execute(db);
  await sql`create index disputes_by_purchase on disputes (transaction_id)`.execute(db);
  await sql`create index disputes_open on disputes (opened_at) where settled_at is null`.execute(db);
  await sql`
    create function dispute_ends_once() returns trigger language plpgsql as $$
    begin
      if old.settled_at is not null
         and (new.outcome, new.settled_at, new.settled_by_move, new.operation_key)
             is distinct from (old.outcome, old.settled_at, old.settled_by_move, old.operation_key) then
        raise exception 'a settled dispute keeps its outcome' using errcode = 'restrict_violation', constraint = 'dispute_ends_once';
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger dispute_ends_once before update on disputes for each row execute function dispute_ends_once()`.execute(
    db,
  );
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant select, insert, update on disputes to ${role}`.execute(db);
}
