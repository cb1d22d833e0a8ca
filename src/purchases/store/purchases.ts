/** What happens to a purchase after it is opened, one transaction per step. Every step may run twice: the purchase's row and unique keys decide. */
import { sql, type RawBuilder, type Updateable } from 'kysely';
import type { ProfileFacts, TopUpTotals } from '../../esims/rules.ts';
import { columnsOfFacts } from '../../esims/store/esims.ts';
import type { FailureReason, Refusal } from '../../domain/refusals.ts';
import { purchaseStatusesBefore, type EsimStatus, type PurchaseStatus } from '../../domain/states.ts';
import { hasOrder, IS_DELIVERED } from './deliveries.ts';
import { inTransaction } from '../../platform/database/in-transaction.ts';
import {
  requirePosted,
  POSTED,
  postHoldQuery,
  voidHold,
  voidHoldToSuspense,
  type Posted,
} from '../../ledger/store/ledger.ts';
import { lockPayments } from '../../payments/store/lock-order.ts';
import { CLAIMS } from '../../payments/store/payments.ts';
import { CHANGED, changesOf, enqueuePurchaseStatus, type ChangedPurchase } from './messages.ts';
import { creditRefund, createRefund } from '../../payments/store/refunds.ts';
import type { EsimsTable } from '../../esims/store/tables.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import type { PurchasesTable } from './tables.ts';
import { subscribers, newPendingMessages, type PendingMessages } from '../../webhooks/store/messages.ts';

/** What a supplier delivered, as columns of its purchase and its eSIM. */
export interface DeliveredItem {
  /** The supplier's order; one that was replaced meanwhile delivers nothing. Absent: not known. */
  readonly supplierId?: string;
  readonly purchase: Updateable<PurchasesTable>;
  readonly esim: Updateable<EsimsTable>;
}

/** The delivery is kept already. */
export const KEPT_BEFORE: DeliveredItem = { purchase: {}, esim: {} };

/** A new eSIM; its owner sees it once the purchase is settled. */
export function profileItem(facts: ProfileFacts, lookedAt: Date): DeliveredItem {
  return { purchase: {}, esim: { ...columnsOfFacts(facts), looked_at: lookedAt } };
}

/** A top-up's new totals. Without a new end of validity, the old one stays. */
export function topUpItem(totals: TopUpTotals): DeliveredItem {
  const { iccid, totalVolumeBytes, orderUsageBytes, totalDuration, expiredTime } = totals;
  return {
    purchase: {
      top_up_iccid: iccid,
      top_up_total_volume_bytes: BigInt(totalVolumeBytes),
      top_up_remaining_bytes: BigInt(Math.max(0, totalVolumeBytes - orderUsageBytes)),
    },
    esim: {
      total_volume_bytes: BigInt(totalVolumeBytes),
      order_usage_bytes: BigInt(orderUsageBytes),
      total_duration: totalDuration,
      ...(expiredTime === null ? {} : { expired_time: new Date(expiredTime) }),
    },
  };
}

/** Keeps the delivery of an open purchase that cannot be settled. Safe to repeat. Install data is secret and never logged. */
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
function assigned(columns: DeliveredItem['purchase'] | DeliveredItem['esim']): RawBuilder<unknown> {
  const each = Object.entries(columns).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  return sql.join([...each, sql`updated_at = now()`]);
}

/** Clears needs-attention, except for claims on the money. */
const clearAttention = sql`
  needs_attention_since = case when attention_reason = any(${[...CLAIMS]}) then needs_attention_since end,
  attention_reason = case when attention_reason = any(${[...CLAIMS]}) then attention_reason end`;

/**
 * Keeps the delivery, closes the purchase, shows the eSIM to its owner, posts the hold, books the cost. One statement, unless a webhook must be enqueued;
 * safe to repeat. Throws HoldConflict when the money was given back before, and during a withdrawal.
 */
export async function settlePurchase(
  db: WorldDb,
  transactionId: string,
  item: DeliveredItem = KEPT_BEFORE,
  written: PendingMessages = newPendingMessages(),
): Promise<'settled' | 'settled-before'> {
  const settledDirectly = await settle(db, transactionId, item, NO_ENDPOINT_SUBSCRIBES);
  if (settledDirectly?.has_posted) return 'settled';
  return db.transaction().execute(async (trx) => {
    const settled = await settle(trx, transactionId, item);
    await requirePosted(trx, transactionId, settled);
    await enqueuePurchaseStatus(trx, transactionId, settled, written);
    return settled ? 'settled' : 'settled-before';
  });
}

/** No endpoint subscribes to this event. */
const NO_ENDPOINT_SUBSCRIBES = sql<boolean>`${subscribers('esim.purchased', sql`purchases.account_id`)} is null`;

/** Returns undefined and changes nothing if the purchase is not open, its order is under withdrawal or was replaced, its hold was voided, or `only` is false. */
async function settle(
  db: WorldDb,
  transactionId: string,
  item: DeliveredItem,
  only: RawBuilder<boolean> = sql<boolean>`true`,
): Promise<(ChangedPurchase & Posted) | undefined> {
  const { rows } = await sql<ChangedPurchase & Posted>`
    with ready as (
      select purchases.transaction_id from purchases join holds on holds.id = purchases.transaction_id
       where purchases.transaction_id = ${transactionId} and purchases.status = any(${purchaseStatusesBefore('SUCCESS')})
         and purchases.withdrawing_since is null and ${isForItsOrder(item)}
         and holds.status <> 'VOIDED' and ${only}
         for no key update
    ), closed as (
      update purchases set status = 'SUCCESS', closed_at = now(), ${clearAttention}, ${assigned(item.purchase)}
       where transaction_id in (select transaction_id from ready)
      returning ${CHANGED}, cost_usd_e4
    ), esim as (
      update esims set status = case status when 'PENDING' then 'CREATED' else status end, ${assigned(item.esim)}
       where id in (select esim_id from closed)
      returning id, iccid, qr_code_url
    ), noted as (
      insert into purchase_events (transaction_id, what) select transaction_id, 'delivered' from closed
    ), ${postHoldQuery(sql`(select transaction_id from closed)`, sql`(select cost_usd_e4 from closed)`)}
    select ${POSTED}, ${changesOf('closed', 'esim')}`.execute(db);
  return rows[0];
}

/**
 * Gives the money back and closes purchase and eSIM order as FAILED. One transaction; safe to repeat. With `orderAttempts`: writes nothing and returns
 * `open` if another order was sent since, one is under withdrawal, or the purchase was delivered.
 */
export function failPurchase(
  db: WorldDb,
  transactionId: string,
  refusal: Refusal,
  written?: PendingMessages,
  orderAttempts?: number,
): Promise<'closed' | 'open'> {
  const isUnchanged = sql<boolean>`supplier_asks = ${orderAttempts} and withdrawing_since is null and not ${IS_DELIVERED}`;
  const onlyIf = orderAttempts === undefined ? undefined : isUnchanged;
  return db.transaction().execute((trx) => failPurchaseIn(trx, transactionId, refusal, { written, onlyIf }));
}

/** The same, in the caller's transaction. `to: 'wallet'`: money from a gateway is credited to the wallet instead of being sent back. */
export async function failPurchaseIn(
  trx: WorldDb,
  transactionId: string,
  refusal: Refusal,
  {
    to = 'source',
    written = newPendingMessages(),
    onlyIf,
  }: {
    readonly to?: 'source' | 'wallet';
    readonly written?: PendingMessages | undefined;
    readonly onlyIf?: RawBuilder<boolean> | undefined;
  } = {},
): Promise<'closed' | 'open'> {
  // Payments before the purchase (lock-order.ts). Where no payment placed the hold, it is the wallet's.
  const paid = (await lockPayments(trx, transactionId)).find((payment) => payment.paid_hold);
  if (onlyIf) {
    // The lock is a statement of its own, so that the check sees what another step just wrote. FAILED stays FAILED.
    await sql`select from purchases where transaction_id = ${transactionId} for no key update`.execute(trx);
    const { rows } = await sql`
      select from purchases where transaction_id = ${transactionId} and (status = 'FAILED' or ${onlyIf})`.execute(
      trx,
    );
    if (rows.length === 0) return 'open';
  }
  const { rows } = await sql<ChangedPurchase>`
    with ${closing(transactionId, refusal.reason, purchaseStatusesBefore('FAILED'), 'FAILED')}, noted as (
      insert into purchase_events (transaction_id, what, detail)
      select transaction_id, 'failed', ${refusal.detail}::text from closed
      union all
      select transaction_id, 'hold-released', null from closed
       where ${paid === undefined} and exists (select from holds where id = transaction_id and status = 'HELD')
    )
    select ${changesOf('closed')}`.execute(trx);
  await enqueuePurchaseStatus(trx, transactionId, rows[0], written);
  if (!paid) {
    await voidHold(trx, transactionId);
    return 'closed';
  }
  const amount = { amountMinor: paid.charge_minor, currency: paid.charge_currency };
  if ((await voidHoldToSuspense(trx, transactionId, amount)) !== 'voided') return 'closed';
  // Money reversed meanwhile is in suspense as a claim, which this settles. It is not refunded twice.
  const owedMinor = amount.amountMinor - paid.reversed_minor;
  if (owedMinor <= 0n) return 'closed';
  const refund = await createRefund(trx, paid, { ...amount, amountMinor: owedMinor }, 'not-delivered');
  // The gateway cannot refund money that it has not confirmed.
  if (to === 'wallet' || paid.evidence_minor > 0n) await creditRefund(trx, refund, paid, written);
  return 'closed';
}

/** Queries for a `with` that close a purchase and its eSIM order; `closed` has a row if the purchase had one of the statuses `from`. */
function closing(
  transactionId: string,
  reason: FailureReason,
  from: readonly PurchaseStatus[],
  esimStatus: EsimStatus,
): RawBuilder<unknown> {
  return sql`
    closed as (
      update purchases
         set status = 'FAILED', reason = ${reason}, updated_at = now(), closed_at = now(), ${clearAttention}
       where transaction_id = ${transactionId} and status = any(${from})
      returning ${CHANGED}
    ), esim as (
      update esims set status = ${esimStatus}, updated_at = now()
       where transaction_id in (select transaction_id from closed) and status = 'PENDING'
    )`;
}

/**
 * Closes an unpaid purchase and its eSIM order. `paid`: money came first, the purchase goes on. Safe to repeat. The status is read afterwards: the
 * update may have waited for a payment that its own snapshot does not show.
 */
export async function closeUnpaid(
  db: WorldDb,
  transactionId: string,
  reason: FailureReason,
  written: PendingMessages = newPendingMessages(),
): Promise<'closed' | 'paid'> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<ChangedPurchase>`
      with ${closing(transactionId, reason, ['PENDING'], 'CANCELLED')}, noted as (
        insert into purchase_events (transaction_id, what, detail)
        select transaction_id, 'failed', ${reason}::text from closed
      )
      select ${changesOf('closed')}`.execute(trx);
    const { status } = await trx
      .selectFrom('purchases')
      .select('status')
      .where('transaction_id', '=', transactionId)
      .executeTakeFirstOrThrow();
    if (status === 'FAILED') await enqueuePurchaseStatus(trx, transactionId, rows[0], written);
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
