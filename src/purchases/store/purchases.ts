/**
 * What happens to a purchase after it is opened, one transaction per step. Every step may run twice: the
 * purchase's row and unique keys decide.
 */
import { sql, type RawBuilder, type Updateable } from 'kysely';
import { asFailureReason, type FailureReason, type Refusal } from '../../domain/refusals.ts';
import {
  purchaseStatusesBefore,
  type AttentionReason,
  type EsimStatus,
  type PurchaseStatus,
} from '../../domain/states.ts';
import type { ProfileFacts, TopUpTotals } from '../../esims/rules.ts';
import { columnsOfDelivery, notifyOfTopUp } from '../../esims/store/facts.ts';
import type { EsimsTable } from '../../esims/store/tables.ts';
import {
  requirePosted,
  postHoldQueries,
  voidHold,
  voidHoldToSuspense,
  type Posted,
} from '../../ledger/store/holds.ts';
import { DISPUTE_REASONS } from '../../payments/rules.ts';
import { type Money, smaller } from '../../domain/money.ts';
import { sendableMinor, useForDelivery } from '../../payments/store/account.ts';
import { lockPayments, lockPurchase } from '../../payments/store/lock-order.ts';
import { creditRefund, createRefund } from '../../payments/store/refunds.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import { newPendingMessages, type PendingMessages } from '../../webhooks/store/messages.ts';
import { collectWebhooks, statusChangeQueries, type StatusChange } from './messages.ts';
import { MAY_DELIVER, type SupplierOrder } from './supplier-orders.ts';
import type { PurchasesTable } from './tables.ts';

const OPEN = purchaseStatusesBefore('FAILED');

/** What a supplier delivered, as columns of its purchase and its eSIM. */
export interface DeliveredItem {
  /**
   * The supplier's order; one that was replaced meanwhile delivers nothing. Absent: the one that may be
   * delivered.
   */
  readonly orderId?: string;
  /** Where it is another package than the one that was ordered. */
  readonly other?: { readonly packageCode: string; readonly volumeBytes: bigint | null } | undefined;
  readonly purchase: Updateable<PurchasesTable>;
  readonly esim: { readonly [Column in keyof Updateable<EsimsTable>]: unknown };
}

/** The delivery is kept already. */
export const ALREADY_SAVED: DeliveredItem = { purchase: {}, esim: {} };

/**
 * A new eSIM; its owner sees it once the purchase is settled. `install`: the columns of its install data,
 * sealed.
 */
export function profileItem(
  facts: ProfileFacts,
  checkedAt: Date,
  install: Updateable<EsimsTable>,
): DeliveredItem {
  return { purchase: {}, esim: { ...columnsOfDelivery(facts, checkedAt), ...install } };
}

/**
 * A top-up's new totals, as the supplier answered them at `answeredAt`. Without a new end of validity, the
 * old one stays. A top-up only adds: where another one was settled first, its larger totals stay.
 */
export function topUpItem(totals: TopUpTotals, answeredAt: Date): DeliveredItem {
  const { iccid, totalVolumeBytes, orderUsageBytes, totalDuration, expiredTime } = totals;
  const atLeast = (column: keyof EsimsTable, value: unknown, type: string) =>
    sql`greatest(esims.${sql.ref(column)}, ${value}::${sql.raw(type)})`;
  return {
    purchase: {
      top_up_iccid: iccid,
      top_up_total_volume_bytes: BigInt(totalVolumeBytes),
      top_up_remaining_bytes: BigInt(Math.max(0, totalVolumeBytes - orderUsageBytes)),
    },
    esim: {
      total_volume_bytes: atLeast('total_volume_bytes', BigInt(totalVolumeBytes), 'bigint'),
      order_usage_bytes: atLeast('order_usage_bytes', BigInt(orderUsageBytes), 'bigint'),
      usage_as_of: sql`case when esims.order_usage_bytes > ${BigInt(orderUsageBytes)}::bigint then esims.usage_as_of else ${answeredAt}::timestamptz end`,
      total_duration: atLeast('total_duration', totalDuration, 'integer'),
      totals_as_of: answeredAt,
      // The next check reads from the supplier what the top-up changed.
      next_check_at: answeredAt,
      ...(expiredTime === null
        ? {}
        : {
            expired_time: atLeast('expired_time', new Date(expiredTime), 'timestamptz'),
            // A new end gets a new notice.
            notified_expiry_days: sql`case when ${new Date(expiredTime)}::timestamptz > esims.expired_time + interval '1 hour' then 0 else esims.notified_expiry_days end`,
          }),
    },
  };
}

/**
 * Keeps the delivery of an open purchase that cannot be settled. Safe to repeat. The next check notifies of
 * what a top-up changes.
 */
export async function saveDeliveredItem(
  db: WorldDb,
  transactionId: string,
  item: DeliveredItem,
): Promise<void> {
  await sql`
    with ready as (${openPurchaseOf(transactionId)}),
    supplied as (${deliverOrder(item, sql`state <> 'delivered'`)}), kept as (
      update purchases set ${assigned(item.purchase)} where transaction_id in (select transaction_id
        from supplied)
      returning esim_id, package_type
    )
    update esims set ${assigned(item.esim)} from kept
     where esims.id = kept.esim_id and (esims.status = 'PENDING' or kept.package_type = 'TOPUP')`.execute(db);
}

/** Locks the purchase, if it may be delivered. */
const openPurchaseOf = (transactionId: string): RawBuilder<unknown> => sql`
  select transaction_id from purchases where transaction_id = ${transactionId} and ${MAY_DELIVER}
    for no key update`;

/**
 * Marks the order of `ready` as delivered, unless it is being withdrawn, was replaced, or has ended
 * otherwise.
 */
function deliverOrder({ orderId, other }: DeliveredItem, which: RawBuilder<unknown>): RawBuilder<unknown> {
  const isThis = orderId === undefined ? sql`true` : sql`id = ${orderId}`;
  const found = other
    ? sql`, delivered_package_code = ${other.packageCode},
      delivered_volume_bytes = ${other.volumeBytes}::bigint`
    : sql``;
  return sql`
    update supplier_orders set state = 'delivered', closed_at = coalesce(closed_at,
      clock_timestamp()) ${found}
     where transaction_id in (select transaction_id from ready) and is_live
       and withdrawing_since is null and ${isThis} and ${which}
    returning transaction_id, supplier, cost_usd_e4, delivered_package_code`;
}

/** For a `set`: these columns, and that the row was changed now. */
function assigned(columns: Readonly<Record<string, unknown>>): RawBuilder<unknown> {
  const each = Object.entries(columns).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  return sql.join([...each, sql`updated_at = now()`]);
}

/** Clears needs-attention, except for disputes and reversed payments. */
const clearAttention = sql`
  needs_attention_since = case when attention_reason = any(${[...DISPUTE_REASONS]}) then needs_attention_since end,
  attention_reason = case when attention_reason = any(${[...DISPUTE_REASONS]}) then attention_reason end`;

/**
 * Keeps the delivery, closes the purchase, shows the eSIM to its owner, posts the hold, books the cost,
 * enqueues the webhook. One statement; safe to repeat. Throws HoldConflict when the money was given back
 * before, while a bank has it or disputes it, and during a withdrawal. Another package than the one that was
 * ordered is delivered too, and needs attention.
 */
export async function settlePurchase(
  db: WorldDb,
  transactionId: string,
  item: DeliveredItem = ALREADY_SAVED,
  pending: PendingMessages = newPendingMessages(),
): Promise<'settled' | 'settled-before'> {
  // A top-up changes an allowance, which its merchant may have to be notified of in the same transaction.
  if (!isTopUp(item)) {
    const settledDirectly = await settle(db, transactionId, item);
    if (settledDirectly?.has_posted) {
      await collectWebhooks(db, transactionId, settledDirectly, pending);
      return 'settled';
    }
  }
  return inTransaction(db, async (trx) => {
    const settled = await settle(trx, transactionId, item);
    await requirePosted(trx, transactionId, settled);
    await collectWebhooks(trx, transactionId, settled, pending);
    if (settled && isTopUp(item)) await notifyOfTopUp(trx, settled.esim_id, settled.at, pending);
    return settled ? 'settled' : 'settled-before';
  });
}

const isTopUp = ({ purchase }: DeliveredItem): boolean => purchase.top_up_total_volume_bytes !== undefined;

type Settled = StatusChange & Posted & { readonly esim_id: string; readonly at: Date };

/**
 * Returns undefined and changes nothing if the purchase may not be delivered, its order is under withdrawal
 * or has ended, its hold was voided, or a bank has, or disputes, what paid for it.
 */
async function settle(db: WorldDb, transactionId: string, item: DeliveredItem): Promise<Settled | undefined> {
  const isOther = sql<boolean>`(select delivered_package_code is not null from supplied)`;
  const { change, event, result } = statusChangeQueries(
    'closed',
    sql`
      update purchases
         set status = 'SUCCESS', closed_at = now(), ${assigned(item.purchase)},
             needs_attention_since = case when ${isOther} then now() end,
             attention_reason = case when ${isOther} then ${OTHER_PACKAGE}::text end
       where transaction_id in (select transaction_id from supplied)`,
    { esims: 'esim' },
  );
  const supplied = (column: string) => sql`(select ${sql.ref(column)} from supplied)`;
  const posting = postHoldQueries(supplied('transaction_id'), {
    supplier: supplied('supplier'),
    costUsdE4: supplied('cost_usd_e4'),
  });
  const paying = useForDelivery(transactionId, sql`select from closed`);
  const { rows } = await sql<Settled>`
    with ${paying.lock}, ready as (
      select purchases.transaction_id from purchases join holds on holds.id = purchases.transaction_id
       where purchases.transaction_id = ${transactionId} and ${MAY_DELIVER} and holds.status <> 'VOIDED'
         and (holds.status = 'POSTED' or ${paying.isCovered})
         for no key update
    ), supplied as (${deliverOrder(item, sql`true`)}), ${change}, ${paying.use}, esim as (
      update esims set status = case status when 'PENDING' then 'CREATED' else status end,
        ${assigned(item.esim)}
       where id in (select esim_id from closed)
      returning id, iccid
    ), noted as (
      insert into purchase_events (transaction_id, what, detail)
      select transaction_id, 'delivered', null from supplied
      union all
      select transaction_id, 'other-package-delivered', delivered_package_code from supplied
        where delivered_package_code is not null
    ), ${posting.queries}, ${event}
    select ${posting.hasPosted} as has_posted, (select esim_id from closed), now() as at, ${result}`.execute(
    db,
  );
  return rows[0];
}

const OTHER_PACKAGE: AttentionReason = 'OTHER_PACKAGE_DELIVERED';

/**
 * Records that the supplier has refused the order for good, gives the money back and closes purchase and eSIM
 * order as FAILED, in one transaction. `open`: another attempt was begun since, one before it may still take
 * effect, or the order is being withdrawn or was delivered. `disputed`: the refusal is on record, and the
 * payment is disputed or reversed, so a person decides about it. `cancelled`: it had accepted the order, so
 * no attempt is in doubt.
 */
export async function refuseOrder(
  db: WorldDb,
  order: Pick<SupplierOrder, 'id' | 'transactionId' | 'attempts'>,
  refusal: Refusal,
  {
    isCancelled = false,
    pending,
  }: { readonly isCancelled?: boolean; readonly pending?: PendingMessages } = {},
): Promise<'failed' | 'disputed' | 'open'> {
  const { id, transactionId, attempts } = order;
  return db.transaction().execute(async (trx) => {
    await lockPayments(trx, transactionId);
    // The lock is a statement of its own, so that the next one sees what another step just wrote.
    const { rows } = await sql<{ is_disputed: boolean }>`
      select attention_reason is not null and attention_reason = any(${[...DISPUTE_REASONS]}) as is_disputed
        from purchases where transaction_id = ${transactionId} and status = 'PROCESSING'
          for no key update`.execute(trx);
    const refused = await sql`
      update supplier_orders
         set state = 'refused', refused_reason = ${refusal.reason}, refused_detail = ${refusal.detail},
             closed_at = clock_timestamp()
       where id = ${id} and ${rows.length > 0}::boolean and withdrawing_since is null
         and case when ${isCancelled}::boolean then state in ('sent', 'accepted')
                  else state = 'sent' and attempts = ${attempts}
                    and coalesce(earlier_settles_after <= last_sent_at, true) end`.execute(trx);
    if (refused.numAffectedRows !== 1n) return 'open';
    if (rows[0]?.is_disputed) return 'disputed';
    await failPurchaseIn(trx, transactionId, refusal, { pending });
    return 'failed';
  });
}

/**
 * Closes a purchase whose order was refused for good while its payment was disputed or reversed, once it no
 * longer is. `open`: it still is, or was not refused.
 */
export async function failRefused(
  db: WorldDb,
  transactionId: string,
  pending?: PendingMessages,
): Promise<'open' | Refusal> {
  return db.transaction().execute(async (trx) => {
    await lockPayments(trx, transactionId);
    await lockPurchase(trx, transactionId);
    const { rows } = await sql<{ reason: string; detail: string }>`
      select refused_reason as reason, refused_detail as detail
        from supplier_orders join purchases using (transaction_id)
       where transaction_id = ${transactionId} and ${MAY_DELIVER} and state = 'refused'
         and not exists (select from supplier_orders live where live.transaction_id = ${transactionId}
           and live.is_live)
       order by supplier_orders.closed_at desc limit 1`.execute(trx);
    const [row] = rows;
    if (!row) return 'open';
    const refusal = { reason: asFailureReason(row.reason), detail: row.detail };
    await failPurchaseIn(trx, transactionId, refusal, { pending });
    return refusal;
  });
}

/**
 * Gives the money back and closes purchase and eSIM order as FAILED, in the caller's transaction. `to:
 * 'wallet'`: money from a gateway is credited to the wallet instead of being sent back. What a bank has, or
 * disputes, is not given back a second time. Returns what goes back of a payment at a gateway.
 */
export async function failPurchaseIn(
  trx: WorldDb,
  transactionId: string,
  refusal: Refusal,
  {
    to = 'source',
    pending = newPendingMessages(),
  }: { readonly to?: 'source' | 'wallet'; readonly pending?: PendingMessages | undefined } = {},
): Promise<Money | undefined> {
  // Payments before the purchase (lock-order.ts). Where no payment placed the hold, it is the wallet's.
  const paid = (await lockPayments(trx, transactionId)).find((payment) => payment.paid_hold);
  const leftMinor = paid ? smaller(paid.free_minor, paid.charge_minor) : 0n;
  const isTakenBack =
    paid !== undefined && paid.disputed_minor + leftMinor === 0n && paid.reversed_minor > 0n;
  const reason = isTakenBack ? 'PAYMENT_REVERSED' : refusal.reason;
  const { queries, event, result } = closingQueries(transactionId, reason, OPEN, 'FAILED');
  const { rows } = await sql<StatusChange>`
    with ${queries}, noted as (
      insert into purchase_events (transaction_id, what, detail)
      select transaction_id, 'failed', ${refusal.detail}::text from closed
      union all
      select transaction_id, 'hold-released', null from closed
       where ${paid === undefined} and exists (select from holds where id = transaction_id
         and status = 'HELD')
    ), ${event}
    select ${result}`.execute(trx);
  await collectWebhooks(trx, transactionId, rows[0], pending);
  if (!paid) {
    await voidHold(trx, transactionId);
    return undefined;
  }
  const amount = { amountMinor: paid.charge_minor, currency: paid.charge_currency };
  const left = { ...amount, amountMinor: leftMinor };
  // What was taken back is missing in suspense, and this settles it. What is disputed stays there until the
  // dispute ends.
  if ((await voidHoldToSuspense(trx, transactionId, amount)) !== 'voided' || leftMinor === 0n) return left;
  // The gateway cannot refund money that it has not confirmed.
  const isSendable = sendableMinor(paid) >= leftMinor;
  const refund = await createRefund(trx, paid, left, 'not-delivered');
  if (to === 'wallet' || !isSendable) await creditRefund(trx, refund, paid, pending);
  return left;
}

/**
 * Queries for a `with` that close a purchase and its eSIM order; `closed` has a row if the purchase had one
 * of the statuses `from`.
 */
function closingQueries(
  transactionId: string,
  reason: FailureReason,
  from: readonly PurchaseStatus[],
  esimStatus: EsimStatus,
) {
  const { change, event, result } = statusChangeQueries(
    'closed',
    sql`
      update purchases
         set status = 'FAILED', reason = ${reason}, updated_at = now(), closed_at = now(), ${clearAttention}
       where transaction_id = ${transactionId} and status = any(${from})`,
  );
  const queries = sql`${change}, unsent as (
      update supplier_orders set state = 'withdrawn', closed_at = clock_timestamp()
       where transaction_id in (select transaction_id from closed) and state = 'planned'
    ), esim as (
      update esims set status = ${esimStatus}, updated_at = now()
       where transaction_id in (select transaction_id from closed) and status = 'PENDING'
    )`;
  return { queries, event, result };
}

/**
 * Closes an unpaid purchase and its eSIM order. `paid`: money came first, the purchase continues. Safe to
 * repeat. The status is read afterwards: the update may have waited for a payment that its own snapshot does
 * not show.
 */
export async function closeUnpaid(
  db: WorldDb,
  transactionId: string,
  reason: FailureReason,
  pending: PendingMessages = newPendingMessages(),
): Promise<'closed' | 'paid'> {
  return inTransaction(db, async (trx) => {
    const { queries, event, result } = closingQueries(transactionId, reason, ['PENDING'], 'CANCELLED');
    const { rows } = await sql<StatusChange>`
      with ${queries}, noted as (
        insert into purchase_events (transaction_id, what, detail)
        select transaction_id, 'failed', ${reason}::text from closed
      ), ${event}
      select ${result}`.execute(trx);
    const { status } = await trx
      .selectFrom('purchases')
      .select('status')
      .where('transaction_id', '=', transactionId)
      .executeTakeFirstOrThrow();
    if (status === 'FAILED') await collectWebhooks(trx, transactionId, rows[0], pending);
    return status === 'FAILED' ? 'closed' : 'paid';
  });
}

/** Flags an open purchase; the first reason stays. Answers whether this was it. */
export async function flagAttention(
  db: WorldDb,
  transactionId: string,
  reason: AttentionReason,
): Promise<boolean> {
  const flagged = await sql`
    with flagged as (
      update purchases set needs_attention_since = now(), attention_reason = ${reason}, updated_at = now()
       where transaction_id = ${transactionId} and status = any(${OPEN})
         and needs_attention_since is null
      returning transaction_id
    )
    insert into purchase_events (transaction_id, what, detail)
    select transaction_id, 'needs-attention', ${reason}::text from flagged`.execute(db);
  return (flagged.numAffectedRows ?? 0n) > 0n;
}

/**
 * Ends the attention for another package that was delivered: a person has seen it. Answers which package that
 * was.
 */
export async function acceptOtherPackage(db: WorldDb, transactionId: string): Promise<string | undefined> {
  const { rows } = await sql<{ delivered: string }>`
    update purchases set needs_attention_since = null, attention_reason = null, updated_at = now()
      from supplier_orders
     where purchases.transaction_id = ${transactionId} and purchases.attention_reason = ${OTHER_PACKAGE}
       and supplier_orders.transaction_id = purchases.transaction_id and supplier_orders.state = 'delivered'
    returning coalesce(nullif(delivered_package_code, ''), 'another volume') as delivered`.execute(db);
  return rows[0]?.delivered;
}
