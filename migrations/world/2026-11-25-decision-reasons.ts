/** Why the second person approved or declined an operator's action. Guarantee: what is written here stays. Null on older rows and where none was given. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table operator_moves
      add column decision_reason text,
      add constraint operator_move_decision_has_its_person
        check (decision_reason is null or approved_by is not null) not valid`.execute(db);
  await sql`
    create function operator_move_keeps_its_decision() returns trigger language plpgsql as $$
    begin
      if old.approved_by is not null and new.decision_reason is distinct from old.decision_reason then
        raise exception 'the reason of a decision stays' using errcode = 'restrict_violation', constraint = 'operator_move_keeps_its_decision';
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger operator_move_keeps_its_decision before update on operator_moves
    for each row execute function operator_move_keeps_its_decision()`.execute(db);
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant update (decision_reason) on operator_moves to ${role}`.execute(db);
}
