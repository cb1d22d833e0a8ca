/** Old gateway events and exchange rates are deleted: the right to do so, and the indexes that find them and the orders that refer to a rate. */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index gateway_events_applied on gateway_events (applied_at) where applied_at is not null`.execute(
    db,
  );
  await sql`create index exchange_rates_by_age on exchange_rates (created_at)`.execute(db);
  await sql`create index purchases_by_rate on purchases (rate_id) where rate_id is not null`.execute(db);
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant delete on gateway_events, exchange_rates to ${role}`.execute(db);
}
