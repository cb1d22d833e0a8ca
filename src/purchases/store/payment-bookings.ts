/**
 * Books what the gateway has, once, no matter which check sees it first: webhook, confirm-payment, poll or
 * sweep.
 */
import { findOwn } from '../../payments/store/own.ts';
import { sql } from 'kysely';
import type { Money } from '../../domain/money.ts';
import { placePaidHold } from '../../ledger/store/holds.ts';
import {
  clearingAccount,
  ensureSystemAccounts,
  ensureWallet,
  exchangeEntries,
  transfer,
  withoutZeros,
  type LedgerEntry,
} from '../../ledger/store/ledger.ts';
import { creditEntries } from '../../ledger/store/owed.ts';
import {
  decideBooking,
  NO_CHANGE,
  type BookedPayment,
  type BookingDecision,
  type ReceivedMoney,
} from '../../payments/booking-rules.ts';
import { assignments, partInPrice } from '../../payments/store/account.ts';
import { eventsCheckedBefore } from '../../payments/store/gateway-events.ts';
import { lockPayment } from '../../payments/store/lock-order.ts';
import {
  flagMoney,
  reversedKey,
  closeFundingPaid,
  closeFundingUnpaid,
  type PaymentRow,
} from '../../payments/store/payments.ts';
import { createRefund, otherCurrencyMinor } from '../../payments/store/refunds.ts';
import { takeBack } from '../../payments/store/reversals.ts';
import { callFunction } from '../../platform/database/functions.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { subscribers, enqueueWebhook } from '../../webhooks/store/messages.ts';
import { closeUnpaid } from './purchases.ts';

export interface SeenCharge extends ReceivedMoney {
  readonly gatewayId: string;
  readonly gatewayStatus: string;
}

/** One check's news about a payment, judged under the payment's lock. */
interface Booking {
  readonly trx: WorldDb;
  /** As it was before. */
  readonly payment: PaymentRow;
  readonly facts: BookedPayment;
  readonly seen: SeenCharge;
  readonly decision: BookingDecision;
}

/**
 * Judges what the gateway has and books what is new, in one transaction under the payment's lock.
 * `checkNumber` was drawn before the gateway was asked. An answer to an earlier question than the newest that
 * is booked is not used and is reported as outdated. Events that came before the check are done with it.
 */
export async function bookSeen(
  db: WorldDb,
  reference: string,
  seen: SeenCharge,
  checkNumber: bigint,
): Promise<BookingDecision> {
  return db.transaction().execute(async (trx) => {
    const { payment, isAwaited } = await lockPayment(trx, reference);
    if (payment.check_number >= checkNumber) return { ...NO_CHANGE, isOutdated: true };
    const facts = await factsOf(trx, payment, isAwaited, seen);
    const decision = decideBooking(facts, seen);
    const isCharged = seen.currency === payment.charge_currency;
    const { receivedMinor, receivedAndReversedMinor } = decision;
    const { rows } = await sql<{ subscriber_ids: string[] | null; at: Date }>`
      with done as (${eventsCheckedBefore(payment, checkNumber, ['charge', 'refund'])})
      update payments
         set gateway_id = ${seen.gatewayId}, gateway_status = ${seen.gatewayStatus}, check_number = ${checkNumber},
             checked_at = clock_timestamp(), paid_hold = paid_hold or ${decision.toHoldMinor > 0n},
             other_currency = case when ${!isCharged && receivedMinor > 0n} then ${seen.currency} else other_currency end,
             ${assignments(
               isCharged
                 ? {
                     received: receivedMinor,
                     vouched: -decision.confirmedMinor,
                     credited: decision.toWalletMinor,
                     reversed: receivedAndReversedMinor,
                   }
                 : {},
             )}
       where reference = ${reference}
      returning ${subscribers('payment.received', sql.ref('payments.account_id'))} as subscriber_ids, clock_timestamp() as at`.execute(
      trx,
    );
    const [row] = rows;
    if (!row) throw new Error(`no payment ${reference}`);
    const received = {
      amountMinor: receivedMinor - decision.confirmedMinor - receivedAndReversedMinor,
      currency: seen.currency,
    };
    if (received.amountMinor > 0n)
      await enqueuePaymentReceived(trx, payment, received, {
        subscriberIds: row.subscriber_ids,
        at: row.at,
        beforeMinor: facts.receivedMinor + facts.vouchedMinor,
      });
    // After the event of the payment, from which those of the purchase follow.
    if (decision.what !== undefined) await book({ trx, payment, facts, seen, decision });
    return decision;
  });
}

async function factsOf(
  trx: WorldDb,
  payment: PaymentRow,
  awaited: boolean,
  seen: SeenCharge,
): Promise<BookedPayment> {
  const isCharged = seen.currency === payment.charge_currency;
  // Money of another currency is a refund from the moment it is booked.
  const other = isCharged ? undefined : await otherCurrencyMinor(trx, payment.reference, seen.currency);
  return {
    purpose: payment.purpose,
    chargeMinor: payment.charge_minor,
    chargeCurrency: payment.charge_currency,
    priceMinor: payment.price_minor,
    priceCurrency: payment.price_currency,
    receivedMinor: other?.receivedMinor ?? payment.received_minor,
    vouchedMinor: other ? 0n : payment.vouched_minor,
    refundedMinor: other?.refundedMinor ?? payment.refunding_minor + payment.refunded_minor,
    reversedMinor: other?.reversedMinor ?? payment.reversed_minor,
    awaited,
    paidBefore: payment.paid_hold || (!awaited && (await isPaid(trx, payment.transaction_id))),
  };
}

/** Whether one of its payments has paid this purchase or funding. */
async function isPaid(trx: WorldDb, transactionId: string): Promise<boolean> {
  const { rows } = await sql`
    select from payments where transaction_id = ${transactionId} and paid_hold
     union all select from fundings where transaction_id = ${transactionId} and status = 'SUCCESS'`.execute(
    trx,
  );
  return rows.length > 0;
}

async function book(booking: Booking): Promise<void> {
  const { trx, payment, facts, seen, decision } = booking;
  const { transaction_id: transactionId, account_id: accountId, reference } = payment;
  await changeSubject(booking);
  await ensureSystemAccounts(trx, payment.gateway, seen.currency);
  await ensureWallet(trx, accountId, payment.price_currency);
  const receivedMinor = facts.receivedMinor + decision.receivedMinor;
  const entries = withoutZeros(await entriesOf(booking));
  if (entries.length > 0) {
    const takenMinor = decision.reversedMinor + decision.receivedAndReversedMinor;
    const done = await transfer(trx, {
      operationKey:
        takenMinor > 0n
          ? reversedKey(reference, seen.currency, facts.reversedMinor + takenMinor)
          : `${reference}:received:${seen.currency}:${receivedMinor}`,
      kind: decision.what ?? 'payment',
      transactionId,
      entries,
    });
    // The rows would contradict the ledger.
    if (done === 'already') throw new Error(`${reference}: ${decision.what ?? ''} is booked already`);
  }
  if (decision.toHoldMinor > 0n) {
    const amount = { amountMinor: payment.price_minor, currency: payment.price_currency };
    await placePaidHold(trx, { id: transactionId, accountId, amount });
  }
  if (decision.toReturnMinor > 0n) {
    // Such money may come more than once: each time is a refund of its own.
    const cause = facts.receivedMinor === 0n ? 'other-currency' : `other-currency-${receivedMinor}`;
    await createRefund(trx, payment, { amountMinor: decision.toReturnMinor, currency: seen.currency }, cause);
  }
}

/** Before the ledger, which locks the wallet: the wallet comes last (lock-order.ts). */
async function changeSubject({ trx, payment, decision }: Booking): Promise<void> {
  const { transaction_id, purpose, reference } = payment;
  const { what, ends, toHoldMinor, toWalletMinor, reversedMinor } = decision;
  if (purpose === 'funding') {
    if (ends !== undefined) await closeFundingUnpaid(trx, transaction_id, ends);
    // Money for an open funding makes it a success: its amount is what the ledger says.
    if (toWalletMinor !== 0n) await closeFundingPaid(trx, transaction_id);
  } else {
    if (what !== undefined)
      await trx.insertInto('purchase_events').values({ transaction_id, what, detail: reference }).execute();
    if (ends !== undefined) await closeUnpaid(trx, transaction_id, ends);
    else if (toHoldMinor > 0n) await markPaid(trx, transaction_id);
  }
  if (reversedMinor > 0n) await flagMoney(trx, transaction_id, 'PAYMENT_REVERSED');
}

/**
 * Moves the money from the gateway's account to where the decision says; conversions go over the exchange
 * accounts.
 */
async function entriesOf({ trx, payment, seen: { currency }, decision }: Booking): Promise<LedgerEntry[]> {
  const { toHoldMinor, toWalletMinor, toReturnMinor, reversedMinor, confirmedMinor } = decision;
  const { price_currency: price } = payment;
  const entry = (account: string, amountMinor: bigint, of: string = currency): LedgerEntry => ({
    account,
    currency: of,
    amountMinor,
  });
  const [clearing, suspense] = [clearingAccount(payment.gateway, currency), `suspense:${currency}`];
  const passing = decision.receivedAndReversedMinor;
  const walletMinor =
    currency === payment.charge_currency
      ? partInPrice(payment, payment.credited_minor + toWalletMinor, toWalletMinor)
      : 0n;
  const heldMinor = toHoldMinor > 0n ? payment.price_minor : 0n;
  const converted = toHoldMinor + toWalletMinor;
  return [
    // Received and reversed before we saw it: nets to zero, and the ledger shows both.
    entry(clearing, -passing),
    entry(suspense, passing),
    entry(suspense, -passing),
    entry(clearing, passing),
    entry(clearing, -converted - toReturnMinor - confirmedMinor),
    entry(`evidence:${currency}`, confirmedMinor),
    ...exchangeEntries(
      { amountMinor: converted, currency },
      { amountMinor: heldMinor + walletMinor, currency: price },
    ),
    entry(`held:${price}`, heldMinor, price),
    entry(suspense, toReturnMinor),
    ...(reversedMinor > 0n
      ? await takeBack(trx, payment.reference, { amountMinor: reversedMinor, currency })
      : []),
    ...(await creditEntries(trx, payment.account_id, { amountMinor: walletMinor, currency: price })),
  ];
}

/** The money that a purchase waited for is held: delivery begins, and the webhook is enqueued. */
export async function markPaid(trx: WorldDb, transactionId: string): Promise<void> {
  await callFunction(trx, 'mark_paid', { transaction_id: transactionId });
}

/** Enqueues `payment.received`, wherever the money goes. */
export async function enqueuePaymentReceived(
  trx: WorldDb,
  payment: PaymentRow,
  received: Money,
  {
    subscriberIds,
    at,
    beforeMinor,
  }: {
    readonly subscriberIds: string[] | null;
    readonly at: Date;
    /** What was booked of it before. */
    readonly beforeMinor: bigint;
  },
): Promise<void> {
  const { reference, transaction_id: transactionId, purpose, method } = payment;
  const webhook = {
    event: 'payment.received',
    // The sum distinguishes one receipt from the next.
    key: `${reference}:${received.currency}:${beforeMinor + received.amountMinor}`,
    subject: transactionId,
    accountId: payment.account_id,
    subscribers: subscriberIds,
    facts: {
      ...{ transactionId, purpose, paymentMethod: method, gatewayReference: reference, ...received },
      ...(await findOwn(trx, transactionId)),
    },
    at,
  } as const;
  await enqueueWebhook(trx, webhook);
}
