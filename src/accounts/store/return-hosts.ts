/** The hosts of a shop that its buyers may be sent back to, in the schema of their environment. */
import { sql } from 'kysely';
import type { WorldDb } from '../../platform/database/tables.ts';

export async function findReturnHosts(db: WorldDb, accountId: string): Promise<readonly string[]> {
  const row = await db
    .selectFrom('return_hosts')
    .select('hosts')
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row?.hosts ?? [];
}

/** In place of the earlier ones; none: nobody is sent anywhere. */
export async function replaceReturnHosts(
  trx: WorldDb,
  { accountId, changedBy }: { readonly accountId: string; readonly changedBy: string },
  hosts: readonly string[],
): Promise<void> {
  if (hosts.length === 0) {
    await trx.deleteFrom('return_hosts').where('account_id', '=', accountId).execute();
    return;
  }
  const row = { hosts: [...hosts], changed_at: sql<Date>`clock_timestamp()`, changed_by: changedBy };
  await trx
    .insertInto('return_hosts')
    .values({ account_id: accountId, ...row })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
    .execute();
}
