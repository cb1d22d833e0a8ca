/**
 * Orders at suppliers, one row each (docs/ARCHITECTURE.md). An attempt is on its row before it is sent, and
 * only for an open purchase whose money nobody disputes. Every time here is Postgres's, since workers' clocks
 * differ. Every function locks the purchase first: what ends it waits, and so does this.
 */
import { sql, type RawBuilder, type Selectable } from 'kysely';
import { asFailureReason } from '../../domain/refusals.ts';
import type { EsimsTable } from '../../esims/store/tables.ts';
import { DISPUTE_REASONS, type DisputeReason } from '../../domain/states.ts';
import { lockPurchase } from '../../payments/store/lock-order.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { PurchasesTable, SupplierOrdersTable } from './tables.ts';

/**
 * How long after its row was written an effect may be sent: a request may wait 5 s for its turn. Fences begin
 * before the row is written, so they are over no later.
 */
export const SEND_WITHIN_MS = 6_000;

export type SupplierOrder = ReturnType<typeof toOrder>;
export type Delivery = ReturnType<typeof toDelivery>;

/** The purchase, and its newest order at a supplier. */
export async function loadDelivery(db: WorldDb, transactionId: string): Promise<Delivery> {
  const { rows } = await sql<DeliveryRow>`
    select ${PURCHASE_COLUMNS}, ${ORDER_COLUMNS}, clock_timestamp() as now
      from purchases ${PURCHASE_JOINS}
      left join lateral (
        select * from supplier_orders where supplier_orders.transaction_id = purchases.transaction_id
         order by is_live desc, planned_at desc, supplier_orders.id desc limit 1
      ) newest on true
     where purchases.transaction_id = ${transactionId}`.execute(db);
  return toDelivery(rows[0], transactionId);
}

/** Its orders that were sent and have ended without a delivery: one that was given up may still come. */
export async function loadGivenUp(db: WorldDb, transactionId: string): Promise<SupplierOrder[]> {
  const { rows } = await sql<PurchaseColumns & OrderColumns>`
    select ${PURCHASE_COLUMNS}, ${ORDER_COLUMNS}, clock_timestamp() as now
      from purchases ${PURCHASE_JOINS}
      join supplier_orders newest on newest.transaction_id = purchases.transaction_id
     where purchases.transaction_id = ${transactionId} and not newest.is_live and newest.attempts > 0
     order by newest.planned_at, newest.id`.execute(db);
  return rows.map(toOrder);
}

export interface AttemptRules {
  /** Who is asked: an order goes to no other supplier than it was agreed with. */
  readonly supplier: string;
  /** The longest that the supplier's answer is waited for once the order is sent. */
  readonly timeLimitMs: number;
  /**
   * Whether an order or a top-up that is in doubt may be sent again: the supplier promises that it is the
   * same request.
   */
  readonly mayRepeat: Readonly<Record<'BASE' | 'TOPUP', boolean>>;
  /**
   * It was just looked for, and is not there: once nothing sent before can still arrive, it may be sent
   * again.
   */
  readonly isSearched: boolean;
}

/**
 * Writes an attempt before it is sent: from here on, what was sent may arrive until `settles_after`.
 * undefined: nothing may be sent now, and nothing was written.
 */
export async function beginAttempt(
  db: WorldDb,
  transactionId: string,
  { supplier, timeLimitMs, mayRepeat, isSearched }: AttemptRules,
): Promise<Delivery | undefined> {
  const mayRepeatNow = sql<boolean>`
    case kind when 'BASE' then ${mayRepeat.BASE}::boolean else ${mayRepeat.TOPUP}::boolean end`;
  const { rows } = await sql<DeliveryRow>`
    with tick as materialized (select clock_timestamp() as at), purchase as (
      select ${PURCHASE_COLUMNS} from purchases ${PURCHASE_JOINS}
       where purchases.transaction_id = ${transactionId} and ${MAY_DELIVER} and holds.status = 'HELD'
         for no key update of purchases
    ), newest as (
      update supplier_orders
         set state = 'sent', attempts = attempts + 1, last_sent_at = tick.at,
             first_sent_at = coalesce(first_sent_at, tick.at),
             send_before = tick.at + ${SEND_WITHIN_MS} * interval '1 ms',
             earlier_settles_after = settles_after,
             settles_after = greatest(settles_after, tick.at + ${settling(timeLimitMs)})
        from tick, purchase
       where supplier_orders.transaction_id = purchase.transaction_id and supplier = ${supplier}
         and is_live and order_no is null and withdrawing_since is null
         and (state = 'planned' or (state = 'sent' and
              (${mayRepeatNow} or (${isSearched}::boolean and coalesce(settles_after <= tick.at, true)))))
      returning supplier_orders.*
    )
    select purchase.*, ${ORDER_COLUMNS}, clock_timestamp() as now from purchase, newest`.execute(db);
  return rows[0] && toDelivery(rows[0], transactionId);
}

const settling = (timeLimitMs: number): RawBuilder<unknown> =>
  sql`(${SEND_WITHIN_MS + timeLimitMs}::integer + in_flight_grace_ms) * interval '1 ms'`;

/** Money is held, and its payment is neither disputed nor reversed. */
export const MAY_DELIVER = sql<boolean>`may_deliver(purchases.status, purchases.attention_reason)`;

const PURCHASE_COLUMNS = sql`
  purchases.transaction_id, purchases.account_id, purchases.package_type, purchases.status, purchases.reason, purchases.esim_id,
  purchases.attention_reason, purchases.needs_attention_since, purchases.top_up_total_volume_bytes,
  esims.esim_tran_no, esims.iccid, holds.created_at as held_at,
  holds.status as hold_status`;
const PURCHASE_JOINS = sql`
  join esims on esims.id = purchases.esim_id left join holds on holds.id = purchases.transaction_id`;
/** As one value: a purchase may have no order, and both have columns of one name. */
const ORDER_COLUMNS = sql`
  newest.id as order_id, newest.supplier, newest.package_code, newest.volume_bytes, newest.cost_usd_e4,
  newest.planned_at, newest.state, newest.is_live, newest.order_no, newest.attempts, newest.first_sent_at,
  newest.last_sent_at, newest.settles_after, newest.earlier_settles_after, newest.searched_until,
  newest.withdrawing_since, newest.refused_reason, newest.refused_detail`;

type PurchaseColumns = Pick<
  Selectable<PurchasesTable>,
  | 'transaction_id'
  | 'account_id'
  | 'package_type'
  | 'status'
  | 'reason'
  | 'esim_id'
  | 'attention_reason'
  | 'needs_attention_since'
  | 'top_up_total_volume_bytes'
> &
  Pick<Selectable<EsimsTable>, 'esim_tran_no' | 'iccid'> & {
    readonly held_at: Date | null;
    readonly hold_status: string | null;
    readonly now: Date;
  };
type OrderColumns = Omit<Selectable<SupplierOrdersTable>, 'id' | 'transaction_id' | 'kind'> & {
  readonly order_id: string;
};
type DeliveryRow = PurchaseColumns & (OrderColumns | { readonly order_id: null });

function toDelivery(row: DeliveryRow | undefined, transactionId: string) {
  if (!row) throw new Error(`no purchase ${transactionId}`);
  const order = row.order_id === null ? null : toOrder(row);
  // The pace is counted from when the money was there, and anew for a replacement.
  const sinceMs = Math.max(row.held_at?.getTime() ?? 0, order?.plannedAt.getTime() ?? 0);
  return {
    transactionId,
    status: row.status,
    reason: row.reason === null ? null : asFailureReason(row.reason),
    esimId: row.esim_id,
    esimTranNo: row.esim_tran_no,
    iccid: row.iccid,
    /** Nothing is ordered without held money. */
    isHeld: row.hold_status === 'HELD',
    /** Null: it was refused before anything was ordered. */
    order,
    /** The supplier's answer is kept already; only settling is left. */
    isDelivered: order?.state === 'delivered',
    disputeReason:
      DISPUTE_REASONS.find((reason): reason is DisputeReason => reason === row.attention_reason) ?? null,
    needsAttention: row.needs_attention_since !== null,
    /** How long its money has been there; by Postgres's clock, when this was read. */
    elapsedMs: row.now.getTime() - sinceMs,
  };
}

function toOrder(row: PurchaseColumns & OrderColumns) {
  const leftMs = (until: Date | null): number => (until ? until.getTime() - row.now.getTime() : 0);
  return {
    id: row.order_id,
    transactionId: row.transaction_id,
    accountId: row.account_id,
    kind: row.package_type,
    supplier: row.supplier,
    packageCode: row.package_code,
    volumeBytes: row.volume_bytes,
    costUsdE4: row.cost_usd_e4,
    plannedAt: row.planned_at,
    state: row.state,
    isLive: row.is_live,
    orderNo: row.order_no,
    attempts: row.attempts,
    firstSentAt: row.first_sent_at,
    lastSentAt: row.last_sent_at,
    /**
     * How long what was sent may still take effect; 0 or less: nothing is in doubt. Counted from when this
     * was read.
     */
    settlesInMs: leftMs(row.settles_after),
    /** The same for what was sent before the last attempt. */
    earlierSettlesInMs: leftMs(row.earlier_settles_after),
    /** Nothing that was sent before the last attempt could take effect after it. */
    isAloneInFlight:
      row.earlier_settles_after === null || !isAfter(row.earlier_settles_after, row.last_sent_at),
    searchedUntil: row.searched_until,
    withdrawingSince: row.withdrawing_since,
    esimTranNo: row.esim_tran_no,
    now: row.now,
  };
}

const isAfter = (a: Date, b: Date | null): boolean => b !== null && a.getTime() > b.getTime();

/**
 * The last attempt took no effect, for certain: refused while an earlier one is in doubt, or never sent. Only
 * the earlier ones are left in doubt.
 */
export async function recordNoEffect(
  db: WorldDb,
  { id, attempts }: Pick<SupplierOrder, 'id' | 'attempts'>,
): Promise<void> {
  await sql`
    update supplier_orders set settles_after = earlier_settles_after
     where id = ${id} and attempts = ${attempts} and state = 'sent'`.execute(db);
}

/** Keeps the supplier's order number before the profile is there. Then nothing is in doubt any more. */
export async function recordAccepted(
  db: WorldDb,
  { id }: Pick<SupplierOrder, 'id'>,
  orderNo: string,
): Promise<void> {
  await sql`
    with accepted as (
      update supplier_orders
         set state = 'accepted', order_no = ${orderNo}, settles_after = null, earlier_settles_after = null
       where id = ${id} and state = 'sent' returning transaction_id
    )
    insert into purchase_events (transaction_id, what, detail)
    select transaction_id, 'ordered-at-supplier', ${orderNo}::text from accepted`.execute(db);
}

/** Keeps how far the supplier's list was searched; the next search continues from there. */
export async function recordSearched(
  db: WorldDb,
  { id }: Pick<SupplierOrder, 'id'>,
  until: Date,
): Promise<void> {
  await sql`
    update supplier_orders set searched_until = greatest(searched_until, ${until}) where id = ${id}`.execute(
    db,
  );
}

/** As exact as a `Date`: this time names the withdrawal. */
const NOW_IN_MS = sql`date_trunc('milliseconds', clock_timestamp())`;

/**
 * Blocks sending and settling until the withdrawal ends. `withdrawn`: nothing was sent, or every order has
 * ended. `delivered`: too late. `closed`: the money went back before. Safe to repeat.
 */
export async function beginWithdrawal(
  db: WorldDb,
  transactionId: string,
): Promise<{
  readonly state: 'withdrawing' | 'withdrawn' | 'delivered' | 'closed';
  readonly delivery: Delivery;
}> {
  return db.transaction().execute(async (trx) => {
    await lockPurchase(trx, transactionId);
    await sql`
      update supplier_orders
         set withdrawing_since = coalesce(withdrawing_since, ${NOW_IN_MS}),
             state = case state when 'planned' then 'withdrawn' else state end,
             closed_at = case state when 'planned' then clock_timestamp() end
        from purchases
       where purchases.transaction_id = supplier_orders.transaction_id
         and purchases.transaction_id = ${transactionId}
         and purchases.status = 'PROCESSING'
         and supplier_orders.state in ('planned', 'sent', 'accepted')`.execute(trx);
    const delivery = await loadDelivery(trx, transactionId);
    if (delivery.status === 'FAILED') return { state: 'closed', delivery };
    if (delivery.status === 'SUCCESS' || delivery.isDelivered) return { state: 'delivered', delivery };
    return { state: delivery.order?.isLive ? 'withdrawing' : 'withdrawn', delivery };
  });
}

/**
 * Writes a cancellation before it is sent. `false`: its withdrawal has ended, and nothing may be cancelled
 * for it. An order that was given up, or whose money went back, may always be cancelled.
 */
export async function beginCancelling(
  db: WorldDb,
  { id, withdrawingSince }: Pick<SupplierOrder, 'id' | 'withdrawingSince'>,
  timeLimitMs: number,
): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    with tick as materialized (select clock_timestamp() as at), purchase as (
      select purchases.transaction_id, purchases.status
        from purchases join supplier_orders on supplier_orders.transaction_id = purchases.transaction_id
       where supplier_orders.id = ${id} for no key update of purchases
    )
    update supplier_orders
       set cancel_send_before = tick.at + ${SEND_WITHIN_MS} * interval '1 ms',
           cancel_settles_after = greatest(cancel_settles_after, tick.at + ${settling(timeLimitMs)})
      from tick, purchase
     where supplier_orders.id = ${id}
       and (purchase.status = 'FAILED' or not is_live
            or (purchase.status = 'PROCESSING' and state in ('sent', 'accepted')
              and withdrawing_since = ${withdrawingSince}))
    returning supplier_orders.id`.execute(db);
  return rows.length > 0;
}

/**
 * Nothing of the order is left at the supplier, and nothing that was sent can still arrive. `false`:
 * something can, or this withdrawal has ended.
 */
export async function recordWithdrawn(
  db: WorldDb,
  { id, withdrawingSince }: Pick<SupplierOrder, 'id' | 'withdrawingSince'>,
): Promise<boolean> {
  const withdrawn = await db
    .updateTable('supplier_orders')
    .set({ state: 'withdrawn', closed_at: sql`clock_timestamp()` })
    .where('id', '=', id)
    .where('state', 'in', ['sent', 'accepted'])
    .where('withdrawing_since', '=', withdrawingSince)
    .where(sql<boolean>`coalesce(settles_after <= clock_timestamp(), true)`)
    .executeTakeFirst();
  return withdrawn.numUpdatedRows > 0n;
}

/** For a preview that is rolled back: as if nothing of its order were left at the supplier. */
export async function assumeWithdrawn(trx: WorldDb, transactionId: string): Promise<boolean> {
  const rows = await trx
    .updateTable('supplier_orders')
    .set({ state: 'withdrawn', closed_at: sql`clock_timestamp()` })
    .where('transaction_id', '=', transactionId)
    .where('state', 'in', ['planned', 'sent', 'accepted'])
    .returning('attempts')
    .execute();
  return rows.some(({ attempts }) => attempts > 0);
}

/**
 * Ends a withdrawal that cancelled nothing: the order may be delivered again. Returns the milliseconds to
 * wait first, while a cancellation that was sent may still reach the supplier; 0: it is open.
 */
export async function reopenDelivery(db: WorldDb, transactionId: string): Promise<number> {
  const { rows } = await sql<{ left_ms: number }>`
    with reopened as (
      update supplier_orders set withdrawing_since = null
       where transaction_id = ${transactionId} and is_live and withdrawing_since is not null
         and coalesce(cancel_settles_after <= clock_timestamp(), true)
      returning id
    )
    select ceil(extract(epoch from cancel_settles_after - clock_timestamp()) * 1000)::integer as left_ms
      from supplier_orders
     where transaction_id = ${transactionId} and is_live and withdrawing_since is not null
       and id not in (select id from reopened)`.execute(db);
  return rows[0] ? Math.max(1, rows[0].left_ms) : 0;
}

/** An id at the supplier is never used again: the second order of a purchase is `<transactionId>-2`. */
const NEXT_ID = sql`${sql.ref('last.transaction_id')} || '-' || (last.number + 1)`;

interface Replacement {
  readonly packageCode: string;
  readonly supplier: string;
  readonly volumeBytes: bigint;
  readonly costUsdE4: bigint;
}

/**
 * Plans the next order of an open purchase, once every earlier one is refused or withdrawn; without a
 * replacement, the same again. `false`: nothing to plan. Safe to repeat.
 */
export async function planNextOrder(
  trx: WorldDb,
  transactionId: string,
  replacement?: Replacement,
): Promise<boolean> {
  const { packageCode = null, supplier = null, volumeBytes = null, costUsdE4 = null } = replacement ?? {};
  const planned = await sql`
    with last as (
      select supplier_orders.*, count(*) over () as number, bool_or(is_live) over () as has_live
        from supplier_orders join purchases using (transaction_id)
       where transaction_id = ${transactionId} and purchases.status = 'PROCESSING'
       order by planned_at desc, supplier_orders.id desc limit 1
    )
    insert into supplier_orders
      (id, transaction_id, kind, supplier, package_code, volume_bytes, cost_usd_e4, in_flight_grace_ms)
    select ${NEXT_ID}, transaction_id, kind, coalesce(${supplier}, supplier),
           coalesce(${packageCode}, package_code), coalesce(${volumeBytes}::bigint, volume_bytes),
           coalesce(${costUsdE4}::bigint, cost_usd_e4), in_flight_grace_ms
      from last where not has_live`.execute(trx);
  return (planned.numAffectedRows ?? 0n) > 0n;
}

/** How many orders a purchase has had, and whether one may still be delivered. */
export async function countOrders(
  db: WorldDb,
  transactionId: string,
): Promise<{ readonly count: number; readonly hasLive: boolean }> {
  const rows = await db
    .selectFrom('supplier_orders')
    .select('is_live')
    .where('transaction_id', '=', transactionId)
    .execute();
  return { count: rows.length, hasLive: rows.some((row) => row.is_live) };
}
