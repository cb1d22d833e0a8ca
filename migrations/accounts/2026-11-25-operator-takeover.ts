/**
 * A merchant's user who becomes an operator begins anew: links for a new password, sessions and a second factor of before are void. A new password of an
 * operator also ends links and sign-ins that wait for a code.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function keep_person_as_user() returns trigger language plpgsql set search_path from current as $$
    begin
      insert into users (id, email, name, email_verified)
      values ('user-' || substr(new.id, 8), new.email, new.name, true)
      on conflict (email) do update set email_verified = true
      returning id into new.user_id;
      if tg_op = 'INSERT' then
        delete from user_sessions where user_id = new.user_id;
        delete from user_second_factors where user_id = new.user_id;
        update users set two_factor_enabled = false where id = new.user_id;
      end if;
      if tg_op = 'INSERT' or new.password_hash <> old.password_hash or old.user_id is null then
        insert into user_credentials (id, account_id, provider_id, user_id, password)
        values (new.user_id, new.user_id, 'credential', new.user_id, new.password_hash)
        on conflict (user_id, provider_id) do update set password = excluded.password, updated_at = now();
        delete from user_verifications where value = new.user_id;
      end if;
      return new;
    end $$`.execute(db);
}
