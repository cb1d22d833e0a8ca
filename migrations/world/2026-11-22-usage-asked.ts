/**
 * When the supplier was last asked for an eSIM's usage, and the order in which the schedule asks: longest unseen first. A look at the whole eSIM
 * tells its usage as well, so the later of the two counts.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table esims add column usage_asked_at timestamptz`.execute(db);
  await sql`
    create index esims_by_usage on esims (greatest(looked_at, usage_asked_at))
     where status in ('CREATED', 'ACTIVE', 'SUSPENDED') and esim_tran_no <> ''`.execute(db);
}
