/**
 * What steps rely on instead of a workflow's word: how long an order may be in flight, the supplier's final refusal, which withdrawal left nothing
 * at the supplier; and operators' actions from the moment they are asked for, so that no workflow acts on one that has no row.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table operator_moves drop constraint operator_moves_status_check`.execute(db);
  await sql`
    alter table operator_moves add constraint operator_moves_status_check check (status in
      ('ASKED', 'BEGUN', 'WAITS_FOR_APPROVAL', 'APPROVED', 'DONE', 'REFUSED', 'DECLINED', 'EXPIRED'))`.execute(
    db,
  );
  await sql`drop index operator_move_once`.execute(db);
  await sql`
    create unique index operator_move_once on operator_moves (move_key)
     where status in ('ASKED', 'BEGUN', 'WAITS_FOR_APPROVAL', 'APPROVED', 'DONE')`.execute(db);
  await sql`
    alter table purchases
      add column in_flight_grace_ms integer,
      add column withdrawn_since timestamptz,
      add column refused_asks integer,
      add column refused_reason text,
      add column refused_detail text`.execute(db);
}
