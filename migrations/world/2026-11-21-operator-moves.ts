/**
 * Operator's moves, each with who, why and what came of it: written in the transaction of its effect, refused tries included, and never
 * changed once ended. Beside it what moves need: money that a person vouches for, and the id under which a replacement was ordered.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await moves(db);
  await guard(db);
  await evidence(db);
  await sql`alter table purchases add column supplier_transaction_id text check (length(supplier_transaction_id) <= 50)`.execute(
    db,
  );
  await sql`
    create unique index purchases_by_supplier_id on purchases (supplier_transaction_id)
     where supplier_transaction_id is not null`.execute(db);
  await grants(db);
}

async function moves(db: Kysely<unknown>): Promise<void> {
  // `asked` is the wish in one line: the same key with another wish is another move.
  await sql`
    create table operator_moves (
      id text primary key check (id ~ '^move-[0-9a-f]{32}$'),
      transaction_id text not null,
      move text not null,
      move_key text not null check (length(move_key) between 1 and 200),
      asked text not null,
      by_person text not null,
      reason text not null,
      evidence text,
      amount_minor bigint check (amount_minor > 0),
      currency text,
      package_code text,
      goodwill boolean not null default false,
      status text not null check (status in
        ('BEGUN', 'WAITS_FOR_APPROVAL', 'APPROVED', 'DONE', 'REFUSED', 'DECLINED', 'EXPIRED')),
      refusal text,
      detail text,
      approved_by text,
      expires_at timestamptz,
      created_at timestamptz not null default clock_timestamp(),
      closed_at timestamptz,
      check ((amount_minor is null) = (currency is null)),
      check ((status = 'REFUSED') = (refusal is not null)),
      check ((status in ('DONE', 'REFUSED', 'DECLINED', 'EXPIRED')) = (closed_at is not null)),
      constraint operator_move_by_two_people check (lower(trim(approved_by)) <> lower(trim(by_person)))
    )`.execute(db);
  await sql`
    create unique index operator_move_once on operator_moves (move_key)
     where status in ('BEGUN', 'WAITS_FOR_APPROVAL', 'APPROVED', 'DONE')`.execute(db);
  await sql`create index operator_moves_by_purchase on operator_moves (transaction_id, created_at)`.execute(
    db,
  );
  await sql`create index operator_moves_waiting on operator_moves (created_at) where status = 'WAITS_FOR_APPROVAL'`.execute(
    db,
  );
}

async function guard(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function operator_move_keeps_its_word() returns trigger language plpgsql as $$
    begin
      if old.closed_at is not null
         or (new.id, new.transaction_id, new.move, new.move_key, new.asked, new.by_person, new.reason, new.evidence, new.package_code,
             new.goodwill, new.created_at)
            is distinct from
            (old.id, old.transaction_id, old.move, old.move_key, old.asked, old.by_person, old.reason, old.evidence, old.package_code,
             old.goodwill, old.created_at)
         or (old.status = 'WAITS_FOR_APPROVAL' and new.status not in ('APPROVED', 'DECLINED', 'EXPIRED'))
         or (old.status = 'APPROVED' and new.approved_by is distinct from old.approved_by)
         or (new.status = 'APPROVED' and new.approved_by is null) then
        raise exception 'what is on record about a move stays' using errcode = 'restrict_violation', constraint = 'operator_move_keeps_its_word';
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger operator_move_keeps_its_word before update on operator_moves
    for each row execute function operator_move_keeps_its_word()`.execute(db);
}

/** What came by a person's word stands on an account of its own until the gateway says the same. */
async function evidence(db: Kysely<unknown>): Promise<void> {
  await sql`alter table ledger_accounts drop constraint ledger_accounts_kind_check`.execute(db);
  await sql`
    alter table ledger_accounts add constraint ledger_accounts_kind_check check (kind in
      ('wallet', 'held', 'revenue', 'supplier-cost', 'supplier-prepaid', 'gateway-clearing', 'suspense', 'exchange', 'funding', 'evidence'))`.execute(
    db,
  );
  await sql`
    insert into ledger_accounts (id, kind, currency)
    select 'evidence:' || currency, 'evidence', currency from unnest(array['NGN', 'USD']) currency`.execute(
    db,
  );
  await sql`
    alter table payments add column evidence_minor bigint not null default 0
      check (evidence_minor >= 0 and evidence_minor <= booked_minor)`.execute(db);
}

async function grants(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`
    grant select, insert,
      update (status, refusal, detail, amount_minor, currency, approved_by, expires_at, closed_at) on operator_moves to ${role}`.execute(
    db,
  );
}
