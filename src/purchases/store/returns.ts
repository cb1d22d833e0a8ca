/**
 * Returns of unused eSIMs. A cancellation is on its row before it is sent. What it gives back is booked in
 * the transaction that records it. Rows are locked in the order of src/payments/store/lock-order.ts.
 */
import { sql, type Selectable } from 'kysely';
import type { Page } from '../../domain/page.ts';
import type { ReturnRefusal, ReturnState } from '../../domain/states.ts';
import { cancelEsim } from '../../esims/store/esims.ts';
import { lockPayments, lockPurchase } from '../../payments/store/lock-order.ts';
import { callFunction } from '../../platform/database/functions.ts';
import { readPage } from '../../platform/database/page.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { enqueueWebhook, subscribers } from '../../webhooks/store/messages.ts';
import { policyFor, type ReturnPolicy } from '../returns/rules.ts';
import { addEvent, requested, unflag, type RequestedQuery } from './followed-rows.ts';
import { giveBack } from './return-money.ts';
import { SEND_WITHIN_MS } from './supplier-orders.ts';
import type { ReturnsTable } from './tables.ts';

export type ReturnRow = Selectable<ReturnsTable>;

/** What counts for an account: what was agreed with it, or what the installation has. */
export async function findPolicy(
  db: WorldDb,
  accountId: string,
  installation: ReturnPolicy,
): Promise<ReturnPolicy> {
  const { rows } = await sql<{ isAllowed: boolean | null; windowDays: number | null; feeBps: number | null }>`
    select returns_allowed as "isAllowed", return_window_days as "windowDays", return_fee_bps as "feeBps"
      from accounts.accounts where id = ${accountId}`.execute(db);
  return policyFor(installation, rows[0] ?? { isAllowed: null, windowDays: null, feeBps: null });
}

/** Why our rows do not allow a return; null: the supplier decides. And until when one can be asked for. */
export async function findRefusal(db: WorldDb, esimId: string, { windowDays }: ReturnPolicy) {
  const { rows } = await sql<{ refusal: ReturnRefusal | null; until: Date | null }>`
    select return_refusal(esims, ${windowDays}) as refusal,
           purchases.closed_at + ${windowDays} * interval '1 day' as until
      from esims join purchases on purchases.transaction_id = esims.transaction_id
     where esims.id = ${esimId}`.execute(db);
  return rows[0] ?? { refusal: 'NOT_DELIVERED' as const, until: null };
}

export interface NewReturn {
  readonly id: string;
  readonly accountId: string;
  readonly esimId: string;
  readonly windowDays: number;
  readonly feeMinor: bigint;
  readonly reason: string | null;
  readonly requestedBy: string;
  readonly batchId: string | null;
}

/** Writes a return, unless our rows do not allow it: then why. */
export async function insertReturn(db: WorldDb, given: NewReturn): Promise<ReturnRefusal | null> {
  const { refusal } = await callFunction<{ refusal: ReturnRefusal | null }>(db, 'request_return', {
    return_id: given.id,
    account_id: given.accountId,
    esim_id: given.esimId,
    window_days: given.windowDays,
    fee_minor: given.feeMinor,
    reason: given.reason,
    requested_by: given.requestedBy,
    batch_id: given.batchId,
  });
  return refusal;
}

export const findReturn = (db: WorldDb, id: string): Promise<ReturnRow | undefined> =>
  db.selectFrom('returns').selectAll().where('id', '=', id).executeTakeFirst();

/** Of one request for several, in no order. */
export const findReturnsOf = (db: WorldDb, batchId: string): Promise<ReturnRow[]> =>
  db.selectFrom('returns').selectAll().where('batch_id', '=', batchId).execute();

export type ReturnQuery = RequestedQuery<ReturnState>;

/** Newest first. */
export const listReturns = (db: WorldDb, accountId: string, query: ReturnQuery): Promise<Page<ReturnRow>> =>
  readPage(
    db
      .selectFrom('returns')
      .selectAll()
      .where(requested(accountId, query, ['esim_id']))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc'),
    query,
  );

/** Of a purchase: the return that a person decides. Null: none. */
export async function findReturnInReview(db: WorldDb, transactionId: string) {
  const { rows } = await sql<{
    returnId: string;
    amountMinor: bigint;
    currency: string;
    mayStillBeCancelled: boolean;
  }>`
    select id as "returnId", amount_minor as "amountMinor", currency,
           coalesce(cancel_settles_after > clock_timestamp(), false) as "mayStillBeCancelled"
      from returns where transaction_id = ${transactionId} and state = 'NEEDS_REVIEW'`.execute(db);
  return rows[0] ?? null;
}

const IS_OPEN = sql<boolean>`state in ('PENDING', 'NEEDS_REVIEW')`;

/** A return as its step needs it; times by Postgres's clock. */
export async function loadReturn(db: WorldDb, id: string) {
  const { rows } = await sql<
    ReturnRow & {
      readonly esimTranNo: string;
      readonly ageMs: number;
      readonly settlesInMs: number;
      readonly isContested: boolean;
    }
  >`
    select returns.*, esims.esim_tran_no as "esimTranNo", is_contested(attention_reason) as "isContested",
           (extract(epoch from clock_timestamp() - returns.created_at) * 1000)::float8 as "ageMs",
           coalesce(extract(epoch from cancel_settles_after - clock_timestamp()) * 1000, 0)::float8 as "settlesInMs"
      from returns join esims on esims.id = returns.esim_id
                   join purchases on purchases.transaction_id = returns.transaction_id
     where returns.id = ${id}`.execute(db);
  return rows[0];
}

/** Writes that a cancellation is about to be sent. false: it must not be, since the return has ended. */
export async function beginCancelReturn(db: WorldDb, id: string, timeLimitMs: number): Promise<boolean> {
  const begun = await sql`
    update returns
       set cancel_attempts = cancel_attempts + 1,
           cancel_send_before = clock_timestamp() + ${SEND_WITHIN_MS} * interval '1 ms',
           cancel_settles_after = clock_timestamp()
             + (${SEND_WITHIN_MS + timeLimitMs}::integer + in_flight_grace_ms) * interval '1 ms'
     where id = ${id} and ${IS_OPEN}`.execute(db);
  return begun.numAffectedRows === 1n;
}

/** Undoes `beginCancelReturn` where nothing was sent, unless another has begun since this row was read. */
export async function forgetCancelReturn(
  db: WorldDb,
  { id, cancel_attempts, cancel_send_before, cancel_settles_after }: ReturnRow,
): Promise<void> {
  await db
    .updateTable('returns')
    .set({ cancel_attempts, cancel_send_before, cancel_settles_after })
    .where('id', '=', id)
    .where('cancel_attempts', '=', cancel_attempts + 1)
    .execute();
}

/**
 * Ends a return without a change. false: it has ended, or a cancellation may still arrive. `knownAttempts`:
 * those of which a step knows that none can. One that another step has sent since is not overruled.
 */
export function refuseReturn(
  db: WorldDb,
  { id, transaction_id }: Pick<ReturnRow, 'id' | 'transaction_id'>,
  refusal: ReturnRefusal,
  knownAttempts: number | null = null,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    await lockPurchase(trx, transaction_id);
    const { numAffectedRows } = await sql`
      update returns set state = 'REFUSED', refusal = ${refusal}, closed_at = clock_timestamp()
       where id = ${id} and ${IS_OPEN}
         and case when ${knownAttempts}::integer is null then coalesce(cancel_settles_after <= clock_timestamp(), true)
                  else cancel_attempts = ${knownAttempts} end`.execute(trx);
    if (numAffectedRows === 0n) return false;
    await addEvent(trx, transaction_id, 'return-refused', refusal);
    await unflag(trx, 'returns', transaction_id);
    return true;
  });
}

/**
 * The supplier has cancelled the eSIM: it is cancelled here, and its money goes back. undefined: the return
 * has ended. CONTESTED: a bank disputes the payment or has taken it back, and until a person has settled that
 * nothing is given back.
 */
export function recordReturned(
  db: WorldDb,
  { id, transaction_id: transactionId }: Pick<ReturnRow, 'id' | 'transaction_id'>,
): Promise<ReturnRow | 'CONTESTED' | undefined> {
  return inTransaction(db, async (trx) => {
    const payments = await lockPayments(trx, transactionId);
    await lockPurchase(trx, transactionId);
    const open = await trx
      .selectFrom('returns')
      .selectAll()
      .where('id', '=', id)
      .where(IS_OPEN)
      .forUpdate()
      .executeTakeFirst();
    if (!open) return undefined;
    const { rows } = await sql<{ at: Date; isContested: boolean }>`
      select clock_timestamp() as at,
             is_contested(attention_reason) as "isContested" from purchases where transaction_id = ${transactionId}`.execute(
      trx,
    );
    const { at, isContested } = rows[0] ?? { at: new Date(), isContested: true };
    if (isContested) return 'CONTESTED';
    const { iccid } = await cancelEsim(trx, open.esim_id, at);
    await trx.updateTable('esims').set({ returned_at: at }).where('id', '=', open.esim_id).execute();
    const back = await giveBack(trx, open, payments);
    const returned = await trx
      .updateTable('returns')
      .set({
        ...{ amount_minor: back.amountMinor, refunded_to: back.to, refund_key: back.refundKey },
        ...{ state: back.refundKey === null ? 'RETURNED' : 'REFUNDING', cancelled_at: at },
        closed_at: back.refundKey === null ? at : null,
      })
      .where('id', '=', id)
      .returningAll()
      .returning(subscribers('esim.returned', sql.ref('returns.account_id')).as('subscribers'))
      .executeTakeFirstOrThrow();
    await addEvent(trx, transactionId, 'returned', id);
    await unflag(trx, 'returns', transactionId);
    const { esim_id: esimId, amount_minor, fee_minor, currency } = returned;
    const money = { amountMinor: amount_minor, feeMinor: fee_minor, currency };
    const facts = { returnId: id, esimId, transactionId, iccid, ...money, refundedTo: back.to };
    const who = { accountId: open.account_id, subscribers: returned.subscribers };
    await enqueueWebhook(trx, { event: 'esim.returned', key: id, subject: transactionId, ...who, at, facts });
    return returned;
  });
}
