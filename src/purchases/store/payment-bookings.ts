/**
 * What the gateway has, judged under the payment's lock and booked once, whoever looked first: webhook, confirm-payment, poll or sweep. One
 * transaction a look.
 */
import { sql } from 'kysely';
import type { Money } from '../../domain/money.ts';
import {
  atLockedRate,
  decideBooking,
  NOTHING,
  type BookedPayment,
  type BookingDecision,
  type ReceivedMoney,
} from '../../payments/rules.ts';
import {
  ensureSystemAccounts,
  ensureWallet,
  exchangeEntries,
  placePaidHold,
  transfer,
  walletAccount,
  type LedgerEntry,
} from '../../ledger/store/ledger.ts';
import { lockPayment } from '../../payments/store/lock-order.ts';
import {
  flagMoney,
  wasReceivedAndReversed,
  reversedKey,
  closeFundingPaid,
  closeFundingUnpaid,
  type PaymentRow,
} from '../../payments/store/payments.ts';
import { CHANGED, changesOf, enqueuePurchaseStatus, type ChangedPurchase } from './messages.ts';
import { closeUnpaid } from './purchases.ts';
import { createRefund, refundedMinor } from '../../payments/store/refunds.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import {
  subscribers,
  newPendingMessages,
  enqueueWebhook,
  type PendingMessages,
} from '../../webhooks/store/messages.ts';

export interface SeenCharge extends ReceivedMoney {
  readonly gatewayId: string;
  readonly gatewayStatus: string;
}

/**
 * Judges what the gateway has and books what is new, in one transaction under the payment's lock. `askedAt`: when the gateway was asked; an answer
 * to an earlier question than the newest that is booked says nothing any more, and is told as outdated: clocks differ, so it may be the newer one.
 */
export async function bookSeen(
  db: WorldDb,
  reference: string,
  seen: SeenCharge,
  askedAt: Date,
  written: PendingMessages = newPendingMessages(),
): Promise<BookingDecision> {
  return db.transaction().execute(async (trx) => {
    const { payment, isAwaited } = await lockPayment(trx, reference);
    if (payment.seen_at !== null && payment.seen_at > askedAt) return { ...NOTHING, isOutdated: true };
    const facts = await factsOf(trx, payment, isAwaited, seen);
    const judgement = decideBooking(facts, seen);
    const cameMinor = judgement.toHoldMinor + judgement.toWalletMinor + judgement.toReturnMinor;
    const { confirmedMinor = 0n } = judgement;
    const { listeners: found } = await trx
      .updateTable('payments')
      .set({
        gateway_id: seen.gatewayId,
        gateway_status: seen.gatewayStatus,
        seen_at: askedAt,
        looked_at: sql<Date>`greatest(looked_at, ${askedAt})`,
        ...(cameMinor > 0n
          ? {
              booked_minor: payment.booked_minor + cameMinor,
              booked_currency: seen.currency,
              paid_hold: payment.paid_hold || judgement.toHoldMinor > 0n,
            }
          : {}),
        ...(confirmedMinor > 0n ? { evidence_minor: payment.evidence_minor - confirmedMinor } : {}),
        ...(judgement.reversedMinor > 0n
          ? { reversed_minor: payment.reversed_minor + judgement.reversedMinor }
          : {}),
        updated_at: sql`now()`,
      })
      .where('reference', '=', reference)
      .returning(subscribers('payment.received', sql.ref('payments.account_id')).as('listeners'))
      .executeTakeFirstOrThrow();
    if (judgement.what !== undefined) await book(trx, payment, facts, seen, judgement, written);
    if (cameMinor > 0n)
      await enqueuePaymentReceived(
        trx,
        payment,
        { amountMinor: cameMinor, currency: seen.currency },
        found,
        askedAt,
        written,
      );
    return judgement;
  });
}

async function factsOf(
  trx: WorldDb,
  payment: PaymentRow,
  awaited: boolean,
  seen: SeenCharge,
): Promise<BookedPayment> {
  const refunded = await refundedMinor(trx, payment.reference);
  return {
    purpose: payment.purpose,
    chargeMinor: payment.charge_minor,
    chargeCurrency: payment.charge_currency,
    priceMinor: payment.price_minor,
    priceCurrency: payment.price_currency,
    // Money of another currency counts as money of its own.
    bookedMinor:
      seen.state === 'paid' && payment.booked_currency !== null && payment.booked_currency !== seen.currency
        ? 0n
        : payment.booked_minor - payment.evidence_minor,
    evidenceMinor: payment.evidence_minor,
    refundedMinor: refunded,
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

async function book(
  trx: WorldDb,
  payment: PaymentRow,
  facts: BookedPayment,
  seen: SeenCharge,
  judgement: BookingDecision,
  written: PendingMessages,
): Promise<void> {
  await changeSubject(trx, payment, judgement, written);
  await ensureSystemAccounts(trx, seen.currency);
  await ensureWallet(trx, payment.account_id, payment.price_currency);
  const booked =
    facts.bookedMinor +
    (judgement.confirmedMinor ?? 0n) +
    judgement.toHoldMinor +
    judgement.toWalletMinor +
    judgement.toReturnMinor;
  const operationKey =
    judgement.what === 'payment-reversed'
      ? reversedKey(payment.reference, seen.currency, payment.reversed_minor + judgement.reversedMinor)
      : `${payment.reference}:received:${seen.currency}:${booked}`;
  const entries = entriesOf(payment, facts, seen.currency, judgement);
  if (entries.length > 0) {
    const done = await transfer(trx, {
      operationKey,
      kind: judgement.what ?? 'payment',
      transactionId: payment.transaction_id,
      entries,
    });
    // The rows would say what the ledger does not.
    if (done === 'already') throw new Error(`${operationKey} is booked already`);
  }
  if (judgement.toHoldMinor > 0n)
    await placePaidHold(trx, {
      id: payment.transaction_id,
      accountId: payment.account_id,
      amount: { amountMinor: payment.price_minor, currency: payment.price_currency },
    });
  if (judgement.toReturnMinor > 0n)
    await createRefund(
      trx,
      payment,
      { amountMinor: judgement.toReturnMinor, currency: seen.currency },
      // It may come again: each time is a refund of its own.
      facts.bookedMinor === 0n ? 'other-currency' : `other-currency-${booked}`,
    );
}

/** Before the ledger, which locks the wallet: the wallet comes last (lock-order.ts). */
async function changeSubject(
  trx: WorldDb,
  payment: PaymentRow,
  judgement: BookingDecision,
  written: PendingMessages,
): Promise<void> {
  await tellTimeline(trx, payment, judgement);
  if (payment.purpose === 'funding') await settleFunding(trx, payment, judgement);
  else if (judgement.ends !== undefined)
    await closeUnpaid(trx, payment.transaction_id, judgement.ends, written);
  else if (judgement.toHoldMinor > 0n) await markPaid(trx, payment.transaction_id, written);
  if (judgement.reversedMinor > 0n) await flagMoney(trx, payment.transaction_id, 'PAYMENT_REVERSED');
}

/** What came is taken off the gateway's account and put where the judgement says; conversions go over the exchange accounts. */
function entriesOf(
  payment: PaymentRow,
  facts: BookedPayment,
  currency: string,
  judgement: BookingDecision,
): LedgerEntry[] {
  const { toHoldMinor, toWalletMinor, toReturnMinor, reversedMinor, receivedAndReversedMinor } = judgement;
  const { confirmedMinor = 0n } = judgement;
  if (receivedAndReversedMinor > 0n) return passingEntries(receivedAndReversedMinor, currency);
  const price = payment.price_currency;
  const walletMinor = atLockedRate(toWalletMinor, facts);
  const heldMinor = toHoldMinor > 0n ? payment.price_minor : 0n;
  const converted = toHoldMinor + toWalletMinor;
  return [
    {
      account: `gateway-clearing:${currency}`,
      currency,
      amountMinor: reversedMinor - converted - toReturnMinor - confirmedMinor,
    },
    { account: `evidence:${currency}`, currency, amountMinor: confirmedMinor },
    ...exchangeEntries(
      { amountMinor: converted, currency },
      { amountMinor: heldMinor + walletMinor, currency: price },
    ),
    { account: `held:${price}`, currency: price, amountMinor: heldMinor },
    { account: walletAccount(payment.account_id), currency: price, amountMinor: walletMinor },
    { account: `suspense:${currency}`, currency, amountMinor: toReturnMinor - reversedMinor },
  ].filter((entry) => entry.amountMinor !== 0n);
}

/** Came and was taken back before anybody saw it: nothing stays, and the ledger shows that it was here. */
function passingEntries(amountMinor: bigint, currency: string): LedgerEntry[] {
  const clearing = { account: `gateway-clearing:${currency}`, currency };
  const suspense = { account: `suspense:${currency}`, currency };
  return [
    { ...clearing, amountMinor: -amountMinor },
    { ...suspense, amountMinor },
    { ...suspense, amountMinor: -amountMinor },
    { ...clearing, amountMinor },
  ];
}

async function tellTimeline(trx: WorldDb, payment: PaymentRow, judgement: BookingDecision): Promise<void> {
  if (payment.purpose === 'funding' || judgement.what === undefined) return;
  await trx
    .insertInto('purchase_events')
    .values({ transaction_id: payment.transaction_id, what: judgement.what, detail: payment.reference })
    .execute();
}

/** The money that a purchase waited for is held: it goes on, and its merchant hears so. */
export async function markPaid(
  trx: WorldDb,
  transactionId: string,
  written: PendingMessages = newPendingMessages(),
): Promise<void> {
  const { rows } = await sql<ChangedPurchase>`
    with paid as (
      update purchases set status = 'PROCESSING', updated_at = now()
       where transaction_id = ${transactionId} and status = 'PENDING'
      returning ${CHANGED}
    )
    select ${changesOf('paid')}`.execute(trx);
  if (rows[0]) await enqueuePurchaseStatus(trx, transactionId, rows[0], written);
}

/** Money came, whatever becomes of it. */
export async function enqueuePaymentReceived(
  trx: WorldDb,
  payment: PaymentRow,
  came: Money,
  found: string[] | null,
  at: Date,
  written: PendingMessages,
): Promise<void> {
  const { reference, transaction_id: transactionId, purpose, method } = payment;
  await enqueueWebhook(
    trx,
    {
      event: 'payment.received',
      // The sum tells one coming from the next.
      key: `${reference}:${came.currency}:${payment.booked_minor + came.amountMinor}`,
      subject: transactionId,
      accountId: payment.account_id,
      subscribers: found,
      facts: { transactionId, purpose, paymentMethod: method, reference, ...came },
      at,
    },
    written,
  );
}

/** Whatever came into the wallet makes a funding a success: its amount is what the ledger says. */
async function settleFunding(trx: WorldDb, payment: PaymentRow, judgement: BookingDecision): Promise<void> {
  if (judgement.ends !== undefined) await closeFundingUnpaid(trx, payment.transaction_id, judgement.ends);
  if (judgement.toWalletMinor === 0n) return;
  await closeFundingPaid(trx, payment.transaction_id);
}
