/**
 * Secrets of endpoints that were replaced and still sign, beyond the one that was replaced last, which stays in the endpoint's row: there the
 * version before finds it and signs with it. What that version rotates away meanwhile ends at once, as it always did.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhook_older_secrets (
      id bigint generated always as identity primary key,
      endpoint_id text not null references webhook_endpoints (id),
      secret_sealed bytea not null,
      until timestamptz not null
    )`.execute(db);
  await sql`create index webhook_older_secrets_by_endpoint on webhook_older_secrets (endpoint_id)`.execute(
    db,
  );
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`grant select, insert, update (secret_sealed), delete on webhook_older_secrets to ${role}`.execute(
    db,
  );
}
