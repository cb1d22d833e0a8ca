/**
 * What an operator's action is worth, whose it is and on which account, so that the sums of a day can be limited. Guarantee: what is written
 * here stays. Null on older rows and where no money moves.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // `person_key`: the name as it is compared (src/accounts/operators/independence.ts).
  await sql`
    alter table operator_moves
      add column person_key text,
      add column account_id text,
      add column worth_minor bigint check (worth_minor >= 0),
      add column worth_currency text,
      add constraint operator_move_worth_is_whole check (num_nulls(person_key, account_id, worth_minor, worth_currency) in (0, 4))`.execute(
    db,
  );
  await sql`
    create index operator_moves_worth_by_person on operator_moves (person_key, created_at)
     where worth_minor is not null`.execute(db);
  await sql`
    create index operator_moves_worth_by_account on operator_moves (account_id, created_at)
     where worth_minor is not null`.execute(db);
  await sql`
    create function operator_move_keeps_its_worth() returns trigger language plpgsql as $$
    begin
      if old.worth_minor is not null
         and (new.person_key, new.account_id, new.worth_minor, new.worth_currency)
             is distinct from (old.person_key, old.account_id, old.worth_minor, old.worth_currency) then
        raise exception 'what an action is worth stays' using errcode = 'restrict_violation', constraint = 'operator_move_keeps_its_worth';
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger operator_move_keeps_its_worth before update on operator_moves
    for each row execute function operator_move_keeps_its_worth()`.execute(db);
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant update (person_key, account_id, worth_minor, worth_currency) on operator_moves to ${role}`.execute(
    db,
  );
}
