import { sql } from 'kysely';
import type { AccountsDb } from '../../platform/database/tables.ts';

/** An operator who was disabled gets no lock; users cannot be disabled. */
const MAY_SIGN_IN = { people: sql`disabled_at is null`, users: sql`true` };

/**
 * Counts a wrong password for the person or the user with this e-mail address, if there is one. Counts nothing during a lock, so that further guesses
 * do not lock the owner out for ever. Returns the id of the one who is locked out by this failure.
 */
export async function countFailure(
  db: AccountsDb,
  { table, email }: { readonly table: keyof typeof MAY_SIGN_IN; readonly email: string },
  { mostFailures, lockMs }: { readonly mostFailures: number; readonly lockMs: number },
  now: Date,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string; is_locked: boolean }>`
    update ${sql.table(table)}
       set failed_logins = case when failed_logins + 1 >= ${mostFailures} then 0 else failed_logins + 1 end,
           locked_until = case when failed_logins + 1 >= ${mostFailures}
             then ${new Date(now.getTime() + lockMs)}::timestamptz else locked_until end
     where email = ${email} and ${MAY_SIGN_IN[table]} and (locked_until is null or locked_until <= ${now})
    returning id, locked_until is not null and locked_until > ${now} as is_locked`.execute(db);
  return rows[0]?.is_locked === true ? rows[0].id : undefined;
}
