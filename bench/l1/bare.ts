/**
 * Floor of L1: the rows of a hold and of its posting, written bare. Tables of the same shape with the same
 * indexes in a schema of their own, without triggers, foreign keys or checks, in two ways: the rows of both
 * steps in one BEGIN … COMMIT (the promise's bare transaction), and each step as one bare statement, the
 * least that two commits can cost.
 */
import type pg from 'pg';

const TABLES = ['ledger_transactions', 'ledger_entries', 'holds'];
const INSERT_HOLD = 'insert into bare.holds (id, account_id, currency, amount_minor) values ($1, $2, $3, $4)';
const INSERT_TRANSACTION = `
  insert into bare.ledger_transactions (operation_key, kind, transaction_id) values ($1, $2, $3) returning id`;
const entryRows = (rows: number): string =>
  Array.from(
    { length: rows },
    (_, row) => `($1, $${row * 3 + 2}, $${row * 3 + 3}, $${row * 3 + 4}::bigint)`,
  ).join(', ');
const INSERT_ENTRIES = (rows: number): string =>
  `insert into bare.ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor) values ${entryRows(rows)}`;

/** Copies the shapes of today's tables, so that the floor follows the schema. */
export async function makeBareSchema(client: pg.Client): Promise<void> {
  await client.query('create schema bare');
  for (const table of TABLES) {
    await client.query(`
      create table bare.${table} (like test.${table} including defaults including identity including indexes)`);
  }
}

export interface Posting {
  readonly id: string;
  readonly accountId: string;
  readonly amountMinor: bigint;
  readonly costUsdE4: bigint;
}

function entriesOf({ accountId, amountMinor, costUsdE4 }: Posting) {
  return {
    hold: [`wallet:${accountId}`, 'USD', -amountMinor, 'held:USD', 'USD', amountMinor],
    post: [
      ...['held:USD', 'USD', -amountMinor, 'revenue:USD', 'USD', amountMinor],
      ...['supplier-cost:USD4', 'USD4', costUsdE4, 'supplier-prepaid:USD4', 'USD4', -costUsdE4],
    ],
  };
}

/** All rows of hold and posting in one BEGIN … COMMIT. */
export async function bareTransaction(pool: pg.Pool, posting: Posting): Promise<void> {
  const client = await pool.connect();
  const entries = entriesOf(posting);
  const { id, accountId, amountMinor } = posting;
  try {
    await client.query('begin');
    await client.query(INSERT_HOLD, [id, accountId, 'USD', amountMinor]);
    const hold = await client.query<{ id: bigint }>(INSERT_TRANSACTION, [`${id}:hold`, 'hold', id]);
    await client.query(INSERT_ENTRIES(2), [hold.rows[0]?.id, ...entries.hold]);
    const post = await client.query<{ id: bigint }>(INSERT_TRANSACTION, [`${id}:post`, 'post', id]);
    await client.query(INSERT_ENTRIES(4), [post.rows[0]?.id, ...entries.post]);
    await client.query('commit');
  } finally {
    client.release();
  }
}

const HOLD_AT_ONCE = `
  with hold as (insert into bare.holds (id, account_id, currency, amount_minor) values ($1, $2, 'USD', $3::bigint)),
  booked as (
    insert into bare.ledger_transactions (operation_key, kind, transaction_id) values ($1 || ':hold', 'hold', $1) returning id
  )
  insert into bare.ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
  select booked.id, entry.account, 'USD', entry.amount_minor
    from booked, (values ('wallet:' || $2, -$3::bigint), ('held:USD', $3::bigint)) entry (account, amount_minor)`;
const POST_AT_ONCE = `
  with booked as (
    insert into bare.ledger_transactions (operation_key, kind, transaction_id) values ($1 || ':post', 'post', $1) returning id
  )
  insert into bare.ledger_entries (ledger_transaction_id, ledger_account_id, currency, amount_minor)
  select booked.id, entry.account, entry.currency, entry.amount_minor
    from booked, (values ('held:USD', 'USD', -$2::bigint), ('revenue:USD', 'USD', $2::bigint),
      ('supplier-cost:USD4', 'USD4', $3::bigint), ('supplier-prepaid:USD4', 'USD4', -$3::bigint)
    ) entry (account, currency, amount_minor)`;

/** Hold and posting as two bare statements, each its own commit. */
export async function bareStatements(pool: pg.Pool, posting: Posting): Promise<void> {
  const { id, accountId, amountMinor, costUsdE4 } = posting;
  await pool.query(HOLD_AT_ONCE, [id, accountId, amountMinor]);
  await pool.query(POST_AT_ONCE, [id, amountMinor, costUsdE4]);
}
