/** What an account has in one environment. */
import { sql } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';

/** Those without a wallet are left out. */
export async function readBalances(db: WorldDb, accountIds: readonly string[]) {
  if (accountIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('wallets')
    .select(['account_id', 'balance_minor', 'currency'])
    .where('account_id', 'in', accountIds)
    .execute();
  return new Map(
    rows.map((row) => [row.account_id, { amountMinor: row.balance_minor, currency: row.currency }]),
  );
}

interface OpenOfAccount {
  readonly endpoints: number;
  readonly openPurchases: number;
  readonly openFundings: number;
}

export async function countOpen(db: WorldDb, accountId: string): Promise<OpenOfAccount> {
  const { rows } = await sql<OpenOfAccount>`
    select (select count(*)::int4 from webhook_endpoints where account_id = ${accountId} and deleted_at is null) as endpoints,
           (select count(*)::int4 from purchases where account_id = ${accountId} and status in ('PENDING', 'PROCESSING'))
             as "openPurchases",
           (select count(*)::int4 from fundings where account_id = ${accountId} and status = 'PENDING') as "openFundings"`.execute(
    db,
  );
  return rows[0] ?? { endpoints: 0, openPurchases: 0, openFundings: 0 };
}

/** Those of these ids of the stuck list that are the account's. */
export async function findOwn(db: WorldDb, accountId: string, ids: readonly string[]) {
  if (ids.length === 0) return new Set();
  const wanted = sql`any(${[...ids]}::text[])`;
  const { rows } = await sql<{ id: string }>`
    select transaction_id as id from purchases where transaction_id = ${wanted} and account_id = ${accountId}
    union all select transaction_id from fundings where transaction_id = ${wanted} and account_id = ${accountId}
    union all select id from webhook_messages where id = ${wanted} and account_id = ${accountId}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}
