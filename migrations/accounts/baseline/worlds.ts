/** What an environment's role may know of the accounts. */
import { sql } from 'kysely';

/** Roles of the environments are made with their schemas, which come later in a first run. */
export const roleOf = (role: 'simway_test' | 'simway_live') => sql`
  do $$ begin
    if not exists (select from pg_roles where rolname = ${sql.lit(role)}) then
      create role ${sql.id(role)} nologin;
    end if;
  exception when duplicate_object or unique_violation then null;
  end $$;
`;

export const sharedWithWorlds = () => sql`
  grant usage on schema accounts to simway_test, simway_live;
  -- A gateway's charge and a notice need the e-mail address. The plan bounds how many payments may be unpaid.
  grant select (id, email, plan) on accounts to simway_test, simway_live;
  -- To see whether two people are two.
  grant select (email, given_by, given_at, confirmed_by, confirmed_at) on access_grants
    to simway_test, simway_live;
  -- Rates and prices are rows of an environment: who changes them writes the audit log in the same transaction.
  grant insert (actor, action, subject, detail) on audit_log to simway_test, simway_live;
`;
