/** The money of a refund waits in suspense until the gateway has sent it, or it is credited to the wallet. A row is closed once. */
import { sql, type Selectable } from 'kysely';
import type { Money } from '../../domain/money.ts';
import { exchangeEntries, transfer, walletAccount } from '../../ledger/store/ledger.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { inTransaction } from '../../platform/database/transactions.ts';
import {
  subscribers,
  newPendingMessages,
  enqueueWebhook,
  type PendingMessages,
} from '../../webhooks/store/messages.ts';
import { atLockedRate } from '../booking-rules.ts';
import { lockPayment } from './lock-order.ts';
import { reversedKey, type PaymentRow } from './payments.ts';
import type { RefundsTable } from './tables.ts';

export type RefundRow = Selectable<RefundsTable>;

/** Returns the existing refund if there is one. Our key is stored in the gateway's note. */
export async function createRefund(
  trx: WorldDb,
  payment: Pick<PaymentRow, 'reference' | 'transaction_id' | 'account_id'>,
  amount: Money,
  reason: string,
): Promise<RefundRow> {
  const refundKey = `${payment.reference}-${reason}`;
  await trx
    .insertInto('refunds')
    .values({
      refund_key: refundKey,
      reference: payment.reference,
      transaction_id: payment.transaction_id,
      account_id: payment.account_id,
      amount_minor: amount.amountMinor,
      currency: amount.currency,
      reason,
    })
    .onConflict((conflict) => conflict.column('refund_key').doNothing())
    .execute();
  return trx.selectFrom('refunds').selectAll().where('refund_key', '=', refundKey).executeTakeFirstOrThrow();
}

const openRefunds = (db: WorldDb) =>
  db.selectFrom('refunds').selectAll().where('closed_at', 'is', null).orderBy('created_at');

/** Refunds of a purchase or a funding that have not ended. */
export function findOpenRefunds(db: WorldDb, transactionId: string): Promise<RefundRow[]> {
  return openRefunds(db).where('transaction_id', '=', transactionId).execute();
}

/** Refunds of a purchase or a funding that the gateway will not send. */
export async function findStuckRefunds(db: WorldDb, transactionId: string): Promise<RefundRow[]> {
  const open = await findOpenRefunds(db, transactionId);
  return open.filter(({ status }) => status === 'STUCK');
}

/** Records the request before it is sent. `false`: another process has begun since the row was read; the gateway would take both requests for refunds. */
export async function beginRefund(
  db: WorldDb,
  refund: Pick<RefundRow, 'refund_key' | 'attempt' | 'asked_at'>,
  now: Date,
): Promise<boolean> {
  const begun = await db
    .updateTable('refunds')
    .set({ status: 'ASKED', asked_at: now, updated_at: now })
    .where('refund_key', '=', refund.refund_key)
    .where('attempt', '=', refund.attempt)
    .where('asked_at', 'is not distinct from', refund.asked_at)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  return begun.numUpdatedRows > 0n;
}

/** Sum of a payment's refunds that the gateway sent or is to send. The others are counted in the wallet, or as reversed. */
export async function refundedMinor(db: WorldDb, reference: string): Promise<bigint> {
  const { total } = await db
    .selectFrom('refunds')
    .select(sql<bigint>`coalesce(sum(amount_minor), 0)::int8`.as('total'))
    .where('reference', '=', reference)
    .where('status', 'not in', ['CREDITED', 'TAKEN_BACK'])
    .executeTakeFirstOrThrow();
  return total;
}

/** Refunds that were never started: their money was seen just as the workflow ended. */
export function findUnstartedRefunds(
  db: WorldDb,
  which: { readonly madeBefore: Date; readonly limit: number },
): Promise<RefundRow[]> {
  return openRefunds(db)
    .where('asked_at', 'is', null)
    .where('created_at', '<', which.madeBefore)
    .limit(which.limit)
    .execute();
}

/** The key of an attempt in the gateway's note. Each retry by an operator has its own, so that a failed attempt is not taken for the next. */
export function attemptKey({ refund_key }: Pick<RefundRow, 'refund_key'>, attempt: number): string {
  return attempt === 1 ? refund_key : `${refund_key}-${attempt}`;
}

/** Newest attempt first. */
export function attemptKeys(refund: Pick<RefundRow, 'refund_key' | 'attempt'>): string[] {
  return Array.from({ length: refund.attempt }, (_, before) => attemptKey(refund, refund.attempt - before));
}

/** Saves the gateway's state of the current attempt. A refund that starts to wait for a person gets one line in the timeline. */
export async function saveRefundState(
  db: WorldDb,
  refund: Pick<RefundRow, 'refund_key' | 'attempt'>,
  state: { status: 'PENDING' | 'NEEDS_ATTENTION' | 'STUCK'; refundId: string | null; gatewayStatus: string },
): Promise<void> {
  const { status, refundId, gatewayStatus } = state;
  await sql`
    with before as (
      select refund_key, transaction_id, status from refunds
       where refund_key = ${refund.refund_key} and attempt = ${refund.attempt} and closed_at is null for no key update
    ), kept as (
      update refunds
         set status = ${status}, gateway_refund_id = ${refundId}, gateway_status = ${gatewayStatus}, updated_at = now()
       where refund_key in (select refund_key from before)
    )
    insert into purchase_events (transaction_id, what, detail)
    select transaction_id, 'refund-blocked', concat_ws(': ', refund_key, ${gatewayStatus}::text)
      from before join purchases using (transaction_id)
     where before.status <> ${status} and ${status !== 'PENDING'}`.execute(db);
}

/** A stuck refund becomes due again as a new attempt. */
export async function tryRefundAgain(trx: WorldDb, refund: RefundRow): Promise<void> {
  await trx
    .updateTable('refunds')
    .set({
      status: 'DUE',
      attempt: refund.attempt + 1,
      asked_at: null,
      gateway_refund_id: null,
      gateway_status: null,
      updated_at: sql`now()`,
    })
    .where('refund_key', '=', refund.refund_key)
    .where('attempt', '=', refund.attempt)
    .where('status', '=', 'STUCK')
    .execute();
}

/** The gateway sent it: suspense is cleared against what the gateway holds for us. Idempotent. */
export async function closeRefundDone(
  db: WorldDb,
  refund: RefundRow,
  at: { refundId: string; gatewayStatus: string },
  pending?: PendingMessages,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    if (!(await closeRefund(trx, refund, 'DONE', at, pending))) return false;
    await clearSuspense(trx, refund, 'refund', `${refund.refund_key}:done`);
    return true;
  });
}

function clearSuspense(
  trx: WorldDb,
  refund: RefundRow,
  kind: string,
  operationKey: string,
): Promise<unknown> {
  const { currency, amount_minor: amountMinor, transaction_id: transactionId } = refund;
  const entries = [
    { account: `suspense:${currency}`, currency, amountMinor: -amountMinor },
    { account: `gateway-clearing:${currency}`, currency, amountMinor },
  ];
  return transfer(trx, { operationKey, kind, transactionId, entries });
}

/** Credits the wallet at the locked rate. Idempotent. `false`: the refund has ended, or no rate was locked for its currency, which needs a person. */
export async function creditRefund(
  db: WorldDb,
  refund: RefundRow,
  payment: PaymentRow,
  pending?: PendingMessages,
): Promise<boolean> {
  if (refund.currency !== payment.charge_currency) return false;
  const creditMinor = atLockedRate(refund.amount_minor, {
    chargeMinor: payment.charge_minor,
    chargeCurrency: payment.charge_currency,
    priceMinor: payment.price_minor,
    priceCurrency: payment.price_currency,
  });
  const credit = { amountMinor: creditMinor, currency: payment.price_currency };
  return inTransaction(db, (trx) => creditRefundAs(trx, refund, credit, pending));
}

/** Idempotent. */
export async function creditRefundAs(
  trx: WorldDb,
  refund: RefundRow,
  credit: Money,
  pending?: PendingMessages,
): Promise<boolean> {
  if (!(await closeRefund(trx, refund, 'CREDITED', undefined, pending))) return false;
  const { currency, amount_minor: amountMinor } = refund;
  await transfer(trx, {
    operationKey: `${refund.refund_key}:credited`,
    kind: 'refund-credited',
    transactionId: refund.transaction_id,
    entries: [
      { account: `suspense:${currency}`, currency, amountMinor: -amountMinor },
      ...exchangeEntries({ amountMinor, currency }, credit),
      { account: walletAccount(refund.account_id), ...credit },
    ],
  });
  return true;
}

/** The payment was taken back before the refund was sent: the buyer has the money, so the amount in suspense is booked as reversed. Idempotent. */
export async function closeRefundTakenBack(db: WorldDb, refund: RefundRow): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { payment } = await lockPayment(trx, refund.reference);
    if (!(await closeRefund(trx, refund, 'TAKEN_BACK'))) return false;
    const reversedMinor = payment.reversed_minor + refund.amount_minor;
    await trx
      .updateTable('payments')
      .set({ reversed_minor: reversedMinor, updated_at: sql`now()` })
      .where('reference', '=', refund.reference)
      .execute();
    const key = reversedKey(refund.reference, refund.currency, reversedMinor);
    await clearSuspense(trx, refund, 'payment-reversed', key);
    return true;
  });
}

/** What the public timeline says of a refund's end, and the merchants' webhook: money taken back by a bank is not our refund. */
const ENDS = {
  DONE: { what: 'refunded', refundedTo: 'SOURCE' },
  CREDITED: { what: 'refund-credited-to-wallet', refundedTo: 'WALLET' },
  TAKEN_BACK: { what: 'payment-reversed', refundedTo: null },
} as const;

/** Closes a refund once. The payment and the purchase are locked first, in the order that operator actions use. */
export async function closeRefund(
  trx: WorldDb,
  refund: RefundRow,
  status: keyof typeof ENDS,
  at?: { refundId: string; gatewayStatus: string },
  pending: PendingMessages = newPendingMessages(),
): Promise<boolean> {
  await lockPayment(trx, refund.reference);
  const closed = await trx
    .updateTable('refunds')
    .set({
      status,
      closed_at: sql`now()`,
      updated_at: sql`now()`,
      ...(at ? { gateway_refund_id: at.refundId, gateway_status: at.gatewayStatus } : {}),
    })
    .where('refund_key', '=', refund.refund_key)
    .where('closed_at', 'is', null)
    .returning([
      subscribers('payment.refunded', sql.ref('refunds.account_id')).as('subscribers'),
      sql<Date>`now()`.as('at'),
    ])
    .executeTakeFirst();
  if (!closed) return false;
  const { what, refundedTo } = ENDS[status];
  await sql`
    insert into purchase_events (transaction_id, what, detail)
    select transaction_id, ${what}, ${refund.refund_key}::text
      from purchases where transaction_id = ${refund.transaction_id}`.execute(trx);
  await unflagRefunds(trx, refund.transaction_id);
  if (refundedTo === null) return true;
  const { reference, transaction_id: transactionId, amount_minor: amountMinor, currency } = refund;
  const message = {
    event: 'payment.refunded',
    key: refund.refund_key,
    subject: transactionId,
    accountId: refund.account_id,
    subscribers: closed.subscribers,
    at: closed.at,
    facts: { transactionId, reference, amountMinor, currency, refundedTo },
  } as const;
  await enqueueWebhook(trx, message, pending);
  return true;
}

/** Clears the attention flag once the last open refund has ended. */
async function unflagRefunds(trx: WorldDb, transactionId: string): Promise<void> {
  for (const table of ['purchases', 'fundings']) {
    await sql`
      update ${sql.table(table)} set needs_attention_since = null, attention_reason = null, updated_at = now()
       where transaction_id = ${transactionId} and attention_reason in ('REFUND_NEEDS_ATTENTION', 'REFUND_STUCK')
         and not exists (select from refunds where transaction_id = ${transactionId} and closed_at is null)`.execute(
      trx,
    );
  }
}
