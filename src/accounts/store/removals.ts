/** Who asked to remove an administrator, and how often one person removes access. */
import { sql, type Insertable } from 'kysely';
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

export const findRemoval = (trx: AccountsDb, userId: string, since: Date) =>
  trx
    .selectFrom('admin_removals')
    .selectAll()
    .where('user_id', '=', userId)
    .where('asked_at', '>', since)
    .executeTakeFirst();

/** In place of an earlier request. */
export const keepRemoval = (trx: AccountsDb, asked: Insertable<AdminRemovalsTable>) =>
  trx
    .insertInto('admin_removals')
    .values(asked)
    .onConflict((conflict) =>
      conflict
        .column('user_id')
        .doUpdateSet({ change: asked.change, asked_by: asked.asked_by, asked_at: asked.asked_at }),
    )
    .execute();

export const forgetRemoval = (trx: AccountsDb, userId: string) =>
  trx.deleteFrom('admin_removals').where('user_id', '=', userId).execute();
