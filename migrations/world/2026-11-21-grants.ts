/**
 * What a world's role may do. It can add to the ledger but never change, remove or truncate it, and cannot touch a balance except
 * through entries: `update (updated_at)` on wallets is there only because row locks need some column.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const schemaName = rows[0]?.schema ?? '';
  const schema = sql.id(schemaName);
  const role = sql.id(`simway_${schemaName}`);
  await sql`grant select on all tables in schema ${schema} to ${role}`.execute(db);
  await sql`
    grant insert, update on regions, packages, package_prices, package_top_ups, package_top_up_looks, exchange_rates,
      revisions, purchases, esims, idempotency_keys to ${role}`.execute(db);
  await sql`grant delete on package_top_ups, idempotency_keys to ${role}`.execute(db);
  await sql`grant insert on pricing_settings, purchase_events, ledger_accounts, ledger_transactions, ledger_entries to ${role}`.execute(
    db,
  );
  await sql`grant update (updated_at) on wallets to ${role}`.execute(db);
  await sql`grant insert (id, account_id, currency, amount_minor), update (status, closed_at) on holds to ${role}`.execute(
    db,
  );
}
