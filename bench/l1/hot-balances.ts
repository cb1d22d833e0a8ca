/**
 * A stand-in for pgledger (github.com/pgr0ss/pgledger), written again for this bench: its technique, not its
 * text. A transfer is one plpgsql function: it locks both accounts' rows in order, moves both balances and
 * versions, checks them, and keeps each entry with the balance before and after, under sortable text ids that
 * are made in SQL.
 */
import type pg from 'pg';

const ACCOUNTS_AND_ENTRIES = `
  create schema hot;
  create function hot.new_id(prefix text) returns text language plpgsql volatile as $$
  declare
    alphabet constant text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    millis constant text := lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0');
    bits constant bytea := decode(millis || substr(replace(gen_random_uuid()::text, '-', ''), 13) || '00', 'hex');
    id text := prefix || '_';
  begin
    for letter in 0 .. 25 loop
      id := id || substr(alphabet, 1 + (((get_byte(bits, letter * 5 / 8) << 8) | get_byte(bits, letter * 5 / 8 + 1))
        >> (11 - letter * 5 % 8) & 31), 1);
    end loop;
    return id;
  end $$;
  create table hot.accounts (
    id text primary key, currency text not null, balance numeric not null default 0, version bigint not null default 0,
    may_be_negative boolean not null default true, updated_at timestamptz not null default now()
  );
  create table hot.transfers (
    id text primary key default hot.new_id('t'), from_account_id text not null references hot.accounts (id),
    to_account_id text not null references hot.accounts (id), amount numeric not null check (amount > 0),
    created_at timestamptz not null, event_at timestamptz not null
  );
  create index on hot.transfers (from_account_id);
  create index on hot.transfers (to_account_id);
  create index on hot.transfers (event_at);
  create table hot.entries (
    id text primary key default hot.new_id('e'), account_id text not null references hot.accounts (id),
    transfer_id text not null references hot.transfers (id), amount numeric not null,
    balance_before numeric not null, balance_after numeric not null, version bigint not null, created_at timestamptz not null
  );
  create index on hot.entries (account_id);
  create index on hot.entries (transfer_id);`;

const FUNCTIONS = `
  create function hot.check_balance(account hot.accounts) returns void language plpgsql as $$
  begin
    if account.balance < 0 and not account.may_be_negative then
      raise exception 'account % may not go below zero', account.id;
    end if;
  end $$;
  create function hot.move(payer text, payee text, moved numeric) returns setof hot.transfers language plpgsql as $$
  declare
    locked text;
    source hot.accounts;
    target hot.accounts;
    made text;
  begin
    foreach locked in array array[least(payer, payee), greatest(payer, payee)] loop
      perform 1 from hot.accounts where accounts.id = locked for update;
    end loop;
    update hot.accounts set balance = balance - moved, version = version + 1, updated_at = now()
     where accounts.id = payer returning * into source;
    perform hot.check_balance(source);
    update hot.accounts set balance = balance + moved, version = version + 1, updated_at = now()
     where accounts.id = payee returning * into target;
    perform hot.check_balance(target);
    if source.currency <> target.currency then
      raise exception 'the accounts keep different currencies';
    end if;
    insert into hot.transfers (from_account_id, to_account_id, amount, created_at, event_at)
    values (payer, payee, moved, now(), now()) returning transfers.id into made;
    insert into hot.entries (account_id, transfer_id, amount, balance_before, balance_after, version, created_at)
    values (payer, made, -moved, source.balance + moved, source.balance, source.version, now());
    insert into hot.entries (account_id, transfer_id, amount, balance_before, balance_after, version, created_at)
    values (payee, made, moved, target.balance - moved, target.balance, target.version, now());
    return query select * from hot.transfers where transfers.id = made;
  end $$;`;

/** Makes the schema and the accounts named `hot-0`, `hot-1`, …; `revenue` is one more. */
export async function makeHotSchema(client: pg.Client, accounts: number): Promise<void> {
  await client.query(ACCOUNTS_AND_ENTRIES);
  await client.query(FUNCTIONS);
  await client.query(
    `insert into hot.accounts (id, currency) select 'hot-' || n, 'USD' from generate_series(0, $1::int - 1) n
     union all values ('revenue', 'USD')`,
    [accounts],
  );
}

export async function hotTransfer(pool: pg.Pool, payer: string, payee: string): Promise<void> {
  await pool.query('select id from hot.move($1, $2, $3)', [payer, payee, 1]);
}

/** pgledger itself, from SQL files that the caller has fetched; the accounts' ids in the order made. */
export async function makePgledger(
  client: pg.Client,
  sqlTexts: readonly string[],
  accounts: number,
): Promise<string[]> {
  await client.query('create schema pgledger');
  await client.query('set search_path = pgledger, public');
  for (const text of sqlTexts) await client.query(text);
  const ids: string[] = [];
  for (let index = 0; index < accounts; index += 1) {
    const made = await client.query<{ id: string }>(
      "select id from pgledger_create_account('account', 'USD')",
    );
    ids.push(made.rows[0]?.id ?? '');
  }
  return ids;
}
