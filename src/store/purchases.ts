/**
 * A purchase's life in Postgres after it is opened, one transaction a step. Every step may run twice: the purchase's own row and unique keys
 * decide, not a look before. Refusals are values, never exceptions.
 */
import { sql, type RawBuilder } from 'kysely';
import type { FailureReason, Refusal } from '../domain/refusals.ts';
import { purchaseStatusesBefore } from '../domain/states.ts';
import { assigned, KEPT_BEFORE, type Goods } from './goods.ts';
import { inTransaction } from './in-transaction.ts';
import { expectPosted, POSTED, posting, voidHold, voidHoldToSuspense, type Posted } from './ledger.ts';
import { CLAIMS, lockPayments } from './payments.ts';
import { CHANGED, changesOf, tellPurchase, tellStatus, type ChangedPurchase } from './purchase-messages.ts';
import { creditRefund, dueRefund } from './refunds.ts';
import type { WorldDb } from './tables.ts';
import { listeners, noMessages, type Written } from './webhook-messages.ts';

/** Whoever was called for the purchase is not needed for it any more; a claim on its money stays. */
const nobodyNeeded = sql`
  needs_attention_since = case when attention_reason = any(${[...CLAIMS]}) then needs_attention_since end,
  attention_reason = case when attention_reason = any(${[...CLAIMS]}) then attention_reason end`;

/**
 * Delivered: keeps the goods, closes the purchase, opens the eSIM to its owner, posts the hold, books the cost. One statement, which is a
 * transaction of its own, unless somebody is to be told; twice is once. Throws HoldConflict when the money was given back before.
 */
export async function settlePurchase(
  db: WorldDb,
  transactionId: string,
  goods: Goods = KEPT_BEFORE,
  written: Written = noMessages(),
): Promise<void> {
  const unheard = await settle(db, transactionId, goods, UNHEARD);
  if (unheard?.has_posted) return;
  await db.transaction().execute(async (trx) => {
    const settled = await settle(trx, transactionId, goods);
    await expectPosted(trx, transactionId, settled);
    await tellPurchase(trx, transactionId, settled, written);
  });
}

/** Nobody is to be told of a change of `purchases`. */
const UNHEARD = sql<boolean>`${listeners('esim.purchased', sql`purchases.account_id`)} is null`;

/** Nothing is changed, and undefined answered, where the purchase is not open, its hold was voided, or `only` does not hold. */
async function settle(
  db: WorldDb,
  transactionId: string,
  goods: Goods,
  only: RawBuilder<boolean> = sql<boolean>`true`,
): Promise<(ChangedPurchase & Posted) | undefined> {
  const { rows } = await sql<ChangedPurchase & Posted>`
    with ready as (
      select purchases.transaction_id from purchases join holds on holds.id = purchases.transaction_id
       where purchases.transaction_id = ${transactionId} and purchases.status = any(${purchaseStatusesBefore('SUCCESS')})
         and holds.status <> 'VOIDED' and ${only}
         for no key update
    ), closed as (
      update purchases set status = 'SUCCESS', closed_at = now(), ${nobodyNeeded}, ${assigned(goods.purchase)}
       where transaction_id in (select transaction_id from ready)
      returning ${CHANGED}, cost_usd_e4
    ), esim as (
      update esims set status = case status when 'PENDING' then 'CREATED' else status end, ${assigned(goods.esim)}
       where id in (select esim_id from closed)
      returning id, iccid, qr_code_url
    ), told as (
      insert into purchase_events (transaction_id, what) select transaction_id, 'delivered' from closed
    ), ${posting(sql`(select transaction_id from closed)`, sql`(select cost_usd_e4 from closed)`)}
    select ${POSTED}, ${changesOf('closed', 'esim')}`.execute(db);
  return rows[0];
}

/** Not deliverable: gives the money back and closes purchase and eSIM order as FAILED. One transaction; twice is once. */
export async function failPurchase(
  db: WorldDb,
  transactionId: string,
  refusal: Refusal,
  written: Written = noMessages(),
): Promise<void> {
  await db.transaction().execute((trx) => failPurchaseIn(trx, transactionId, refusal, 'source', written));
}

/** The same, in a transaction of somebody else's. `wallet`: what came from outside is credited there instead of being sent back. */
export async function failPurchaseIn(
  trx: WorldDb,
  transactionId: string,
  refusal: Refusal,
  to: 'source' | 'wallet' = 'source',
  written: Written = noMessages(),
): Promise<void> {
  // First, as a look does: payment before purchase. The hold is the wallet's where no payment placed it.
  const paid = (await lockPayments(trx, transactionId)).find((payment) => payment.paid_hold);
  const { rows } = await sql<ChangedPurchase>`
    with closed as (
      update purchases
         set status = 'FAILED', reason = ${refusal.reason}, updated_at = now(), closed_at = now(), ${nobodyNeeded}
       where transaction_id = ${transactionId} and status = any(${purchaseStatusesBefore('FAILED')})
      returning ${CHANGED}
    ), esim as (
      update esims set status = 'FAILED', updated_at = now()
       where transaction_id in (select transaction_id from closed) and status = 'PENDING'
    ), noted as (
      insert into purchase_events (transaction_id, what, detail)
      select transaction_id, 'failed', ${refusal.detail}::text from closed
    )
    select ${changesOf('closed')}`.execute(trx);
  await tellPurchase(trx, transactionId, rows[0], written);
  if (!paid) {
    await voidHold(trx, transactionId);
    return;
  }
  const amount = { amountMinor: paid.charge_minor, currency: paid.charge_currency };
  if ((await voidHoldToSuspense(trx, transactionId, amount)) !== 'voided') return;
  // What was taken back meanwhile lies in suspense as a claim, which this settles: it does not go back a second time.
  const owedMinor = amount.amountMinor - paid.reversed_minor;
  if (owedMinor <= 0n) return;
  const refund = await dueRefund(trx, paid, { ...amount, amountMinor: owedMinor }, 'not-delivered');
  // The gateway cannot send back what it has not said that it has.
  if (to === 'wallet' || paid.evidence_minor > 0n) await creditRefund(trx, refund, paid, written);
}

/**
 * Never paid, or not as agreed: closes purchase and eSIM order, no money to move. `paid`: money came first, the purchase goes on. Twice is
 * once. What it answers is read afterwards: it may have waited for a payment that its own statement does not see.
 */
export async function closeUnpaid(
  db: WorldDb,
  transactionId: string,
  reason: FailureReason,
  written: Written = noMessages(),
): Promise<'closed' | 'paid'> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<ChangedPurchase>`
      with closed as (
        update purchases
           set status = 'FAILED', reason = ${reason}, updated_at = now(), closed_at = now(), ${nobodyNeeded}
         where transaction_id = ${transactionId} and status = 'PENDING'
        returning ${CHANGED}
      ), esim as (
        update esims set status = 'CANCELLED', updated_at = now()
         where transaction_id in (select transaction_id from closed) and status = 'PENDING'
      ), noted as (
        insert into purchase_events (transaction_id, what, detail)
        select transaction_id, 'failed', ${reason}::text from closed
      )
      select ${changesOf('closed')}`.execute(trx);
    const { status } = await trx
      .selectFrom('purchases')
      .select('status')
      .where('transaction_id', '=', transactionId)
      .executeTakeFirstOrThrow();
    if (status === 'FAILED') await tellPurchase(trx, transactionId, rows[0], written);
    return status === 'FAILED' ? 'closed' : 'paid';
  });
}

/** The buyer of a purchase from the wallet is about to hear that it goes on: so do those who listen, once. */
export function tellProcessing(db: WorldDb, transactionId: string, written: Written): Promise<void> {
  return tellStatus(db, transactionId, 'PROCESSING', written);
}

/** Marks an open purchase as needing a person, with the reason; the first time counts. */
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
