/**
 * Install data of eSIMs, sealed; and until when it is also written in clear, for processes of the release before, which know no seals. The hourly
 * maintenance seals what is in clear after that. Its indexes are in migrations/indexes.ts.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table esims add column install_sealed bytea`.execute(db);
  await sql`alter table world add column clear_until timestamptz`.execute(db);
  // Without an eSIM there is no release before.
  await sql`update world set clear_until = now() + interval '1 day' where exists (select from esims)`.execute(
    db,
  );
}
