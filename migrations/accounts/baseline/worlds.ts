/** What an environment's role may know of the accounts. */
import { sql } from 'kysely';
import { MEMBER_ROLES, memberMay } from '../../../src/domain/member-roles.ts';
import { membersOf } from '../../one-of.ts';

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
  -- A gateway's charge and a notice need the e-mail address, papers the name. The plan bounds how many payments
  -- may be unpaid. A company's name is shown to who pays it; type says which account is one. Returns and
  -- replacements go by what was agreed with the account.
  grant select (id, email, plan, name, type, returns_allowed, return_window_days, return_fee_bps,
    replacements_allowed, replacement_window_days, replacement_share_bps, replacement_max) on accounts
    to simway_test, simway_live;
  -- To see whether two people are two.
  grant select (email, given_by, given_at, confirmed_by, confirmed_at) on access_grants
    to simway_test, simway_live;
  ${mailTurns()}
  -- Rates and prices are rows of an environment: who changes them writes the audit log in the same
  -- transaction.
  grant insert (actor, action, subject, detail) on audit_log to simway_test, simway_live;
`;

const BUYERS = membersOf(MEMBER_ROLES.filter((role) => memberMay(role, 'purchase')));

/** Mail to travellers is counted with all other mail; environments see neither addresses nor counts. */
const mailTurns = () => sql`
  -- Counts one more mail since then, or the first one. Returns how many there are now.
  create function take_mail_turn(what bytea, window_began timestamptz, at timestamptz) returns integer
    language sql security definer set search_path = accounts as $$
      insert into mails_to as known (address_sha256, since, count) values (what, at, 1)
      on conflict (address_sha256) do update
        set since = case when known.since < window_began then excluded.since else known.since end,
            count = case when known.since < window_began then 1 else known.count + 1 end
      returning count
    $$;
  create function give_mail_turn_back(what bytea) returns void
    language sql security definer set search_path = accounts as $$
      update mails_to set count = count - 1 where address_sha256 = what and count > 1
    $$;
  create function is_mail_stopped(address bytea) returns boolean
    language sql stable security definer set search_path = accounts as $$
      select exists (select from mail_stops where address_sha256 = address)
    $$;
  create function is_members_address(account text, address text) returns boolean
    language sql stable security definer set search_path = accounts as $$
      select exists (select from members join users on users.id = members.user_id
        where members.account_id = account and users.email = address)
    $$;
  -- Alerts are not sent to operators who have left.
  create function is_active_operator(address text) returns boolean
    language sql stable security definer set search_path = accounts as $$
      select exists (select from operators join users on users.id = operators.user_id
        where users.email = address and disabled_at is null)
    $$;
  -- Whether what was asked for earlier may be paid from the wallet now: by its key, which does no more than its
  -- maker, or by the member who asked.
  create function may_still_buy(account text, key_id text, maker text) returns boolean
    language sql stable security definer set search_path = accounts as $$
      select exists (select from accounts where id = account and disabled_at is null) and case
        when may_still_buy.key_id is null then exists (
          select from members join users on users.id = members.user_id
           where members.account_id = account and users.email = maker
             and members.role in (${BUYERS}))
        else exists (
          select from api_keys left join users on users.email = created_by
            left join members on members.user_id = users.id and members.account_id = api_keys.account_id
           where api_keys.id = may_still_buy.key_id and api_keys.account_id = account and revoked_at is null
             and coalesce(expires_at > now(), true) and 'purchase' = any(scopes)
             and coalesce(coalesce(members.role, maker_role) in (${BUYERS}), true)) end
    $$;
  revoke execute on function take_mail_turn, give_mail_turn_back, is_mail_stopped, is_members_address,
    is_active_operator, may_still_buy from public;
  grant execute on function take_mail_turn, give_mail_turn_back, is_mail_stopped, is_members_address,
    is_active_operator, may_still_buy
    to simway_accounts, simway_test, simway_live;
`;
