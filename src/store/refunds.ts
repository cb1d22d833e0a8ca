/**
 * Money on its way back to where it came from. It waits in suspense until the gateway says that it is sent; where the gateway cannot, it is
 * credited to the wallet. A row stands before the gateway is asked, and ends once.
 */
import { sql, type Selectable } from 'kysely';
import type { Money } from '../domain/money.ts';
import { atLockedRate } from '../domain/payment.ts';
import { exchangeEntries, transfer, walletAccount } from './ledger.ts';
import type { PaymentRow } from './payments.ts';
import type { RefundsTable, WorldDb } from './tables.ts';

export type RefundRow = Selectable<RefundsTable>;

/** Money that is to go back to where it came from; the key is ours and stands in the gateway's note. */
export async function dueRefund(
  trx: WorldDb,
  payment: Pick<PaymentRow, 'reference' | 'transaction_id' | 'account_id'>,
  amount: Money,
  reason: string,
): Promise<void> {
  await trx
    .insertInto('refunds')
    .values({
      refund_key: `${payment.reference}-${reason}`,
      reference: payment.reference,
      transaction_id: payment.transaction_id,
      account_id: payment.account_id,
      amount_minor: amount.amountMinor,
      currency: amount.currency,
      reason,
      gateway_refund_id: null,
      gateway_status: null,
      asked_at: null,
      closed_at: null,
    })
    .onConflict((conflict) => conflict.column('refund_key').doNothing())
    .execute();
}

/** Refunds of a purchase or a funding that have not ended. */
export function findOpenRefunds(db: WorldDb, transactionId: string): Promise<RefundRow[]> {
  return db
    .selectFrom('refunds')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .where('closed_at', 'is', null)
    .orderBy('created_at')
    .execute();
}

/**
 * On record before the gateway is asked: whoever comes next knows that one may be out. `false`: somebody else asks, since the row was read;
 * the gateway would take both for refunds.
 */
export async function beginRefund(
  db: WorldDb,
  refund: Pick<RefundRow, 'refund_key' | 'asked_at'>,
  now: Date,
): Promise<boolean> {
  const begun = await db
    .updateTable('refunds')
    .set({ status: 'ASKED', asked_at: now, updated_at: now })
    .where('refund_key', '=', refund.refund_key)
    .where('asked_at', 'is not distinct from', refund.asked_at)
    .where('closed_at', 'is', null)
    .executeTakeFirst();
  return begun.numUpdatedRows > 0n;
}

/** What is on its way back to the buyer of a payment, or was sent: no part of what the gateway may still hold for us. */
export async function refundedMinor(db: WorldDb, reference: string): Promise<bigint> {
  const refunds = await db
    .selectFrom('refunds')
    .select(sql<bigint>`coalesce(sum(amount_minor), 0)::int8`.as('total'))
    .where('reference', '=', reference)
    .where('status', '<>', 'CREDITED')
    .executeTakeFirstOrThrow();
  return refunds.total;
}

/** Refunds that nobody has begun, made before a time: money seen just when its workflow ended. */
export function findForgottenRefunds(
  db: WorldDb,
  which: { readonly madeBefore: Date; readonly limit: number },
): Promise<RefundRow[]> {
  return db
    .selectFrom('refunds')
    .selectAll()
    .where('closed_at', 'is', null)
    .where('asked_at', 'is', null)
    .where('created_at', '<', which.madeBefore)
    .orderBy('created_at')
    .limit(which.limit)
    .execute();
}

/** Keeps the gateway's word on a refund that has not ended there. */
export async function keepRefundState(
  db: WorldDb,
  refundKey: string,
  state: { status: 'PENDING' | 'NEEDS_ATTENTION' | 'STUCK'; refundId: string | null; gatewayStatus: string },
): Promise<void> {
  await db
    .updateTable('refunds')
    .set({
      status: state.status,
      gateway_refund_id: state.refundId,
      gateway_status: state.gatewayStatus,
      updated_at: sql`now()`,
    })
    .where('refund_key', '=', refundKey)
    .where('closed_at', 'is', null)
    .execute();
}

/** The gateway sent it: suspense is cleared against what the gateway holds for us. Twice is once. */
export async function closeRefundDone(
  db: WorldDb,
  refund: RefundRow,
  at: { refundId: string; gatewayStatus: string },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    if (!(await closeRefund(trx, refund, 'DONE', at))) return false;
    const { currency, amount_minor: amountMinor } = refund;
    await transfer(trx, {
      operationKey: `${refund.refund_key}:done`,
      kind: 'refund',
      transactionId: refund.transaction_id,
      entries: [
        { account: `suspense:${currency}`, currency, amountMinor: -amountMinor },
        { account: `gateway-clearing:${currency}`, currency, amountMinor },
      ],
    });
    return true;
  });
}

/**
 * The gateway cannot send it: it is credited to the wallet at the locked rate. Twice is once. `false`: it ended before, or came in a currency
 * that no rate was locked for, which needs a person.
 */
export async function creditRefund(db: WorldDb, refund: RefundRow, payment: PaymentRow): Promise<boolean> {
  if (refund.currency !== payment.charge_currency) return false;
  return db.transaction().execute(async (trx) => {
    if (!(await closeRefund(trx, refund, 'CREDITED'))) return false;
    const { currency, amount_minor: amountMinor } = refund;
    const price = payment.price_currency;
    const creditMinor = atLockedRate(amountMinor, {
      chargeMinor: payment.charge_minor,
      chargeCurrency: payment.charge_currency,
      priceMinor: payment.price_minor,
      priceCurrency: price,
    });
    await transfer(trx, {
      operationKey: `${refund.refund_key}:credited`,
      kind: 'refund-credited',
      transactionId: refund.transaction_id,
      entries: [
        { account: `suspense:${currency}`, currency, amountMinor: -amountMinor },
        ...exchangeEntries({ amountMinor, currency }, { amountMinor: creditMinor, currency: price }),
        { account: walletAccount(refund.account_id), currency: price, amountMinor: creditMinor },
      ],
    });
    return true;
  });
}

async function closeRefund(
  trx: WorldDb,
  refund: RefundRow,
  status: 'DONE' | 'CREDITED',
  at?: { refundId: string; gatewayStatus: string },
): Promise<boolean> {
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
    .executeTakeFirst();
  if (closed.numUpdatedRows === 0n) return false;
  await sql`
    insert into purchase_events (transaction_id, what, detail)
    select transaction_id, ${status === 'DONE' ? 'refunded' : 'refund-credited-to-wallet'}, ${refund.refund_key}::text
      from purchases where transaction_id = ${refund.transaction_id}`.execute(trx);
  await unflagRefunds(trx, refund.transaction_id);
  return true;
}

/** Nobody is needed any more once the last refund that called for a person has ended. */
async function unflagRefunds(trx: WorldDb, transactionId: string): Promise<void> {
  for (const table of ['purchases', 'fundings'] as const) {
    await trx
      .updateTable(table)
      .set({ needs_attention_since: null, attention_reason: null, updated_at: sql`now()` })
      .where('transaction_id', '=', transactionId)
      .where('attention_reason', 'in', ['REFUND_NEEDS_ATTENTION', 'REFUND_STUCK'])
      .where((eb) => {
        const open = eb
          .selectFrom('refunds')
          .select('refund_key')
          .where('transaction_id', '=', transactionId)
          .where('closed_at', 'is', null);
        return eb.not(eb.exists(open));
      })
      .execute();
  }
}
