/**
 * What the gateway has, judged under the payment's lock and booked once, whoever looked first: webhook, confirm-payment, poll or sweep. One
 * transaction a look.
 */
import { sql } from 'kysely';
import {
  atLockedRate,
  judgePayment,
  type BookedPayment,
  type Judgement,
  type ReceivedMoney,
} from '../domain/payment.ts';
import { closeFundingUnpaid } from './fundings.ts';
import {
  ensureSystemAccounts,
  ensureWallet,
  exchangeEntries,
  placePaidHold,
  transfer,
  walletAccount,
  type LedgerEntry,
} from './ledger.ts';
import { flagMoney, lockPayment, type PaymentRow } from './payments.ts';
import { closeUnpaid } from './purchases.ts';
import { dueRefund, refundedMinor } from './refunds.ts';
import type { WorldDb } from './tables.ts';

export interface SeenCharge extends ReceivedMoney {
  readonly gatewayId: string;
  readonly gatewayStatus: string;
}

/** Judges what the gateway has and books what is new, in one transaction under the payment's lock. */
export async function bookSeen(
  db: WorldDb,
  reference: string,
  seen: SeenCharge,
  now: Date,
): Promise<Judgement> {
  return db.transaction().execute(async (trx) => {
    const payment = await lockPayment(trx, reference);
    const facts = await factsOf(trx, payment, seen);
    const judgement = judgePayment(facts, seen);
    const cameMinor = judgement.toHoldMinor + judgement.toWalletMinor + judgement.toReturnMinor;
    await trx
      .updateTable('payments')
      .set({
        gateway_id: seen.gatewayId,
        gateway_status: seen.gatewayStatus,
        looked_at: now,
        ...(cameMinor > 0n
          ? {
              booked_minor: payment.booked_minor + cameMinor,
              booked_currency: seen.currency,
              paid_hold: payment.paid_hold || judgement.toHoldMinor > 0n,
            }
          : {}),
        ...(judgement.reversedMinor > 0n
          ? { reversed_minor: payment.reversed_minor + judgement.reversedMinor }
          : {}),
        updated_at: now,
      })
      .where('reference', '=', reference)
      .execute();
    if (judgement.what !== undefined) await book(trx, payment, facts, seen, judgement);
    return judgement;
  });
}

async function factsOf(trx: WorldDb, payment: PaymentRow, seen: SeenCharge): Promise<BookedPayment> {
  const awaited = await isAwaited(trx, payment);
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
        : payment.booked_minor,
    refundedMinor: refunded,
    reversedMinor: payment.reversed_minor,
    awaited,
  };
}

/** Locks what waits, so that closing it unpaid and paying it cannot both win. */
async function isAwaited(trx: WorldDb, payment: PaymentRow): Promise<boolean> {
  const table = payment.purpose === 'purchase' ? 'purchases' : 'fundings';
  const row = await trx
    .selectFrom(table)
    .select('status')
    .where('transaction_id', '=', payment.transaction_id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row?.status === 'PENDING';
}

async function book(
  trx: WorldDb,
  payment: PaymentRow,
  facts: BookedPayment,
  seen: SeenCharge,
  judgement: Judgement,
): Promise<void> {
  await ensureSystemAccounts(trx, seen.currency);
  await ensureWallet(trx, payment.account_id, payment.price_currency);
  const booked =
    facts.bookedMinor + judgement.toHoldMinor + judgement.toWalletMinor + judgement.toReturnMinor;
  const moved =
    judgement.what === 'payment-reversed'
      ? `reversed:${seen.currency}:${payment.reversed_minor + judgement.reversedMinor}`
      : `received:${seen.currency}:${booked}`;
  const entries =
    judgement.ends === 'PAYMENT_REVERSED' && judgement.reversedMinor === 0n
      ? passingEntries(seen)
      : entriesOf(payment, facts, seen.currency, judgement);
  if (entries.length > 0) {
    const done = await transfer(trx, {
      operationKey: `${payment.reference}:${moved}`,
      kind: judgement.what ?? 'payment',
      transactionId: payment.transaction_id,
      entries,
    });
    // The rows would say what the ledger does not.
    if (done === 'already') throw new Error(`${payment.reference} has booked ${moved} before`);
  }
  if (judgement.toHoldMinor > 0n)
    await placePaidHold(trx, {
      id: payment.transaction_id,
      accountId: payment.account_id,
      amount: { amountMinor: payment.price_minor, currency: payment.price_currency },
    });
  if (judgement.toReturnMinor > 0n)
    await dueRefund(
      trx,
      payment,
      { amountMinor: judgement.toReturnMinor, currency: seen.currency },
      // It may come again: each time is a refund of its own.
      facts.bookedMinor === 0n ? 'other-currency' : `other-currency-${booked}`,
    );
  await tellTimeline(trx, payment, judgement);
  if (payment.purpose === 'funding') await settleFunding(trx, payment, judgement);
  else if (judgement.ends !== undefined) await closeUnpaid(trx, payment.transaction_id, judgement.ends);
  else if (judgement.toHoldMinor > 0n) await markPaid(trx, payment.transaction_id);
  if (judgement.reversedMinor > 0n) await flagMoney(trx, payment.transaction_id, 'PAYMENT_REVERSED');
}

/** What came is taken off the gateway's account and put where the judgement says; conversions go over the exchange accounts. */
function entriesOf(
  payment: PaymentRow,
  facts: BookedPayment,
  currency: string,
  judgement: Judgement,
): LedgerEntry[] {
  const { toHoldMinor, toWalletMinor, toReturnMinor, reversedMinor } = judgement;
  const price = payment.price_currency;
  const walletMinor = atLockedRate(toWalletMinor, facts);
  const heldMinor = toHoldMinor > 0n ? payment.price_minor : 0n;
  const converted = toHoldMinor + toWalletMinor;
  return [
    {
      account: `gateway-clearing:${currency}`,
      currency,
      amountMinor: reversedMinor - converted - toReturnMinor,
    },
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
function passingEntries({ currency, netMinor }: SeenCharge): LedgerEntry[] {
  const clearing = { account: `gateway-clearing:${currency}`, currency };
  const suspense = { account: `suspense:${currency}`, currency };
  if (netMinor <= 0n) return [];
  return [
    { ...clearing, amountMinor: -netMinor },
    { ...suspense, amountMinor: netMinor },
    { ...suspense, amountMinor: -netMinor },
    { ...clearing, amountMinor: netMinor },
  ];
}

async function tellTimeline(trx: WorldDb, payment: PaymentRow, judgement: Judgement): Promise<void> {
  if (payment.purpose === 'funding' || judgement.what === undefined) return;
  await trx
    .insertInto('purchase_events')
    .values({ transaction_id: payment.transaction_id, what: judgement.what, detail: payment.reference })
    .execute();
}

async function markPaid(trx: WorldDb, transactionId: string): Promise<void> {
  await trx
    .updateTable('purchases')
    .set({ status: 'PROCESSING', updated_at: sql`now()` })
    .where('transaction_id', '=', transactionId)
    .where('status', '=', 'PENDING')
    .execute();
}

/** Whatever came into the wallet makes a funding a success: its amount is what the ledger says. */
async function settleFunding(trx: WorldDb, payment: PaymentRow, judgement: Judgement): Promise<void> {
  if (judgement.ends !== undefined) await closeFundingUnpaid(trx, payment.transaction_id, judgement.ends);
  if (judgement.toWalletMinor === 0n) return;
  await trx
    .updateTable('fundings')
    .set({
      status: 'SUCCESS',
      closed_at: sql`now()`,
      updated_at: sql`now()`,
      needs_attention_since: null,
      attention_reason: null,
    })
    .where('transaction_id', '=', payment.transaction_id)
    .where('status', '=', 'PENDING')
    .execute();
}
