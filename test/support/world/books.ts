// The books of a test: a migrated database opened under the service's own roles, and an audit of its
// invariants. Must not write anything itself.
import { sql, type Kysely } from 'kysely';
import { openDatabase } from '../../../src/platform/database/database.ts';
import type { WorldDatabase, WorldDb } from '../../../src/platform/database/tables.ts';
import type { AccountsDatabase } from '../../../src/platform/database/tables.ts';
import { createTestDatabase, openSchema } from './database.ts';

const WAIT_DEADLINE_MS = 5_000;

export type Books = Awaited<ReturnType<typeof openBooks>>;

interface BooksOptions {
  readonly maxConnections?: number;
  readonly statementTimeoutMs?: number;
}

/** A separate database. Close it in afterAll. */
export async function openBooks(options: BooksOptions = {}) {
  const database = await createTestDatabase();
  const { maxConnections = 8, statementTimeoutMs = 10_000 } = options;
  const shared = { url: database.url, maxConnections, statementTimeoutMs, applicationName: 'simway-tests' };
  const world = openDatabase<WorldDatabase>({ ...shared, schema: 'test', role: 'simway_test' });
  const accounts = openDatabase<AccountsDatabase>({
    ...shared,
    schema: 'accounts',
    role: 'simway_accounts',
  });
  const owner = openSchema<WorldDatabase>(database.url, 'test');
  return {
    url: database.url,
    /** The test environment under the service's role. */
    world,
    accounts,
    /** The same tables as their owner. */
    owner,
    close: async () => {
      await Promise.all([world.destroy(), accounts.destroy(), owner.destroy()]);
      await database.drop();
    },
  };
}

/** Violations of a ledger's invariants, each as the query that finds them. */
const VIOLATIONS: Record<string, string> = {
  'a transaction does not net to zero': `
    select ledger_transaction_id::text as id from ledger_entries group by ledger_transaction_id, currency having sum(amount_minor) <> 0`,
  'a currency does not net to zero': `
    select currency as id from ledger_entries group by currency having sum(amount_minor) <> 0`,
  'a transaction has no entries': `
    select id::text from ledger_transactions t where not exists (select from ledger_entries where ledger_transaction_id = t.id)`,
  'an entry is in another currency than its account': `
    select e.id::text from ledger_entries e join ledger_accounts a on a.id = e.ledger_account_id where a.currency <> e.currency`,
  'a wallet is not the sum of its entries': `
    select w.account_id as id from wallets w left join ledger_entries e on e.ledger_account_id = w.ledger_account_id
     group by w.account_id having w.balance_minor <> coalesce(sum(e.amount_minor), 0)`,
  'a wallet is below zero': `select account_id as id from wallets where balance_minor < 0`,
  'a wallet account has no balance row': `
    select id from ledger_accounts a where kind = 'wallet' and not exists (select from wallets where ledger_account_id = a.id)`,
  'the money held is not the sum of open holds': `
    select a.id from ledger_accounts a
     where a.kind = 'held'
       and (select coalesce(sum(amount_minor), 0) from ledger_entries where ledger_account_id = a.id)
        <> (select coalesce(sum(amount_minor), 0) from holds where currency = a.currency and status = 'HELD')`,
  'a hold was not booked once, or closed otherwise than its row says': `
    select h.id from holds h
     where (select coalesce(array_agg(t.kind order by t.id), '{}') from ledger_transactions t where t.transaction_id = h.id)
       <> case h.status when 'HELD' then '{hold}'::text[] when 'POSTED' then '{hold,post}' else '{hold,void}' end`,
  'a hold moved another amount than its own': `
    select t.operation_key as id from holds h
      join ledger_transactions t on t.transaction_id = h.id
      join ledger_entries e on e.ledger_transaction_id = t.id and e.ledger_account_id = 'held:' || h.currency
     where e.amount_minor <> case t.kind when 'hold' then h.amount_minor else -h.amount_minor end`,
  'an open purchase has no open hold, or a closed one has': `
    select p.transaction_id as id from purchases p left join holds h on h.id = p.transaction_id
     where p.payment_method = 'WALLET'
       and coalesce(h.status, 'none') <> case p.status when 'PROCESSING' then 'HELD' when 'SUCCESS' then 'POSTED'
           else case when h.id is null then 'none' else 'VOIDED' end end`,
  'a purchase closed more than once': `
    select transaction_id as id from purchase_events where what in ('delivered', 'failed', 'refused')
     group by transaction_id having count(*) > 1`,
};

/** All violations in an environment's books, as text; an empty list when there are none. */
export async function auditBooks(
  db: WorldDb,
  options: { readonly except?: readonly string[] } = {},
): Promise<string[]> {
  const found: string[] = [];
  for (const [name, query] of Object.entries(VIOLATIONS)) {
    if (options.except?.includes(name) === true) continue;
    const { rows } = await sql<{ id: string }>`select id from (${sql.raw(query)}) found limit 3`.execute(db);
    if (rows.length > 0) found.push(`${name}: ${rows.map((row) => row.id).join(', ')}`);
  }
  return found;
}

/** Which constraint or error code refused a statement; `accepted` when nothing did. */
export async function refusalOf(statement: Promise<unknown>): Promise<string> {
  try {
    await statement;
    return 'accepted';
  } catch (error) {
    return nameOfRefusal(error);
  }
}

/** The constraint, else the code, that an error of Postgres names. */
export function nameOfRefusal(error: unknown): string {
  const { constraint, code, message } = error as { constraint?: string; code?: string; message: string };
  if (constraint !== undefined) return constraint;
  return code === '42501' ? 'permission denied' : `${code ?? 'no code'}: ${message}`;
}

/** Resolves once a statement in this database waits for a lock. */
export async function untilStatementWaits<Db>(db: Kysely<Db>, statements = 1): Promise<void> {
  const endsAtMs = performance.now() + WAIT_DEADLINE_MS;
  for (;;) {
    const { rows } = await sql<{ waiting: bigint }>`
      select count(*) as waiting from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    if (Number(rows[0]?.waiting ?? 0) >= statements) return;
    if (performance.now() > endsAtMs) throw new Error('no statement waits for a lock');
  }
}
