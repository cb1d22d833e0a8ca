/** Automatic top-ups that were agreed to in advance; migrations/world/baseline/mandates.ts spends them. */
import { sql, type Insertable, type Selectable } from 'kysely';
import type { ErrorCode } from '../../domain/errors.ts';
import type { MandateEndReason } from '../../domain/mandates.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import { enqueueWebhook, subscribers } from '../../webhooks/store/messages.ts';
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

/** Agreements of an eSIM's travellers within a day, those that have ended too. */
export async function countTravellersAgreements(db: WorldDb, esimId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from top_up_mandates
     where esim_id = ${esimId} and agreed_by = 'TRAVELLER'
       and created_at > clock_timestamp() - interval '1 day'`.execute(db);
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
    .set({
      state: 'ENDED',
      end_reason: reason,
      ended_at: reason === 'EXPIRED' ? sql.ref('expires_at') : sql<Date>`clock_timestamp()`,
    })
    .where('id', '=', id)
    .where('state', '=', 'ACTIVE')
    .execute();
}

/** Longer than a try takes. One whose process dies is followed by another, and then opens nothing. */
const LEASE = sql`interval '5 minutes'`;

/** Begins the next try of mandates that are due. Each process takes different ones. */
export async function leaseDueMandates(db: WorldDb, limit: number): Promise<MandateRow[]> {
  const { rows } = await sql<MandateRow>`
    update top_up_mandates set sequence = sequence + 1, due_at = now() + ${LEASE}
     where id = any(array(
             select id from top_up_mandates
              where state = 'ACTIVE' and due_at <= now() and open_transaction_id is null
              order by due_at limit ${limit} for no key update skip locked))
    returning *`.execute(db);
  return rows;
}

type Try = Pick<MandateRow, 'id' | 'sequence' | 'due_at'>;

const isNewest = ({ id, sequence }: Try) => sql`
  id = ${id} and sequence = ${sequence} and state = 'ACTIVE' and open_transaction_id is null`;

/** A new figure that this try itself has read must not begin another. false: another has begun. */
export async function renewLease(db: WorldDb, leased: Try): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update top_up_mandates set due_at = now() + ${LEASE} where ${isNewest(leased)}`.execute(db);
  return numAffectedRows === 1n;
}

/** What a try that bought nothing leaves behind. */
export interface PutOff {
  /** null: until there is a new figure, or it expires. */
  readonly afterMs: number | null;
  /** The error code, if it was refused: its merchant is told, once a day for each. */
  readonly refusal?: ErrorCode;
}

/** Only while this try is the newest. Where a new figure has made it due since its lease, it stays due. */
export function putOffMandate(db: WorldDb, leased: Try, { afterMs, refusal }: PutOff): Promise<void> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<Refused>`
      update top_up_mandates
         set due_at = case when due_at >= ${leased.due_at} and due_at > now()
                           then least(now() + ${afterMs}::bigint * interval '1 ms', expires_at) else due_at end,
             tried_at = case when ${refusal ?? null}::text is null then tried_at else now() end,
             refusal = coalesce(${refusal ?? null}, refusal)
       where ${isNewest(leased)}
      returning account_id, now() as at, ${subscribers('mandate.refused', sql`account_id`)} as subscribers,
        (select row_to_json(esim) from (select id as "esimId", transaction_id as "transactionId", iccid
                                          from esims where id = esim_id) esim) as esim`.execute(trx);
    const [put] = rows;
    if (!put || refusal === undefined) return;
    const { at, esim } = put;
    const day = at.toISOString().slice(0, 'yyyy-mm-dd'.length);
    const facts = { mandateId: leased.id, ...esim, refusal };
    const who = { accountId: put.account_id, subject: esim.transactionId, subscribers: put.subscribers };
    const key = `${leased.id}:${refusal}:${day}`;
    await enqueueWebhook(trx, { event: 'mandate.refused', key, ...who, facts, at });
  });
}

interface Refused {
  readonly account_id: string;
  readonly at: Date;
  readonly subscribers: string[] | null;
  readonly esim: { readonly esimId: string; readonly transactionId: string; readonly iccid: string };
}
