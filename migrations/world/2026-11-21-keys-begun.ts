/**
 * A key's row may stand before the purchase's first step has written anything: so the answer of a caller who could not wait for that is kept
 * as well. The step takes the row over. A worker of the version before tries such a step again until one of this version has it.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table idempotency_keys add column begun boolean not null default false`.execute(db);
}
