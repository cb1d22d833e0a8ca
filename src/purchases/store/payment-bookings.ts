/** Books what the gateway has, once, no matter which check sees it first: webhook, confirm-payment, poll or sweep. */
import { sql } from 'kysely';
import type { Money } from '../../domain/money.ts';
import { placePaidHold } from '../../ledger/store/holds.ts';
import {
  ensureSystemAccounts,
  ensureWallet,
  exchangeEntries,
  transfer,
  walletAccount,
  type LedgerEntry,
} from '../../ledger/store/ledger.ts';
import {
  atLockedRate,
  decideBooking,
  NO_CHANGE,
  type BookedPayment,
  type BookingDecision,
  type ReceivedMoney,
} from '../../payments/booking-rules.ts';
import { lockPayment } from '../../payments/store/lock-order.ts';
import {
  flagMoney,
  wasReceivedAndReversed,
  reversedKey,
  closeFundingPaid,
  closeFundingUnpaid,
  type PaymentRow,
} from '../../payments/store/payments.ts';
import { createRefund, refundedMinor } from '../../payments/store/refunds.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import {
  subscribers,
  newPendingMessages,
  enqueueWebhook,
  type PendingMessages,
} from '../../webhooks/store/messages.ts';
import { handOnChange, statusChangeQueries, type StatusChange } from './messages.ts';
import { closeUnpaid } from './purchases.ts';

export interface SeenCharge extends ReceivedMoney {
  readonly gatewayId: string;
  readonly gatewayStatus: string;
}

/** One check's news about a payment, judged under the payment's lock. */
interface Booking {
  readonly trx: WorldDb;
  readonly payment: PaymentRow;
  readonly facts: BookedPayment;
  readonly seen: SeenCharge;
  readonly decision: BookingDecision;
  readonly pending: PendingMessages;
}

/**
 * Judges what the gateway has and books what is new, in one transaction under the payment's lock. `askedAt`: when the gateway was asked. An answer to an
 * earlier question than the newest that is booked is not used and is reported as outdated: clocks differ, so it may be the newer one.
 */
export async function bookSeen(
  db: WorldDb,
  reference: string,
  seen: SeenCharge,
  askedAt: Date,
  pending: PendingMessages = newPendingMessages(),
): Promise<BookingDecision> {
  return db.transaction().execute(async (trx) => {
    const { payment, isAwaited } = await lockPayment(trx, reference);
    if (payment.seen_at !== null && payment.seen_at > askedAt) return { ...NO_CHANGE, isOutdated: true };
    const facts = await factsOf(trx, payment, isAwaited, seen);
    const decision = decideBooking(facts, seen);
    const { toHoldMinor, toWalletMinor, toReturnMinor, reversedMinor, confirmedMinor = 0n } = decision;
    const cameMinor = toHoldMinor + toWalletMinor + toReturnMinor;
    const { subscriber_ids } = await trx
      .updateTable('payments')
      .set({
        gateway_id: seen.gatewayId,
        gateway_status: seen.gatewayStatus,
        seen_at: askedAt,
        looked_at: sql<Date>`greatest(looked_at, ${askedAt})`,
        booked_minor: payment.booked_minor + cameMinor,
        booked_currency: cameMinor > 0n ? seen.currency : payment.booked_currency,
        paid_hold: payment.paid_hold || toHoldMinor > 0n,
        evidence_minor: payment.evidence_minor - confirmedMinor,
        reversed_minor: payment.reversed_minor + reversedMinor,
        updated_at: sql`now()`,
      })
      .where('reference', '=', reference)
      .returning(subscribers('payment.received', sql.ref('payments.account_id')).as('subscriber_ids'))
      .executeTakeFirstOrThrow();
    if (decision.what !== undefined) await book({ trx, payment, facts, seen, decision, pending });
    const came = { amountMinor: cameMinor, currency: seen.currency };
    if (cameMinor > 0n) await enqueuePaymentReceived(trx, payment, came, subscriber_ids, askedAt, pending);
    return decision;
  });
}

async function factsOf(
  trx: WorldDb,
  payment: PaymentRow,
  awaited: boolean,
  seen: SeenCharge,
): Promise<BookedPayment> {
  const isOtherCurrency = payment.booked_currency !== null && payment.booked_currency !== seen.currency;
  return {
    purpose: payment.purpose,
    chargeMinor: payment.charge_minor,
    chargeCurrency: payment.charge_currency,
    priceMinor: payment.price_minor,
    priceCurrency: payment.price_currency,
    // Money of another currency counts as money of its own.
    bookedMinor:
      seen.state === 'paid' && isOtherCurrency ? 0n : payment.booked_minor - payment.evidence_minor,
    evidenceMinor: payment.evidence_minor,
    refundedMinor: await refundedMinor(trx, payment.reference),
    reversedMinor: payment.reversed_minor,
    awaited,
    paidBefore: payment.paid_hold || (!awaited && (await isPaid(trx, payment.transaction_id))),
    wasReceivedAndReversed:
      seen.state === 'reversed' && (await wasReceivedAndReversed(trx, payment.reference, seen.currency)),
  };
}

/** Whether one of its payments has paid this purchase. */
async function isPaid(trx: WorldDb, transactionId: string): Promise<boolean> {
  const paid = await trx
    .selectFrom('payments')
    .select('reference')
    .where('transaction_id', '=', transactionId)
    .where('paid_hold', '=', true)
    .executeTakeFirst();
  return paid !== undefined;
}

async function book(booking: Booking): Promise<void> {
  const { trx, payment, facts, seen, decision } = booking;
  const { transaction_id: transactionId, account_id: accountId, reference } = payment;
  const { toHoldMinor, toWalletMinor, toReturnMinor, confirmedMinor = 0n } = decision;
  await changeSubject(booking);
  await ensureSystemAccounts(trx, seen.currency);
  await ensureWallet(trx, accountId, payment.price_currency);
  const booked = facts.bookedMinor + confirmedMinor + toHoldMinor + toWalletMinor + toReturnMinor;
  const operationKey =
    decision.what === 'payment-reversed'
      ? reversedKey(reference, seen.currency, payment.reversed_minor + decision.reversedMinor)
      : `${reference}:received:${seen.currency}:${booked}`;
  const entries = entriesOf(booking);
  if (entries.length > 0) {
    const done = await transfer(trx, {
      operationKey,
      kind: decision.what ?? 'payment',
      transactionId,
      entries,
    });
    // The rows would contradict the ledger.
    if (done === 'already') throw new Error(`${operationKey} is booked already`);
  }
  if (toHoldMinor > 0n) {
    const amount = { amountMinor: payment.price_minor, currency: payment.price_currency };
    await placePaidHold(trx, { id: transactionId, accountId, amount });
  }
  if (toReturnMinor > 0n) {
    // Such money may come more than once: each time is a refund of its own.
    const cause = facts.bookedMinor === 0n ? 'other-currency' : `other-currency-${booked}`;
    await createRefund(trx, payment, { amountMinor: toReturnMinor, currency: seen.currency }, cause);
  }
}

/** Before the ledger, which locks the wallet: the wallet comes last (lock-order.ts). */
async function changeSubject({ trx, payment, decision, pending }: Booking): Promise<void> {
  const { transaction_id, purpose, reference } = payment;
  const { what, ends, toHoldMinor, toWalletMinor, reversedMinor } = decision;
  if (purpose === 'funding') {
    if (ends !== undefined) await closeFundingUnpaid(trx, transaction_id, ends);
    // Money for an open funding makes it a success: its amount is what the ledger says.
    if (toWalletMinor !== 0n) await closeFundingPaid(trx, transaction_id);
  } else {
    if (what !== undefined)
      await trx.insertInto('purchase_events').values({ transaction_id, what, detail: reference }).execute();
    if (ends !== undefined) await closeUnpaid(trx, transaction_id, ends, pending);
    else if (toHoldMinor > 0n) await markPaid(trx, transaction_id, pending);
  }
  if (reversedMinor > 0n) await flagMoney(trx, transaction_id, 'PAYMENT_REVERSED');
}

/** Moves the money from the gateway's account to where the decision says; conversions go over the exchange accounts. */
function entriesOf({ payment, facts, seen: { currency }, decision }: Booking): LedgerEntry[] {
  const { toHoldMinor, toWalletMinor, toReturnMinor, reversedMinor, confirmedMinor = 0n } = decision;
  const { price_currency: price } = payment;
  const entry = (account: string, amountMinor: bigint, of: string = currency) => ({
    account,
    currency: of,
    amountMinor,
  });
  const [clearing, suspense] = [`gateway-clearing:${currency}`, `suspense:${currency}`];
  const passing = decision.receivedAndReversedMinor;
  // It came and was taken back before we saw it: nothing stays, and the ledger shows that it was here.
  if (passing > 0n)
    return [
      entry(clearing, -passing),
      entry(suspense, passing),
      entry(suspense, -passing),
      entry(clearing, passing),
    ];
  const walletMinor = atLockedRate(toWalletMinor, facts);
  const heldMinor = toHoldMinor > 0n ? payment.price_minor : 0n;
  const converted = toHoldMinor + toWalletMinor;
  return [
    entry(clearing, reversedMinor - converted - toReturnMinor - confirmedMinor),
    entry(`evidence:${currency}`, confirmedMinor),
    ...exchangeEntries(
      { amountMinor: converted, currency },
      { amountMinor: heldMinor + walletMinor, currency: price },
    ),
    entry(`held:${price}`, heldMinor, price),
    entry(walletAccount(payment.account_id), walletMinor, price),
    entry(suspense, toReturnMinor - reversedMinor),
  ].filter(({ amountMinor }) => amountMinor !== 0n);
}

/** The money that a purchase waited for is held: delivery begins, and the webhook is enqueued. */
export async function markPaid(
  trx: WorldDb,
  transactionId: string,
  pending: PendingMessages = newPendingMessages(),
): Promise<void> {
  const { change, event, result } = statusChangeQueries(
    'paid',
    sql`
      update purchases set status = 'PROCESSING', updated_at = now()
       where transaction_id = ${transactionId} and status = 'PENDING'`,
  );
  const { rows } = await sql<StatusChange>`with ${change}, ${event} select ${result}`.execute(trx);
  if (rows[0]) await handOnChange(trx, transactionId, rows[0], pending);
}

/** Enqueues `payment.received`, wherever the money goes. */
export async function enqueuePaymentReceived(
  trx: WorldDb,
  payment: PaymentRow,
  came: Money,
  subscriberIds: string[] | null,
  at: Date,
  pending: PendingMessages,
): Promise<void> {
  const { reference, transaction_id: transactionId, purpose, method } = payment;
  const webhook = {
    event: 'payment.received',
    // The sum distinguishes one receipt from the next.
    key: `${reference}:${came.currency}:${payment.booked_minor + came.amountMinor}`,
    subject: transactionId,
    accountId: payment.account_id,
    subscribers: subscriberIds,
    facts: { transactionId, purpose, paymentMethod: method, reference, ...came },
    at,
  } as const;
  await enqueueWebhook(trx, webhook, pending);
}
