/**
 * Operators' actions, each with who, why and what came of it: written in the transaction of its effect,
 * refused attempts included, and never changed once ended.
 */
import { sql } from 'kysely';
import type { World } from './world.ts';

export const operations = (world: World) => sql`
  ${actions(world)}
  ${actionGuards()}
`;

const actions = ({ role }: World) => sql`
  -- asked: the request in one line; the same key with another request is another action. A row stands from
  -- the moment an action is asked for, so that no workflow acts on one that has no row. worth_...: what the
  -- action is worth, whose it is and on which account, so that the sums of a day can be limited; null where
  -- no money moves. person_key: the name as it is compared (src/accounts/operators/two-person-rules.ts).
  create table operator_actions (
    id text primary key check (id ~ '^action-[0-9a-f]{32}$'),
    transaction_id text not null,
    action text not null,
    action_key text not null check (length(action_key) between 1 and 200),
    asked text not null,
    by_person text not null,
    reason text not null,
    evidence text,
    amount_minor bigint check (amount_minor > 0),
    currency text,
    package_code text,
    goodwill boolean not null default false,
    status text not null check (status in
      ('ASKED', 'BEGUN', 'WAITS_FOR_APPROVAL', 'APPROVED', 'DONE', 'REFUSED', 'DECLINED', 'EXPIRED')),
    refusal text,
    detail text,
    approved_by text,
    decision_reason text,
    person_key text,
    account_id text,
    worth_minor bigint check (worth_minor >= 0),
    worth_currency text,
    expires_at timestamptz,
    created_at timestamptz not null default clock_timestamp(),
    closed_at timestamptz,
    check ((amount_minor is null) = (currency is null)),
    check ((status = 'REFUSED') = (refusal is not null)),
    check ((status in ('DONE', 'REFUSED', 'DECLINED', 'EXPIRED')) = (closed_at is not null)),
    constraint operator_action_by_two_people check (lower(trim(approved_by)) <> lower(trim(by_person))),
    constraint operator_action_worth_is_whole
      check (num_nulls(person_key, account_id, worth_minor, worth_currency) in (0, 4)),
    constraint operator_action_decision_has_its_person
      check (decision_reason is null or approved_by is not null)
  );
  create unique index operator_action_once on operator_actions (action_key)
    where status in ('ASKED', 'BEGUN', 'WAITS_FOR_APPROVAL', 'APPROVED', 'DONE');
  create index operator_actions_by_purchase on operator_actions (transaction_id, created_at);
  create index operator_actions_waiting on operator_actions (created_at) where status = 'WAITS_FOR_APPROVAL';
  create index operator_actions_unfinished on operator_actions (created_at) where status in ('BEGUN', 'APPROVED');
  create index operator_actions_worth_by_person on operator_actions (person_key, created_at)
    where worth_minor is not null;
  create index operator_actions_worth_by_account on operator_actions (account_id, created_at)
    where worth_minor is not null;
  -- The audit log, newest first, by each of its filters.
  create index operator_actions_by_time on operator_actions (created_at, id);
  create index operator_actions_by_person on operator_actions (by_person, created_at, id);
  create index operator_actions_by_approver on operator_actions (approved_by, created_at, id)
    where approved_by is not null;
  create index operator_actions_by_action on operator_actions (action, created_at, id);

  grant insert, update (status, refusal, detail, amount_minor, currency, approved_by, decision_reason,
    person_key, account_id, worth_minor, worth_currency, expires_at, closed_at) on operator_actions to ${role};
`;

const actionGuards = () => sql`
  create function operator_action_keeps_its_word() returns trigger language plpgsql as $$
    begin
      if old.closed_at is not null
         or (new.id, new.transaction_id, new.action, new.action_key, new.asked, new.by_person, new.reason,
             new.evidence, new.package_code, new.goodwill, new.created_at)
            is distinct from
            (old.id, old.transaction_id, old.action, old.action_key, old.asked, old.by_person, old.reason,
             old.evidence, old.package_code, old.goodwill, old.created_at)
         or (old.status = 'WAITS_FOR_APPROVAL' and new.status not in ('APPROVED', 'DECLINED', 'EXPIRED'))
         or (old.status = 'APPROVED' and new.approved_by is distinct from old.approved_by)
         or (new.status = 'APPROVED' and new.approved_by is null) then
        raise exception 'a recorded action cannot change'
          using errcode = 'restrict_violation', constraint = 'operator_action_keeps_its_word';
      end if;
      return new;
    end $$;
  create trigger operator_action_keeps_its_word before update on operator_actions
    for each row execute function operator_action_keeps_its_word();

  create function operator_action_keeps_its_worth() returns trigger language plpgsql as $$
    begin
      if old.worth_minor is not null
         and (new.person_key, new.account_id, new.worth_minor, new.worth_currency)
             is distinct from (old.person_key, old.account_id, old.worth_minor, old.worth_currency) then
        raise exception 'an action''s worth cannot change'
          using errcode = 'restrict_violation', constraint = 'operator_action_keeps_its_worth';
      end if;
      return new;
    end $$;
  create trigger operator_action_keeps_its_worth before update on operator_actions
    for each row execute function operator_action_keeps_its_worth();

  create function operator_action_keeps_its_decision() returns trigger language plpgsql as $$
    begin
      if old.approved_by is not null and new.decision_reason is distinct from old.decision_reason then
        raise exception 'a decision''s reason cannot change'
          using errcode = 'restrict_violation', constraint = 'operator_action_keeps_its_decision';
      end if;
      return new;
    end $$;
  create trigger operator_action_keeps_its_decision before update on operator_actions
    for each row execute function operator_action_keeps_its_decision();
`;
