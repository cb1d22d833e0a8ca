/**
 * When the supplier was asked for a purchase, and whether its order is being withdrawn: what decides that a refusal is final, and that a
 * purchase is either settled or given back. A closed purchase is not ordered again: the database refuses it.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table purchases
      add column supplier_first_asked_at timestamptz,
      add column supplier_previous_asked_at timestamptz,
      add column supplier_asked_at timestamptz,
      add column supplier_searched_until timestamptz,
      add column withdrawing_since timestamptz,
      add column cancel_asked_at timestamptz`.execute(db);
  await sql`
    create or replace function purchase_ends_once() returns trigger language plpgsql as $$
    begin
      if old.status in ('SUCCESS', 'FAILED')
         and (new.status, new.supplier_asks, new.top_up_total_volume_bytes)
             is distinct from (old.status, old.supplier_asks, old.top_up_total_volume_bytes) then
        raise exception 'a closed purchase keeps its status and is asked for no more'
          using errcode = 'restrict_violation', constraint = 'purchase_ends_once';
      end if;
      return new;
    end $$`.execute(db);
}
