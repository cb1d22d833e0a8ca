/** Automatic top-ups that were agreed to in advance; migrations/world/baseline/mandates.ts spends them. */
import { sql, type Insertable, type Selectable } from 'kysely';
import type { MandateEndReason } from '../../domain/mandates.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { TopUpMandatesTable } from './tables.ts';

export type MandateRow = Selectable<TopUpMandatesTable>;
export type NewMandate = Pick<
  Insertable<TopUpMandatesTable>,
  | 'id'
  | 'account_id'
  | 'esim_id'
  | 'package_code'
  | 'agreed_by'
  | 'caller'
  | 'limit_minor'
  | 'currency'
  | 'max_top_ups'
  | 'threshold_bytes'
  | 'expires_at'
>;

/** The newest of an eSIM; one that is active comes before all that ended. */
export function findMandate(db: WorldDb, esimId: string): Promise<MandateRow | undefined> {
  return db
    .selectFrom('top_up_mandates')
    .selectAll()
    .where('esim_id', '=', esimId)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Changes of an eSIM's mandates wait for each other. */
export async function lockMandates(trx: WorldDb, esimId: string): Promise<MandateRow | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended(
    current_schema() || ' mandates of ' || ${esimId}::text, 0))`.execute(trx);
  return trx
    .selectFrom('top_up_mandates')
    .selectAll()
    .where('esim_id', '=', esimId)
    .where('state', '=', 'ACTIVE')
    .executeTakeFirst();
}

/** Top-ups of an eSIM that its travellers agreed to, by all mandates together; failed ones do not count. */
export async function countTravellersTopUps(db: WorldDb, esimId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select coalesce(sum(top_ups), 0)::integer as count from top_up_mandates
     where esim_id = ${esimId} and agreed_by = 'TRAVELLER'`.execute(db);
  return rows[0]?.count ?? 0;
}

/** It looks at the eSIM's figures at once. */
export async function insertMandate(trx: WorldDb, mandate: NewMandate): Promise<MandateRow> {
  return trx
    .insertInto('top_up_mandates')
    .values({ ...mandate, due_at: sql<Date>`clock_timestamp()` })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** A top-up that is open goes on. One that has ended stays as it is. */
export async function endMandate(db: WorldDb, id: string, reason: MandateEndReason): Promise<void> {
  await db
    .updateTable('top_up_mandates')
    .set({ state: 'ENDED', end_reason: reason, ended_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .where('state', '=', 'ACTIVE')
    .execute();
}

/**
 * Begins the next try of mandates that are due. Each process takes different ones. A try whose process dies
 * is followed by another after five minutes, and then opens nothing any more.
 */
export async function claimDueMandates(db: WorldDb, limit: number): Promise<MandateRow[]> {
  const { rows } = await sql<MandateRow>`
    update top_up_mandates set sequence = sequence + 1, due_at = now() + interval '5 minutes'
     where id in (select id from top_up_mandates
                   where state = 'ACTIVE' and due_at <= now() and open_transaction_id is null
                   order by due_at limit ${limit} for no key update skip locked)
    returning *`.execute(db);
  return rows;
}

/** When it is looked at again; null: once there is a new figure. Only while this try is the newest. */
export async function putOffMandate(
  db: WorldDb,
  { id, sequence }: Pick<MandateRow, 'id' | 'sequence'>,
  afterMs: number | null,
): Promise<void> {
  await sql`
    update top_up_mandates set due_at = now() + ${afterMs}::bigint * interval '1 ms'
     where id = ${id} and sequence = ${sequence} and open_transaction_id is null`.execute(db);
}
