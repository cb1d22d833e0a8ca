import { sql } from 'kysely';
import { DAY_MS } from '../../domain/clock.ts';
import type { AccountsDb } from '../../platform/database/tables.ts';
import { noticeOf, type AuditEntry, type Rule } from '../audit-entry.ts';
import { factsOf, type Notice } from '../notices.ts';
import { readDatabaseTime } from './accounts.ts';
import { giveTurnBack, takeTurn } from './mail-turns.ts';
import { findActiveAdmins } from './removals.ts';

/** Of one kind to one person: enough to notice, and no flood where somebody signs in again and again. */
export const MAX_NOTICES_A_DAY = 10;

const turnOf = (kind: string, userId: string): string => `notice ${kind} to ${userId}`;

/** Queues what this entry tells, from `afterMs` on. Call it in the transaction of the change. */
export async function queueNotices(trx: AccountsDb, entry: AuditEntry, afterMs = 0): Promise<bigint[]> {
  const rule = noticeOf(entry);
  if (!rule) return [];
  const facts = { ...factsOf(entry), ...(await namesOf(trx, entry)) };
  const now = await readDatabaseTime(trx);
  const ids: bigint[] = [];
  for (const userId of await readersOf(trx, rule, entry)) {
    const turn = { most: MAX_NOTICES_A_DAY, withinMs: DAY_MS };
    if (!(await takeTurn(trx, turnOf(rule.kind, userId), turn, now))) continue;
    const { id } = await trx
      .insertInto('user_notices')
      .values({ user_id: userId, kind: rule.kind, facts: JSON.stringify(facts) })
      .returning('id')
      .executeTakeFirstOrThrow();
    ids.push(id);
  }
  if (afterMs > 0) await postponeNotices(trx, ids, afterMs);
  return ids;
}

async function namesOf(trx: AccountsDb, entry: AuditEntry) {
  const { subject } = entry;
  const account = trx.selectFrom('accounts').select('name').where('id', '=', accountOf(entry));
  const user = trx.selectFrom('users').select('email').where('id', '=', subject);
  return {
    accountName: (await account.executeTakeFirst())?.name,
    whom: (await user.executeTakeFirst())?.email,
  };
}

const accountOf = ({ subject, detail = {} }: AuditEntry): string =>
  typeof detail.accountId === 'string' ? detail.accountId : subject;

/** In one order, so that two transactions never wait for each other. */
async function readersOf(trx: AccountsDb, { tells }: Rule, entry: AuditEntry) {
  const { actor, subject } = entry;
  if (tells === 'other-admins')
    return (await findActiveAdmins(trx)).filter((id) => id !== subject).toSorted();
  const owners = trx
    .selectFrom('members')
    .select('user_id')
    .where((eb) => eb.and({ account_id: accountOf(entry), role: 'OWNER' }));
  const rows = await trx
    .selectFrom('users')
    .select('id')
    .where((eb) =>
      eb.or([
        ...(tells === 'subject' ? [] : [eb('id', 'in', owners)]),
        ...(tells === 'subject' || tells === 'owners-and-subject' ? [eb('id', '=', subject)] : []),
        ...(tells === 'owners-and-actor' ? [eb('email', '=', actor)] : []),
      ]),
    )
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

export const postponeNotices = (db: AccountsDb, ids: readonly bigint[], waitMs: number) =>
  sql`
    update user_notices set next_attempt_at = now() + ${waitMs}::float8 * interval '1 ms'
     where id = any(${ids.map(String)}::bigint[])`.execute(db);

/** For a change that was refused. */
export async function dropNotices(db: AccountsDb, ids: readonly bigint[]): Promise<void> {
  for (const id of ids) {
    const one = db.deleteFrom('user_notices').where('id', '=', id).returning(['kind', 'user_id']);
    const dropped = await one.executeTakeFirst();
    if (dropped) await giveTurnBack(db, turnOf(dropped.kind, dropped.user_id));
  }
}

export type LeasedNotice = Notice & {
  readonly id: bigint;
  readonly email: string;
  /** Including this one. */
  readonly attempts: number;
};

/** The one due longest. A sender that dies after sending causes a second mail with the same id. */
export async function leaseUserNotice(db: AccountsDb, leaseMs: number): Promise<LeasedNotice | undefined> {
  const { rows } = await sql<LeasedNotice>`
    with leased as (
      update user_notices set attempts = attempts + 1, next_attempt_at = now() + ${leaseMs}::float8 * interval '1 ms'
       where id = (
         select id from user_notices where next_attempt_at <= now()
          order by next_attempt_at limit 1 for update skip locked)
      returning id, user_id, kind, facts, attempts, created_at
    )
    select leased.id, kind, facts, attempts, leased.created_at as "at", users.email
      from leased join users on users.id = leased.user_id`.execute(db);
  return rows[0];
}

/** Once it was sent, or never will be. */
export const deleteNotice = (db: AccountsDb, id: bigint) =>
  db.deleteFrom('user_notices').where('id', '=', id).execute();

/** Told later, it would be no news. */
export const KEEP_USER_NOTICES_MS = 3 * DAY_MS;

export const deleteOldNotices = (db: AccountsDb, now: Date) =>
  db
    .deleteFrom('user_notices')
    .where('created_at', '<', new Date(now.getTime() - KEEP_USER_NOTICES_MS))
    .execute();
