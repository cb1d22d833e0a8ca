/**
 * What happens to a purchase after it is opened, one transaction per step. Every step may run twice: the
 * purchase's row and unique keys decide.
 */
import { sql, type RawBuilder, type Updateable } from 'kysely';
import type { Money } from '../../domain/money.ts';
import {
  asFailureReason,
  forBuyer,
  refusalOf,
  type FailureReason,
  type Refusal,
} from '../../domain/refusals.ts';
import { purchaseStatusesBefore, type AttentionReason, type PurchaseStatus } from '../../domain/states.ts';
import type { ProfileFacts, TopUpTotals } from '../../esims/rules.ts';
import { columnsOfDelivery, notifyOfTopUp } from '../../esims/store/esims.ts';
import type { EsimsTable } from '../../esims/store/tables.ts';
import { requireEnded, type HoldOutcome } from '../../ledger/store/holds.ts';
import { sendableMinor } from '../../payments/store/account.ts';
import { lockPayments, lockPurchase } from '../../payments/store/lock-order.ts';
import { findPayment } from '../../payments/store/payments.ts';
import { creditRefund, createRefund } from '../../payments/store/refunds.ts';
import { callFunction, composite } from '../../platform/database/functions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import type { PurchaseEventStatus } from '../../webhooks/event-rules.ts';
import { MAY_DELIVER, type SupplierOrder } from './supplier-orders.ts';

const OPEN = purchaseStatusesBefore('FAILED');

/** What a supplier delivered. */
export interface DeliveredItem {
  /**
   * The supplier's order; one that was replaced meanwhile delivers nothing. Absent: the one that may be
   * delivered.
   */
  readonly orderId?: string;
  /** Where it is another package than the one that was ordered. */
  readonly other?: { readonly packageCode: string; readonly volumeBytes: bigint | null } | undefined;
  /** A new eSIM; its owner sees it once the purchase is settled. */
  readonly profile?: ReturnType<typeof columnsOfDelivery>;
  /** Install data, sealed. */
  readonly install?: Pick<Updateable<EsimsTable>, 'install_sealed'>;
  /** New totals, as the supplier answered them at `answeredAt`. */
  readonly topUp?: TopUpTotals & { readonly answeredAt: Date };
}

/** The delivery is kept already. */
export const ALREADY_SAVED: DeliveredItem = {};

/** `install`: the columns of its install data, sealed. */
export function profileItem(
  facts: ProfileFacts,
  checkedAt: Date,
  install: Pick<Updateable<EsimsTable>, 'install_sealed'>,
): DeliveredItem {
  return { profile: columnsOfDelivery(facts, checkedAt), install };
}

export function topUpItem(totals: TopUpTotals, answeredAt: Date): DeliveredItem {
  return { topUp: { ...totals, answeredAt } };
}

function toRow({ orderId, other, profile, install, topUp }: DeliveredItem): RawBuilder<unknown> {
  const sealed = install?.install_sealed;
  return composite('delivered_item', {
    order_id: orderId,
    other_package_code: other?.packageCode,
    other_volume_bytes: other?.volumeBytes,
    profile,
    install_sealed: sealed && `\\x${sealed.toString('hex')}`,
    top_up: topUp && {
      iccid: topUp.iccid,
      total_volume_bytes: topUp.totalVolumeBytes,
      order_usage_bytes: topUp.orderUsageBytes,
      total_duration: topUp.totalDuration,
      expired_time: topUp.expiredTime,
      answered_at: topUp.answeredAt,
    },
  });
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
  await callFunction(db, 'keep_delivery', { transaction_id: transactionId, item: toRow(item) });
}

/**
 * Keeps the delivery, closes the purchase, shows the eSIM to its owner, posts the hold, books the cost,
 * enqueues the webhook. One statement; safe to repeat. Throws HoldConflict when the money was given back
 * before, while a bank has it or disputes it, and during a withdrawal. Another package than the one that was
 * ordered is delivered too, and needs attention.
 * `isMoneyOpen`: a refund of what paid for it is under way. Also where it was settled before, because a bank
 * may have acted since.
 */
export async function settlePurchase(
  db: WorldDb,
  transactionId: string,
  item: DeliveredItem = ALREADY_SAVED,
): Promise<{ readonly isFirst: boolean; readonly isMoneyOpen: boolean }> {
  // A top-up changes an allowance, which its merchant may have to be notified of in the same transaction.
  if (!item.topUp) return settle(db, transactionId, item);
  return inTransaction(db, (trx) => settle(trx, transactionId, item));
}

type Settled = {
  readonly outcome: HoldOutcome;
  readonly esim_id: string;
  readonly at: Date;
  readonly is_money_open: boolean;
};

async function settle(db: WorldDb, transactionId: string, item: DeliveredItem) {
  const args = { transaction_id: transactionId, item: toRow(item) };
  const settled = await callFunction<Settled>(db, 'settle_purchase', args);
  requireEnded(transactionId, 'POSTED', settled.outcome);
  const isFirst = settled.outcome === 'done';
  if (isFirst && item.topUp) await notifyOfTopUp(db, settled.esim_id, settled.at);
  return { isFirst, isMoneyOpen: isFirst ? settled.is_money_open : true };
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
  { isCancelled = false }: { readonly isCancelled?: boolean } = {},
): Promise<'failed' | 'disputed' | 'open'> {
  const { id, transactionId, attempts } = order;
  return db.transaction().execute(async (trx) => {
    await lockPayments(trx, transactionId);
    // The lock is a statement of its own, so that the next one sees what another step just wrote.
    const { rows } = await sql<{ is_disputed: boolean }>`
      select is_contested(attention_reason) as is_disputed
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
    await failPurchaseIn(trx, transactionId, forBuyer(refusal));
    return 'failed';
  });
}

/**
 * Closes a purchase whose order was refused for good while its payment was disputed or reversed, once it no
 * longer is. `open`: it still is, or was not refused.
 */
export async function failRefused(db: WorldDb, transactionId: string): Promise<'open' | Refusal> {
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
    const refusal = forBuyer(refusalOf(asFailureReason(row.reason), row.detail));
    await failPurchaseIn(trx, transactionId, refusal);
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
  { to = 'source' }: { readonly to?: 'source' | 'wallet' } = {},
): Promise<Money | undefined> {
  const failed = await callFunction<Failed>(trx, 'fail_purchase', {
    transaction_id: transactionId,
    reason: refusal.reason,
    detail: refusal.detail,
  });
  const { paid_reference: reference, left_minor: leftMinor, hold_outcome: outcome } = failed;
  // From the wallet: there may be no hold.
  if (reference === null && outcome === 'absent') return undefined;
  requireEnded(transactionId, 'VOIDED', outcome);
  const paid = reference === null ? undefined : await findPayment(trx, reference);
  if (!paid) return undefined;
  const left = { amountMinor: leftMinor, currency: paid.charge_currency };
  if (outcome !== 'done' || leftMinor === 0n) return left;
  // The gateway cannot refund money that it has not confirmed.
  const isSendable = sendableMinor(paid) >= leftMinor;
  const refund = await createRefund(trx, paid, left, 'not-delivered');
  if (to === 'wallet' || !isSendable) await creditRefund(trx, refund, paid);
  return left;
}

interface Failed {
  readonly hold_outcome: HoldOutcome;
  /** The payment that placed the hold, and how much of it goes back; null where it is the wallet's. */
  readonly paid_reference: string | null;
  readonly left_minor: bigint;
}

/**
 * Closes an unpaid purchase and its eSIM order. `paid`: money came first, the purchase continues. Safe to
 * repeat.
 */
export async function closeUnpaid(
  db: WorldDb,
  transactionId: string,
  reason: FailureReason,
): Promise<'closed' | 'paid'> {
  const args = { transaction_id: transactionId, reason };
  const closed = await callFunction<{ status: PurchaseStatus }>(db, 'close_unpaid', args);
  return closed.status === 'FAILED' ? 'closed' : 'paid';
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

/** Enqueues the webhook of a status that the purchase has now. */
export async function enqueueStatus(
  trx: WorldDb,
  transactionId: string,
  status: PurchaseEventStatus,
): Promise<void> {
  await callFunction(trx, 'write_present_status', { transaction_id: transactionId, status });
}
