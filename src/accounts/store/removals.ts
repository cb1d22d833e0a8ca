/** Who asked to remove an administrator, and how often one person removes access. */
import { sql, type Selectable } from 'kysely';
import type { AccountsDb } from '../../platform/database/tables.ts';
import type { AdminRemovalsTable } from './tables.ts';

/** What one person has done since a time: resets, recoveries, disablings, other roles, disabled accounts. */
export async function countRemovals(trx: AccountsDb, actor: string, since: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from audit_log
     where actor = ${actor} and at > ${since}
       and (action in ('person.reset-password', 'user.recover')
         or (action = 'person.change' and (detail->>'disabled' like '%→ true' or detail ? 'role'))
         or (action = 'account.change' and detail->>'disabled' like '%→ true'))`.execute(trx);
  return rows[0]?.count ?? 0;
}

/** Ids of the administrators who can act. */
export async function findActiveAdmins(trx: AccountsDb): Promise<string[]> {
  const rows = await trx
    .selectFrom('operators')
    .select('user_id')
    .where('role', '=', 'ADMIN')
    .where('disabled_at', 'is', null)
    .where('one_time_until', 'is', null)
    .execute();
  return rows.map((row) => row.user_id);
}

/** Who else asked for the same. */
export async function findAskers(
  trx: AccountsDb,
  { user_id, change, asked_by }: Selectable<AdminRemovalsTable>,
  since: Date,
): Promise<string[]> {
  const rows = await trx
    .selectFrom('admin_removals')
    .select('asked_by')
    .where((eb) => eb.and({ user_id, change }))
    .where('asked_by', '<>', asked_by)
    .where('asked_at', '>', since)
    .orderBy('asked_at')
    .execute();
  return rows.map((row) => row.asked_by);
}

/** In place of an earlier request of the same person. */
export const keepRemoval = (trx: AccountsDb, asked: Selectable<AdminRemovalsTable>) =>
  trx
    .insertInto('admin_removals')
    .values(asked)
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'asked_by'])
        .doUpdateSet({ change: asked.change, asked_at: asked.asked_at }),
    )
    .execute();

export const forgetRemovals = (trx: AccountsDb, userId: string) =>
  trx.deleteFrom('admin_removals').where('user_id', '=', userId).execute();
