/**
 * A purchase's life in Postgres, one transaction a step. Every step may run twice: the purchase's own row and unique keys decide, not a
 * look before. Refusals are values, never exceptions.
 */
import { sql } from 'kysely';
import { snapshotOf } from '../domain/catalogue.ts';
import type { PurchaseInput } from '../domain/purchase.ts';
import { asFailureReason, type FailureReason, type Refusal } from '../domain/refusals.ts';
import { purchaseStatusesBefore } from '../domain/states.ts';
import { toPackage, type StoredPackage } from './catalogue.ts';
import { insertKey } from './idempotency.ts';
import { inTransaction } from './in-transaction.ts';
import {
  expectPosted,
  placeHold,
  POSTED,
  posting,
  voidHold,
  voidHoldToSuspense,
  type Posted,
} from './ledger.ts';
import { CLAIMS, lockPayments } from './payments.ts';
import { CHANGED, changesOf, tellPurchase, tellStatus, type ChangedPurchase } from './purchase-messages.ts';
import { creditRefund, dueRefund } from './refunds.ts';
import type { WorldDb } from './tables.ts';
import { noMessages, type Written } from './webhook-messages.ts';

export interface OpenOptions {
  readonly now: Date;
  readonly supplier: string;
  /**
   * Asked at the moment of a refusal: may the caller have been told PROCESSING before hearing of it? It is then kept as a FAILED
   * purchase, so that its reads say how it ended.
   */
  readonly keepRefusal: () => boolean;
}

export type Opened = { readonly opened: true } | { readonly opened: false; readonly refusal: Refusal };

const OPENED: Opened = { opened: true };

/** Writes purchase, eSIM order, wallet hold and idempotency row together, or refuses and writes no purchase at all. */
export async function openPurchase(
  db: WorldDb,
  input: PurchaseInput,
  options: OpenOptions,
  written: Written = noMessages(),
): Promise<Opened> {
  return db.transaction().execute(async (trx) => {
    const found = await lookBeforeOpening(trx, input);
    if (found.already) return OPENED;
    if (found.earlierRefusal) {
      await tellStatus(trx, input.transactionId, 'FAILED', written);
      return { opened: false, refusal: found.earlierRefusal };
    }
    const refusal = found.refusal ?? (await hold(trx, input, written));
    if (refusal) {
      await insertKey(trx, input, refusal);
      if (options.keepRefusal()) {
        await insertPurchase(trx, input, options, found.item, refusal);
        await tellStatus(trx, input.transactionId, 'FAILED', written);
      }
      return { opened: false, refusal };
    }
    await insertKey(trx, input);
    await insertPurchase(trx, input, options, found.item);
    return OPENED;
  });
}

interface Found {
  readonly already: boolean;
  readonly earlierRefusal?: Refusal;
  readonly item: StoredPackage | undefined;
  readonly refusal?: Refusal;
}

async function lookBeforeOpening(trx: WorldDb, input: PurchaseInput): Promise<Found> {
  const row = await trx
    .selectFrom(sql<{ one: number }>`(select 1 as one)`.as('here'))
    .leftJoin('packages', (join) => join.on('packages.package_code', '=', input.packageCode))
    .leftJoin('purchases', (join) => join.on('purchases.transaction_id', '=', input.transactionId))
    .leftJoin('esims', (join) =>
      join.on('esims.id', '=', input.esimId).on('esims.account_id', '=', input.accountId),
    )
    .leftJoin('idempotency_keys as keys', (join) =>
      join.on('keys.account_id', '=', input.accountId).on('keys.key', '=', input.idempotency?.key ?? ''),
    )
    .selectAll('packages')
    .select([
      'purchases.transaction_id as already',
      'purchases.reason as already_reason',
      'esims.status as esim_status',
      'keys.refusal_reason as refusal_reason',
      'keys.refusal_detail as refusal_detail',
    ])
    .executeTakeFirstOrThrow();
  const item = row.package_code === null ? undefined : toPackage(row as Parameters<typeof toPackage>[0]);
  if (row.refusal_reason !== null)
    return { already: false, item, earlierRefusal: toRefusal(row.refusal_reason, row.refusal_detail) };
  if (row.already !== null) {
    return row.already_reason === null
      ? { already: true, item }
      : { already: false, item, earlierRefusal: toRefusal(row.already_reason, null) };
  }
  if (!item || item.withdrawn) {
    return {
      already: false,
      item,
      refusal: { reason: 'PACKAGE_WITHDRAWN', detail: 'withdrawn since it was listed' },
    };
  }
  if (input.packageType === 'TOPUP' && row.esim_status !== 'ACTIVE') {
    return {
      already: false,
      item,
      refusal: { reason: 'ESIM_NOT_ACTIVE', detail: `the eSIM is ${row.esim_status ?? 'unknown'}` },
    };
  }
  return { already: false, item };
}

function toRefusal(reason: string, detail: string | null): Refusal {
  return { reason: asFailureReason(reason), detail: detail ?? '' };
}

async function hold(trx: WorldDb, input: PurchaseInput, written: Written): Promise<Refusal | undefined> {
  if (input.paymentMethod !== 'WALLET') return undefined;
  const { currency } = input.quote;
  const amount = { amountMinor: BigInt(input.quote.priceMinor), currency };
  const wanted = { id: input.transactionId, accountId: input.accountId, amount };
  const held = await placeHold(trx, wanted, written);
  return held === 'insufficient'
    ? { reason: 'INSUFFICIENT_BALANCE', detail: 'wallet balance below the price' }
    : undefined;
}

async function insertPurchase(
  trx: WorldDb,
  input: PurchaseInput,
  { now, supplier }: OpenOptions,
  item: StoredPackage | undefined,
  refusal?: Refusal,
): Promise<void> {
  const { quote } = input;
  const insert = trx.with('purchase', (db) =>
    db.insertInto('purchases').values({
      transaction_id: input.transactionId,
      account_id: input.accountId,
      package_type: input.packageType,
      payment_method: input.paymentMethod,
      status: refusal ? 'FAILED' : input.paymentMethod === 'WALLET' ? 'PROCESSING' : 'PENDING',
      reason: refusal?.reason ?? null,
      package_code: input.packageCode,
      package_name: item?.name ?? input.packageCode,
      volume_bytes: BigInt(item?.volumeBytes ?? 0),
      duration: item?.duration ?? 0,
      esim_id: input.esimId,
      price_minor: BigInt(quote.priceMinor),
      currency: quote.currency,
      price_usd_minor: BigInt(quote.priceUsdMinor),
      cost_usd_e4: BigInt(quote.costUsdE4),
      settings_id: quote.settingsId,
      rate_id: quote.rateId ?? null,
      supplier_order_no: null,
      top_up_iccid: null,
      top_up_total_volume_bytes: null,
      top_up_remaining_bytes: null,
      needs_attention_since: null,
      attention_reason: null,
      request_id: input.requestId,
      created_at: now,
      closed_at: refusal ? now : null,
    }),
  );
  const withEsim =
    input.packageType === 'BASE' && item
      ? insert.with('esim', (db) =>
          db.insertInto('esims').values(newEsim(input, item, supplier, now, refusal)),
        )
      : insert;
  await withEsim
    .insertInto('purchase_events')
    .values({
      transaction_id: input.transactionId,
      what: refusal ? 'refused' : input.paymentMethod === 'WALLET' ? 'wallet-held' : 'opened',
      detail: refusal?.reason ?? null,
    })
    .execute();
}

function newEsim(input: PurchaseInput, item: StoredPackage, supplier: string, now: Date, refusal?: Refusal) {
  return {
    id: input.esimId,
    account_id: input.accountId,
    transaction_id: input.transactionId,
    package_code: item.packageCode,
    package_name: item.name,
    status: refusal ? ('FAILED' as const) : ('PENDING' as const),
    price_minor: BigInt(input.quote.priceMinor),
    currency: input.quote.currency,
    snapshot: JSON.stringify(snapshotOf(item)),
    supplier,
    msisdn: null,
    pin: null,
    puk: null,
    activate_time: null,
    expired_time: null,
    total_volume_bytes: BigInt(item.volumeBytes),
    total_duration: item.duration,
    duration_unit: item.durationUnit,
    data_type: item.dataType,
    looked_at: null,
    created_at: now,
  };
}

/** Whoever was called for the purchase is not needed for it any more; a claim on its money stays. */
const nobodyNeeded = sql`
  needs_attention_since = case when attention_reason = any(${[...CLAIMS]}) then needs_attention_since end,
  attention_reason = case when attention_reason = any(${[...CLAIMS]}) then attention_reason end`;

/**
 * Delivered: keeps the goods, closes the purchase, opens the eSIM to its owner, posts the hold, books the cost. One transaction; twice is
 * once. Throws HoldConflict when the money was given back before.
 */
export async function settlePurchase(
  db: WorldDb,
  transactionId: string,
  keepGoods?: (trx: WorldDb) => Promise<void>,
  written: Written = noMessages(),
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await keepGoods?.(trx);
    const { rows } = await sql<ChangedPurchase & Posted>`
      with closed as (
        update purchases
           set status = 'SUCCESS', updated_at = now(), closed_at = now(), ${nobodyNeeded}
         where transaction_id = ${transactionId} and status = any(${purchaseStatusesBefore('SUCCESS')})
        returning ${CHANGED}, cost_usd_e4
      ), esim as (
        update esims set status = 'CREATED', updated_at = now()
         where transaction_id in (select transaction_id from closed) and status = 'PENDING'
      ), told as (
        insert into purchase_events (transaction_id, what) select transaction_id, 'delivered' from closed
      ), ${posting(transactionId, sql`(select cost_usd_e4 from closed)`)}
      select ${POSTED}, ${changesOf('closed')}`.execute(trx);
    await expectPosted(trx, transactionId, rows[0]);
    await tellPurchase(trx, transactionId, rows[0], written);
  });
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
