/**
 * The public link of an eSIM's install page. Its token is in no dump: the row has a random number, from which it is made with a secret of the
 * installation, and its hash, by which it is found. Revoking deletes the row.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  const role = sql.id(`simway_${rows[0]?.schema ?? ''}`);
  await sql`
    create table install_links (
      esim_id text primary key,
      nonce bytea not null check (octet_length(nonce) = 16),
      token_hash bytea not null unique check (octet_length(token_hash) = 32),
      created_at timestamptz not null default now()
    )`.execute(db);
  await sql`grant select, insert, delete on install_links to ${role}`.execute(db);
}
