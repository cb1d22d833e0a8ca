/**
 * What delivery reads and keeps: enough to order again under the same id after any crash. The purchase's row decides: an order attempt is counted before
 * it is sent, only for an open purchase, and a purchase under withdrawal is neither ordered nor settled.
 */
import { sql, type RawBuilder, type Selectable } from 'kysely';
import { asFailureReason, type Refusal } from '../../domain/refusals.ts';
import type { EsimsTable } from '../../esims/store/tables.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { PurchasesTable } from './tables.ts';

export type Delivery = ReturnType<typeof toDelivery>;

export async function loadDelivery(db: WorldDb, transactionId: string): Promise<Delivery> {
  const { rows } = await sql<DeliveryRow>`
    select ${COLUMNS} from purchases join esims on esims.id = purchases.esim_id
     where purchases.transaction_id = ${transactionId}`.execute(db);
  return toDelivery(rows[0], transactionId);
}

/**
 * Counts an order or top-up before it is sent, unless its order number is known, so that later attempts know that one may be in flight. Nothing may be
 * sent for a purchase that is closed or under withdrawal.
 */
export async function countOrderAttempt(
  db: WorldDb,
  transactionId: string,
  now: Date,
): Promise<{ readonly mayOrder: boolean; readonly delivery: Delivery }> {
  const { rows } = await sql<DeliveryRow>`
    update purchases
       set supplier_asks = supplier_asks + 1,
           supplier_first_asked_at =
             coalesce(supplier_first_asked_at, case when supplier_asks = 0 then ${now}::timestamptz else purchases.created_at end),
           supplier_previous_asked_at = case when supplier_asks > 0 then coalesce(supplier_asked_at, ${now}::timestamptz) end,
           supplier_asked_at = ${now}
      from esims
     where esims.id = purchases.esim_id and purchases.transaction_id = ${transactionId} and ${OPEN} and supplier_order_no is null
    returning ${COLUMNS}`.execute(db);
  if (rows[0]) return { mayOrder: true, delivery: toDelivery(rows[0], transactionId) };
  const delivery = await loadDelivery(db, transactionId);
  return { mayOrder: delivery.status === 'PROCESSING' && delivery.withdrawingSince === null, delivery };
}

/** Money is held, and the order is not being withdrawn. */
const OPEN = sql<boolean>`purchases.status = 'PROCESSING' and purchases.withdrawing_since is null`;

/** The order was not replaced meanwhile. */
export function hasOrder(supplierId: string): RawBuilder<boolean> {
  return sql<boolean>`coalesce(purchases.supplier_transaction_id, purchases.transaction_id) = ${supplierId}`;
}

/** The delivery is kept in our database. */
export const IS_DELIVERED = sql<boolean>`
  case purchases.package_type when 'TOPUP' then purchases.top_up_total_volume_bytes is not null
    else exists (select from esims kept where kept.id = purchases.esim_id and kept.iccid <> '') end`;

const COLUMNS = sql`purchases.*, esims.esim_tran_no, esims.iccid`;
type DeliveryRow = Selectable<PurchasesTable> & Pick<Selectable<EsimsTable>, 'esim_tran_no' | 'iccid'>;

function toDelivery(row: DeliveryRow | undefined, transactionId: string) {
  if (!row) throw new Error(`no purchase ${transactionId}`);
  return {
    transactionId,
    /** Our id of the order or top-up at the supplier; a replacement has its own. */
    supplierId: row.supplier_transaction_id ?? transactionId,
    packageType: row.package_type,
    packageCode: row.package_code,
    costUsdE4: row.cost_usd_e4,
    status: row.status,
    reason: row.reason === null ? null : asFailureReason(row.reason),
    esimId: row.esim_id,
    esimTranNo: row.esim_tran_no,
    iccid: row.iccid,
    orderNo: row.supplier_order_no,
    /** The supplier's answer is already kept; only settling is left. */
    delivered: row.package_type === 'BASE' ? row.iccid !== '' : row.top_up_total_volume_bytes !== null,
    /** Orders or top-ups that may have been sent. */
    orderAttempts: row.supplier_asks,
    /** When the first, second last and last attempts were counted; null where an earlier build did not keep it. */
    firstAskedAt: row.supplier_first_asked_at,
    previousAskedAt: row.supplier_previous_asked_at,
    lastAskedAt: row.supplier_asked_at,
    /** Our order is not among those listed before this. */
    searchedUntil: row.supplier_searched_until,
    /** `orderAttempts` when the supplier refused for good. */
    refusedAttempts: row.refused_asks,
    withdrawingSince: row.withdrawing_since,
    /** How long an order or a cancellation without an answer may still take effect. */
    graceMs: row.in_flight_grace_ms ?? DEFAULT_GRACE_MS,
    createdAt: row.created_at,
  };
}

/** For purchases that earlier builds opened. */
const DEFAULT_GRACE_MS = 60_000;

/** Records a final refusal, so that the money goes back by this row and not by a workflow's word. Nothing where another order was sent since. */
export async function keepRefusal(
  db: WorldDb,
  {
    transactionId,
    supplierId,
    orderAttempts,
  }: Pick<Delivery, 'transactionId' | 'supplierId' | 'orderAttempts'>,
  { reason, detail }: Refusal,
): Promise<void> {
  await sql`
    update purchases set refused_asks = supplier_asks, refused_reason = ${reason}, refused_detail = ${detail}
     where transaction_id = ${transactionId} and status = 'PROCESSING' and supplier_asks = ${orderAttempts}
       and ${hasOrder(supplierId)}`.execute(db);
}

/** Records that this withdrawal left nothing at the supplier. Nothing where it has ended. */
export async function keepWithdrawn(
  db: WorldDb,
  { transactionId, withdrawingSince }: Pick<Delivery, 'transactionId' | 'withdrawingSince'>,
): Promise<void> {
  await sql`
    update purchases set withdrawn_since = withdrawing_since
     where transaction_id = ${transactionId} and status = 'PROCESSING' and withdrawing_since = ${withdrawingSince}`.execute(
    db,
  );
}

/** Keeps the supplier's order number before the profile is there. */
export async function keepOrderNo(
  db: WorldDb,
  { transactionId, supplierId }: Pick<Delivery, 'transactionId' | 'supplierId'>,
  orderNo: string,
): Promise<void> {
  await sql`
    with kept as (
      update purchases set supplier_order_no = ${orderNo}, updated_at = now()
       where transaction_id = ${transactionId} and supplier_order_no is null and ${hasOrder(supplierId)}
         and status = 'PROCESSING'
      returning transaction_id
    )
    insert into purchase_events (transaction_id, what, detail)
    select transaction_id, 'ordered-at-supplier', ${orderNo}::text from kept`.execute(db);
}

/** Keeps how far the supplier's list was searched; the next search continues from there. */
export async function keepSearched(
  db: WorldDb,
  { transactionId, supplierId }: Pick<Delivery, 'transactionId' | 'supplierId'>,
  until: Date,
): Promise<void> {
  await sql`
    update purchases set supplier_searched_until = greatest(supplier_searched_until, ${until})
     where transaction_id = ${transactionId} and ${hasOrder(supplierId)}`.execute(db);
}

/** Blocks ordering and settling until the withdrawal ends. `delivered`: too late; `closed`: the money went back before. Safe to repeat. */
export async function beginWithdrawal(
  db: WorldDb,
  transactionId: string,
  now: Date,
): Promise<{ readonly state: 'withdrawing' | 'delivered' | 'closed'; readonly delivery: Delivery }> {
  return db.transaction().execute(async (trx) => {
    // The lock is a statement of its own, so that the next one sees what another step just wrote.
    await sql`select from purchases where transaction_id = ${transactionId} for no key update`.execute(trx);
    const { rows } = await sql<DeliveryRow>`
      update purchases set withdrawing_since = coalesce(withdrawing_since, ${now})
        from esims
       where esims.id = purchases.esim_id and purchases.transaction_id = ${transactionId} and purchases.status = 'PROCESSING'
         and not ${IS_DELIVERED}
      returning ${COLUMNS}`.execute(trx);
    if (rows[0]) return { state: 'withdrawing', delivery: toDelivery(rows[0], transactionId) };
    const delivery = await loadDelivery(trx, transactionId);
    return { state: delivery.status === 'FAILED' ? 'closed' : 'delivered', delivery };
  });
}

/** Records the cancellation before it is sent. `false`: this withdrawal has ended, and nothing may be cancelled for it. */
export async function beginCancelling(
  db: WorldDb,
  { transactionId, withdrawingSince }: Pick<Delivery, 'transactionId' | 'withdrawingSince'>,
  now: Date,
): Promise<boolean> {
  const begun = await db
    .updateTable('purchases')
    .set({ cancel_asked_at: now })
    .where('transaction_id', '=', transactionId)
    .where('withdrawing_since', '=', withdrawingSince)
    .where('status', '=', 'PROCESSING')
    .executeTakeFirst();
  return begun.numUpdatedRows > 0n;
}

/**
 * Ends a withdrawal that cancelled nothing: the purchase may be delivered again. Returns the milliseconds to wait first, while a cancellation that timed
 * out may still reach the supplier; 0 when the purchase is open.
 */
export async function reopenDelivery(db: WorldDb, transactionId: string, now: Date): Promise<number> {
  const mayArriveUntil = sql`cancel_asked_at + coalesce(in_flight_grace_ms, ${DEFAULT_GRACE_MS}) * interval '1 ms'`;
  const { rows } = await sql<{ until: Date | null }>`
    with reopened as (
      update purchases set withdrawing_since = null
       where transaction_id = ${transactionId} and withdrawing_since is not null
         and (cancel_asked_at is null or ${mayArriveUntil} <= ${now})
      returning transaction_id
    )
    select ${mayArriveUntil} as until from purchases
     where transaction_id = ${transactionId} and withdrawing_since is not null
       and transaction_id not in (select transaction_id from reopened)`.execute(db);
  const until = rows[0]?.until;
  return until ? Math.max(1, until.getTime() - now.getTime()) : 0;
}
