import { sql } from 'kysely';
import type { Notice } from '../rules.ts';
import type { WorldDb } from '../../platform/database/tables.ts';

/** Call in the transaction of the change that it reports. */
export const writeNotice = (trx: WorldDb, accountId: string, { kind, facts }: Notice, at: Date) =>
  sql`
    insert into notices (id, account_id, kind, facts, next_attempt_at, created_at)
    values ('notice-' || replace(gen_random_uuid()::text, '-', ''), ${accountId}, ${kind}, ${JSON.stringify(facts)}::jsonb, now(), ${at})`.execute(
    trx,
  );

export type LeasedNotice = Notice & {
  readonly id: string;
  readonly accountId: string;
  /** null: the account does not exist. */
  readonly email: string | null;
  /** Including this one. */
  readonly attempts: number;
};

/** The one due longest. A sender that dies after sending causes a second mail with the same id. */
export async function leaseNotice(db: WorldDb, leaseMs: number): Promise<LeasedNotice | undefined> {
  const { rows } = await sql<LeasedNotice>`
    with leased as (
      update notices set attempts = attempts + 1, next_attempt_at = now() + ${leaseMs}::float8 * interval '1 ms'
       where id = (
         select id from notices where sent_at is null and next_attempt_at <= now()
          order by next_attempt_at limit 1 for update skip locked)
      returning id, account_id as "accountId", kind, facts, attempts
    )
    select leased.*, account.email from leased left join accounts.accounts account on account.id = leased."accountId"`.execute(
    db,
  );
  return rows[0];
}

export const markNoticeSent = (db: WorldDb, id: string) =>
  sql`
    update notices set sent_at = now(), next_attempt_at = null where id = ${id} and sent_at is null`.execute(
    db,
  );

export const postponeNotice = (db: WorldDb, id: string, waitMs: number) =>
  sql`
    update notices set next_attempt_at = now() + ${waitMs}::float8 * interval '1 ms'
     where id = ${id} and sent_at is null`.execute(db);

/** Deletes notices written before then, sent or not; returns how many. */
export async function forgetNotices(db: WorldDb, writtenBefore: Date): Promise<number> {
  const old = db.deleteFrom('notices').where('created_at', '<', writtenBefore);
  return Number((await old.executeTakeFirst()).numDeletedRows);
}
