/** What happens to a purchase after it is opened, one transaction per step. Every step may run twice: the purchase's row and unique keys decide. */
import { sql, type RawBuilder, type Updateable } from 'kysely';
import { asFailureReason, type FailureReason, type Refusal } from '../../domain/refusals.ts';
import { purchaseStatusesBefore, type EsimStatus, type PurchaseStatus } from '../../domain/states.ts';
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
import { CLAIMS } from '../../payments/rules.ts';
import type { Money } from '../../domain/money.ts';
import { sendableMinor, smaller, useForDelivery } from '../../payments/store/account.ts';
import { lockPayments } from '../../payments/store/lock-order.ts';
import { creditRefund, createRefund } from '../../payments/store/refunds.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import { newPendingMessages, type PendingMessages } from '../../webhooks/store/messages.ts';
import { hasOrder, IS_DELIVERED } from './deliveries.ts';
import { handOnChange, statusChangeQueries, type StatusChange } from './messages.ts';
import type { PurchasesTable } from './tables.ts';

/** What a supplier delivered, as columns of its purchase and its eSIM. */
export interface DeliveredItem {
  /** The supplier's order; one that was replaced meanwhile delivers nothing. Absent: not known. */
  readonly supplierId?: string;
  readonly purchase: Updateable<PurchasesTable>;
  readonly esim: { readonly [Column in keyof Updateable<EsimsTable>]: unknown };
}

/** The delivery is kept already. */
export const KEPT_BEFORE: DeliveredItem = { purchase: {}, esim: {} };

/** A new eSIM; its owner sees it once the purchase is settled. `install`: the columns of its install data, sealed. */
export function profileItem(
  facts: ProfileFacts,
  lookedAt: Date,
  install: Updateable<EsimsTable>,
): DeliveredItem {
  return { purchase: {}, esim: { ...columnsOfDelivery(facts, lookedAt), ...install } };
}

/**
 * A top-up's new totals, as the supplier answered them at `answeredAt`. Without a new end of validity, the old one stays. A top-up only adds: where another
 * one was settled first, its larger totals stay.
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

/** Keeps the delivery of an open purchase that cannot be settled. Safe to repeat. The next check notifies of what a top-up changes. */
export async function saveDeliveredItem(
  db: WorldDb,
  transactionId: string,
  item: DeliveredItem,
): Promise<void> {
  await sql`
    with kept as (
      update purchases set ${assigned(item.purchase)}
       where transaction_id = ${transactionId} and top_up_total_volume_bytes is null
         and status = 'PROCESSING' and withdrawing_since is null and ${isForItsOrder(item)}
      returning esim_id, package_type
    )
    update esims set ${assigned(item.esim)} from kept
     where esims.id = kept.esim_id and (esims.status = 'PENDING' or kept.package_type = 'TOPUP')`.execute(db);
}

const isForItsOrder = ({ supplierId }: DeliveredItem): RawBuilder<boolean> =>
  supplierId === undefined ? sql<boolean>`true` : hasOrder(supplierId);

/** For a `set`: these columns, and that the row was changed now. */
function assigned(columns: Readonly<Record<string, unknown>>): RawBuilder<unknown> {
  const each = Object.entries(columns).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  return sql.join([...each, sql`updated_at = now()`]);
}

/** Clears needs-attention, except for disputes and reversed payments. */
const clearAttention = sql`
  needs_attention_since = case when attention_reason = any(${[...CLAIMS]}) then needs_attention_since end,
  attention_reason = case when attention_reason = any(${[...CLAIMS]}) then attention_reason end`;

/**
 * Keeps the delivery, closes the purchase, shows the eSIM to its owner, posts the hold, books the cost, enqueues the webhook. One statement; safe to repeat.
 * Throws HoldConflict when the money was given back before, and during a withdrawal.
 */
export async function settlePurchase(
  db: WorldDb,
  transactionId: string,
  item: DeliveredItem = KEPT_BEFORE,
  pending: PendingMessages = newPendingMessages(),
): Promise<'settled' | 'settled-before'> {
  // A top-up changes an allowance, which its merchant may have to be notified of in the same transaction.
  if (!isTopUp(item)) {
    const settledDirectly = await settle(db, transactionId, item);
    if (settledDirectly?.has_posted) {
      await handOnChange(db, transactionId, settledDirectly, pending);
      return 'settled';
    }
  }
  return db.transaction().execute(async (trx) => {
    const settled = await settle(trx, transactionId, item);
    await requirePosted(trx, transactionId, settled);
    await handOnChange(trx, transactionId, settled, pending);
    if (settled && isTopUp(item)) await notifyOfTopUp(trx, settled.esim_id, settled.at, pending);
    return settled ? 'settled' : 'settled-before';
  });
}

const isTopUp = ({ purchase }: DeliveredItem): boolean => purchase.top_up_total_volume_bytes !== undefined;

type Settled = StatusChange & Posted & { readonly esim_id: string; readonly at: Date };

/**
 * Returns undefined and changes nothing if the purchase is not open, its order is under withdrawal or was replaced, its hold was voided, or a bank has, or
 * disputes, what paid for it.
 */
async function settle(db: WorldDb, transactionId: string, item: DeliveredItem): Promise<Settled | undefined> {
  const { change, event, result } = statusChangeQueries(
    'closed',
    sql`
      update purchases set status = 'SUCCESS', closed_at = now(), ${clearAttention}, ${assigned(item.purchase)}
       where transaction_id in (select transaction_id from ready)`,
    { esims: 'esim', returning: ['cost_usd_e4'] },
  );
  const posting = postHoldQueries(
    sql`(select transaction_id from closed)`,
    sql`(select cost_usd_e4 from closed)`,
  );
  const paying = useForDelivery(transactionId, sql`select from closed`);
  const { rows } = await sql<Settled>`
    with ${paying.lock}, ready as (
      select purchases.transaction_id from purchases join holds on holds.id = purchases.transaction_id
       where purchases.transaction_id = ${transactionId} and purchases.status = any(${purchaseStatusesBefore('SUCCESS')})
         and purchases.withdrawing_since is null and ${isForItsOrder(item)}
         and holds.status <> 'VOIDED' and (holds.status = 'POSTED' or ${paying.isCovered})
         for no key update
    ), ${change}, ${paying.use}, esim as (
      update esims set status = case status when 'PENDING' then 'CREATED' else status end, ${assigned(item.esim)}
       where id in (select esim_id from closed)
      returning id, iccid, qr_code_url
    ), noted as (
      insert into purchase_events (transaction_id, what) select transaction_id, 'delivered' from closed
    ), ${posting.queries}, ${event}
    select ${posting.hasPosted} as has_posted, (select esim_id from closed), now() as at, ${result}`.execute(
    db,
  );
  return rows[0];
}

/**
 * Gives the money back and closes purchase and eSIM order as FAILED, for the final refusal on its row. One transaction; safe to repeat. `open`: another
 * order was sent since, one is under withdrawal, or the purchase was delivered. `never-refused`: the supplier has not refused it for good.
 */
export function failRefused(
  db: WorldDb,
  transactionId: string,
  pending?: PendingMessages,
): Promise<'open' | 'never-refused' | Refusal> {
  return db.transaction().execute(async (trx) => {
    await lockPayments(trx, transactionId);
    // The lock is a statement of its own, so that the next one sees what another step just wrote.
    await sql`select from purchases where transaction_id = ${transactionId} for no key update`.execute(trx);
    const { rows } = await sql<{ reason: string | null; detail: string; may_fail: boolean }>`
      select coalesce(case status when 'FAILED' then reason end, refused_reason) as reason,
             coalesce(refused_detail, '') as detail, status = 'FAILED' or ${IS_REFUSED} as may_fail
        from purchases where transaction_id = ${transactionId}`.execute(trx);
    const [row] = rows;
    if (!row?.reason) return 'never-refused';
    if (!row.may_fail) return 'open';
    const refusal = { reason: asFailureReason(row.reason), detail: row.detail };
    await failPurchaseIn(trx, transactionId, refusal, { pending });
    return refusal;
  });
}

/** No order was sent since the refusal, and none is being withdrawn: or one was, with nothing left at the supplier. */
const IS_REFUSED = sql<boolean>`
  refused_asks = supplier_asks and (withdrawing_since is null or withdrawn_since = withdrawing_since) and not ${IS_DELIVERED}`;

/**
 * Gives the money back and closes purchase and eSIM order as FAILED, in the caller's transaction. `to: 'wallet'`: money from a gateway is credited to the
 * wallet instead of being sent back. What a bank has, or disputes, is not given back a second time. Returns what goes back of a payment at a gateway.
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
  const open = purchaseStatusesBefore('FAILED');
  const leftMinor = paid ? smaller(paid.free_minor, paid.charge_minor) : 0n;
  const isTakenBack = paid !== undefined && paid.disputed_minor + leftMinor === 0n && paid.reversed_minor > 0n;
  const reason = isTakenBack ? 'PAYMENT_REVERSED' : refusal.reason;
  const { queries, event, result } = closingQueries(transactionId, reason, open, 'FAILED');
  const { rows } = await sql<StatusChange>`
    with ${queries}, noted as (
      insert into purchase_events (transaction_id, what, detail)
      select transaction_id, 'failed', ${refusal.detail}::text from closed
      union all
      select transaction_id, 'hold-released', null from closed
       where ${paid === undefined} and exists (select from holds where id = transaction_id and status = 'HELD')
    ), ${event}
    select ${result}`.execute(trx);
  await handOnChange(trx, transactionId, rows[0], pending);
  if (!paid) {
    await voidHold(trx, transactionId);
    return undefined;
  }
  const amount = { amountMinor: paid.charge_minor, currency: paid.charge_currency };
  const left = { ...amount, amountMinor: leftMinor };
  // What was taken back is missing in suspense, and this settles it. What is disputed stays there until the dispute ends.
  if ((await voidHoldToSuspense(trx, transactionId, amount)) !== 'voided' || leftMinor === 0n) return left;
  // The gateway cannot refund money that it has not confirmed.
  const isSendable = sendableMinor(paid) >= leftMinor;
  const refund = await createRefund(trx, paid, left, 'not-delivered');
  if (to === 'wallet' || !isSendable) await creditRefund(trx, refund, paid, pending);
  return left;
}

/** Queries for a `with` that close a purchase and its eSIM order; `closed` has a row if the purchase had one of the statuses `from`. */
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
  const queries = sql`${change}, esim as (
      update esims set status = ${esimStatus}, updated_at = now()
       where transaction_id in (select transaction_id from closed) and status = 'PENDING'
    )`;
  return { queries, event, result };
}

/**
 * Closes an unpaid purchase and its eSIM order. `paid`: money came first, the purchase continues. Safe to repeat. The status is read afterwards: the
 * update may have waited for a payment that its own snapshot does not show.
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
    if (status === 'FAILED') await handOnChange(trx, transactionId, rows[0], pending);
    return status === 'FAILED' ? 'closed' : 'paid';
  });
}

/** Flags an open purchase; the first reason stays. */
export async function flagAttention(db: WorldDb, transactionId: string, reason: string): Promise<void> {
  await sql`
    with flagged as (
      update purchases set needs_attention_since = now(), attention_reason = ${reason}, updated_at = now()
       where transaction_id = ${transactionId} and status = any(${purchaseStatusesBefore('SUCCESS')})
         and needs_attention_since is null
      returning transaction_id
    )
    insert into purchase_events (transaction_id, what, detail)
    select transaction_id, 'needs-attention', ${reason}::text from flagged`.execute(db);
}
