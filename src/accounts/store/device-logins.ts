import type { Insertable } from 'kysely';
import type { AccountsDb } from '../../platform/database/tables.ts';
import type { DeviceLoginsTable } from './tables.ts';

/** Also forgets those that have expired. */
export async function insertDeviceLogin(db: AccountsDb, login: Insertable<DeviceLoginsTable>): Promise<void> {
  await db.deleteFrom('device_logins').where('expires_at', '<=', login.created_at).execute();
  await db.insertInto('device_logins').values(login).execute();
}

/** One that has not expired; by the code that the command shows only while nobody has let it in. */
export function findDeviceLogin(
  db: AccountsDb,
  which: { readonly deviceSha256: Buffer } | { readonly codeSha256: Buffer },
  now: Date,
) {
  const open = db
    .selectFrom('device_logins')
    .selectAll()
    .where('expires_at', '>', now)
    .where((eb) => eb.or([eb('session_until', 'is', null), eb('session_until', '>', now)]));
  const found =
    'deviceSha256' in which
      ? open.where('device_sha256', '=', which.deviceSha256)
      : open.where('code_sha256', '=', which.codeSha256).where('approved_by', 'is', null);
  return found.executeTakeFirst();
}

/** False: somebody else let it in meanwhile. */
export async function approveDeviceLogin(
  db: AccountsDb,
  deviceSha256: Buffer,
  approval: { readonly approved_by: string; readonly session_until: Date },
): Promise<boolean> {
  const one = db.updateTable('device_logins').set(approval).where('device_sha256', '=', deviceSha256);
  return (await one.where('approved_by', 'is', null).executeTakeFirst()).numUpdatedRows === 1n;
}

export const notePoll = (db: AccountsDb, deviceSha256: Buffer, polled_at: Date) =>
  db.updateTable('device_logins').set({ polled_at }).where('device_sha256', '=', deviceSha256).execute();

/** Takes an approved one, once. False: nobody has let it in, or it was taken or withdrawn. */
export async function takeDeviceLogin(db: AccountsDb, deviceSha256: Buffer): Promise<boolean> {
  const one = db.deleteFrom('device_logins').where('device_sha256', '=', deviceSha256);
  return (await one.where('approved_by', 'is not', null).executeTakeFirst()).numDeletedRows === 1n;
}
