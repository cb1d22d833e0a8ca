/**
 * What each operator action does to the rows and the books, in the transaction that also records it. The rules of the ledger decide: a hold
 * is posted or voided once, a transfer is booked once, a wallet never goes below zero.
 */
import { sql } from 'kysely';
import type { OperatorAction } from '../../accounts/operators/action-table.ts';
import type { Money } from '../../domain/money.ts';
import { postHold, placePaidHold } from '../../ledger/store/holds.ts';
import {
  exchangeEntries,
  transfer,
  walletAccount,
  ensureSystemAccounts,
  ensureWallet,
  type LedgerEntry,
} from '../../ledger/store/ledger.ts';
import { lockWalletFor, enqueueLowBalance } from '../../ledger/store/low-balance.ts';
import {
  closeFundingPaid,
  closeFundingUnpaid,
  closePayment,
  type PaymentRow,
} from '../../payments/store/payments.ts';
import {
  creditRefundAs,
  createRefund,
  tryRefundAgain,
  closeRefund,
  type RefundRow,
} from '../../payments/store/refunds.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { markPaid, enqueuePaymentReceived } from '../../purchases/store/payment-bookings.ts';
import { closeUnpaid, failPurchaseIn } from '../../purchases/store/purchases.ts';
import { newPendingMessages, subscribers } from '../../webhooks/store/messages.ts';
import type { Ended } from '../rules.ts';
import { settleClaim, clearAttention, ensureAccount, formatMoney } from './dispute-settlement.ts';
import { replacePackage } from './replacement.ts';
import { GOODWILL, inPrice, payingPayment, type ActionSubject, type ActionEffect } from './subject.ts';
import type { ActionRow } from './tables.ts';

/** Checks have done their work before: only the record is left. */
const asked: ActionEffect = () => Promise.resolve({ did: 'asked' });

export const EFFECTS: Record<OperatorAction, ActionEffect> = {
  'look-at-gateway': asked,
  'look-at-supplier': asked,
  'retry-delivery': settleDelivered,
  'deliver-other': replacePackage,
  'mark-paid': markPaidByHand,
  'refund-to-source': refundToSource,
  'credit-wallet': creditWallet,
  cancel,
  'settle-claim': settleClaim,
};

/** Delivered before, its money still on hold: the hold is posted. Where it is not delivered yet, the workflow has retried. */
async function settleDelivered(
  trx: WorldDb,
  _action: ActionRow,
  { purchase, hold }: ActionSubject,
): Promise<Ended> {
  if (purchase?.status !== 'SUCCESS' || hold?.status !== 'HELD') return { did: 'asked' };
  await postHold(trx, purchase.transaction_id, {
    supplier: purchase.supplier ?? '',
    costUsdE4: purchase.cost_usd_e4,
  });
  return { did: `settled: the hold of ${formatMoney(amountOf(hold))} is posted` };
}

async function cancel(trx: WorldDb, action: ActionRow, subject: ActionSubject, now: Date): Promise<Ended> {
  const { transactionId, facts } = subject;
  if (facts.status === 'PENDING') {
    const close = facts.purpose === 'purchase' ? closeUnpaid : closeFundingUnpaid;
    const closed = await close(trx, transactionId, 'CANCELLED_BY_OPERATOR');
    return closed === 'paid' ? { refusal: 'DOES_NOT_FIT' } : { did: 'cancelled: nothing was paid' };
  }
  if (facts.holdsMoney) {
    await failAndRefund(trx, action, 'source');
    return { did: `cancelled: ${formatMoney(subject.price)} go back to where they came from` };
  }
  for (const payment of subject.payments) await closePayment(trx, payment.reference, now);
  await clearAttention(trx, transactionId, ['PAYMENT_STILL_OPEN']);
  return { did: 'closed; no further payment expected' };
}

const failAndRefund = (trx: WorldDb, { id, transaction_id }: ActionRow, to: 'source' | 'wallet') =>
  failPurchaseIn(trx, transaction_id, { reason: 'CANCELLED_BY_OPERATOR', detail: id }, { to });

async function refundToSource(trx: WorldDb, action: ActionRow, subject: ActionSubject): Promise<Ended> {
  const { facts, openRefunds, walletPayment } = subject;
  if (facts.status === 'PROCESSING') {
    await failAndRefund(trx, action, 'source');
    return { did: `${formatMoney(amountOf(action))} go back to where they came from` };
  }
  if (facts.openRefund === 'due' || facts.openRefund === 'on-its-way')
    return { did: 'refund in progress; the gateway is checked' };
  if (facts.openRefund !== null) {
    const isSeenSent = action.evidence !== null;
    const act = isSeenSent ? closeRefundByHand : tryRefundAgain;
    for (const refund of openRefunds) await act(trx, refund);
    return { did: isSeenSent ? 'closed as sent, by the evidence' : 'the gateway is asked again' };
  }
  if (walletPayment) return takeFromWallet(trx, action, walletPayment);
  const payment = payingPayment(subject);
  return payment ? takeFromEarned(trx, action, subject, payment) : { refusal: 'NOTHING_TO_RETURN' };
}

/** Refunds money that was credited, as far as the wallet still holds it. Also enqueues the low-balance webhook. */
async function takeFromWallet(trx: WorldDb, action: ActionRow, payment: PaymentRow): Promise<Ended> {
  const amount = amountOf(action);
  const credit = { amountMinor: inPrice(payment, amount.amountMinor), currency: payment.price_currency };
  const wallet = await lockWalletFor(trx, payment.account_id, credit);
  if (!wallet || wallet.balance_minor < credit.amountMinor) return { refusal: 'WALLET_TOO_LOW' };
  const { account_id: accountId, price_currency: currency } = payment;
  const booking = { key: action.id, subject: action.transaction_id, accountId, currency };
  // The caller collects the pending messages of this purchase or funding.
  await enqueueLowBalance(trx, booking, wallet, newPendingMessages());
  await toSuspense(trx, action, walletAccount(accountId), credit, amount);
  await createRefund(trx, payment, amount, `wallet-${shortId(action)}`);
  return { did: `${formatMoney(amount)} go back to where they came from, out of the wallet` };
}

/** A gift: what was delivered stays delivered, and what it earned is given up. */
async function takeFromEarned(
  trx: WorldDb,
  action: ActionRow,
  { facts, transactionId }: ActionSubject,
  payment: PaymentRow,
): Promise<Ended> {
  const amount = amountOf(action);
  const wantedMinor = inPrice(payment, amount.amountMinor);
  const earnedMinor = facts.earned?.amountMinor ?? 0n;
  // Parts are rounded each by itself: together they may be one minor unit more than the whole.
  if (wantedMinor > earnedMinor + 1n) return { refusal: 'AMOUNT_TOO_HIGH' };
  const credit = {
    amountMinor: wantedMinor > earnedMinor ? earnedMinor : wantedMinor,
    currency: payment.price_currency,
  };
  await toSuspense(trx, action, `revenue:${payment.price_currency}`, credit, amount);
  await createRefund(trx, payment, amount, `${GOODWILL}-${shortId(action)}`);
  await recordEvent(trx, transactionId, 'goodwill-refund', formatMoney(amount));
  return { did: `${formatMoney(amount)} go back to where they came from, as goodwill` };
}

/** Gives up money of an account, in its own currency, for money on its way to the gateway. */
const toSuspense = (trx: WorldDb, action: ActionRow, account: string, from: Money, to: Money) =>
  bookAction(trx, action, [
    { account, ...negative(from) },
    ...exchangeEntries(from, to),
    { account: `suspense:${to.currency}`, ...to },
  ]);

const negative = ({ amountMinor, currency }: Money): Money => ({ amountMinor: -amountMinor, currency });

async function creditWallet(trx: WorldDb, action: ActionRow, subject: ActionSubject): Promise<Ended> {
  const { facts, transactionId, accountId } = subject;
  const amount = amountOf(action);
  const done = { did: `${formatMoney(amount)} are in the wallet` };
  if (facts.status === 'PROCESSING') {
    await failAndRefund(trx, action, 'wallet');
    return done;
  }
  if (facts.openRefund !== null) {
    const [refund] = subject.openRefunds;
    return refund && (await creditRefundAs(trx, refund, amount)) ? done : { refusal: 'NOTHING_TO_RETURN' };
  }
  await bookAction(trx, action, [
    { account: `revenue:${amount.currency}`, ...negative(amount) },
    { account: walletAccount(accountId), ...amount },
  ]);
  await recordEvent(trx, transactionId, 'goodwill-credit', formatMoney(amount));
  return done;
}

/** Skips zero entries. */
async function bookAction(trx: WorldDb, action: ActionRow, entries: readonly LedgerEntry[]): Promise<void> {
  await transfer(trx, {
    operationKey: action.id,
    kind: action.move,
    transactionId: action.transaction_id,
    reason: action.reason,
    entries: entries.filter((entry) => entry.amountMinor !== 0n),
  });
}

async function recordEvent(trx: WorldDb, transactionId: string, what: string, detail: string): Promise<void> {
  await trx.insertInto('purchase_events').values({ transaction_id: transactionId, what, detail }).execute();
}

/** Of an action: as it was recorded when the action began. */
function amountOf({ amount_minor, currency }: Pick<ActionRow, 'amount_minor' | 'currency'>): Money {
  return { amountMinor: amount_minor ?? 0n, currency: currency ?? '' };
}

/** Enough of the id to tell this action's refunds from others. */
const shortId = ({ id }: ActionRow): string => id.slice(-12);

/** A purchase that waits continues to its delivery; what is closed, and a funding, get the money into the wallet. */
async function markPaidByHand(
  trx: WorldDb,
  action: ActionRow,
  subject: ActionSubject,
  now: Date,
): Promise<Ended> {
  const payment = payingPayment(subject);
  if (!payment) return { refusal: 'DOES_NOT_FIT' };
  const { facts, price, transactionId } = subject;
  const charge = { amountMinor: payment.charge_minor, currency: payment.charge_currency };
  const paysHold = facts.purpose === 'purchase' && facts.status === 'PENDING';
  await ensureAccount(trx, 'evidence', charge.currency);
  await ensureSystemAccounts(trx, charge.currency);
  await ensureWallet(trx, payment.account_id, payment.price_currency);
  await transfer(trx, {
    operationKey: action.id,
    kind: 'marked-paid',
    transactionId,
    reason: action.reason,
    entries: [
      { account: `evidence:${charge.currency}`, ...negative(charge) },
      ...exchangeEntries(charge, price),
      { account: paysHold ? `held:${price.currency}` : walletAccount(payment.account_id), ...price },
    ],
  });
  const found = await bookEvidence(trx, payment, paysHold);
  if (paysHold) {
    await placePaidHold(trx, { id: transactionId, accountId: payment.account_id, amount: price });
    await markPaid(trx, transactionId, newPendingMessages());
  } else if (facts.purpose === 'funding') {
    await closeFundingPaid(trx, transactionId);
  }
  await enqueuePaymentReceived(trx, payment, charge, found, now, newPendingMessages());
  // A funding has no timeline.
  if (facts.purpose === 'purchase')
    await recordEvent(trx, transactionId, 'payment-vouched-for', payment.reference);
  const to = paysHold ? 'it is delivered now' : 'it is in the wallet';
  return { did: `marked as paid with ${formatMoney(charge)}; ${to}` };
}

/** Returns the endpoints that subscribe to it. */
async function bookEvidence(trx: WorldDb, payment: PaymentRow, paysHold: boolean): Promise<string[] | null> {
  const row = await trx
    .updateTable('payments')
    .set({
      booked_minor: payment.booked_minor + payment.charge_minor,
      booked_currency: payment.charge_currency,
      evidence_minor: payment.charge_minor,
      paid_hold: payment.paid_hold || paysHold,
      updated_at: sql`now()`,
    })
    .where('reference', '=', payment.reference)
    .returning(subscribers('payment.received', sql.ref('payments.account_id')).as('subscribers'))
    .executeTakeFirstOrThrow();
  return row.subscribers;
}

/** A refund that a person has seen sent, or has paid out by hand. Safe to repeat. */
async function closeRefundByHand(trx: WorldDb, refund: RefundRow): Promise<void> {
  if (!(await closeRefund(trx, refund, 'DONE'))) return;
  const amount = amountOf(refund);
  await ensureAccount(trx, 'evidence', amount.currency);
  await transfer(trx, {
    operationKey: `${refund.refund_key}:by-hand`,
    kind: 'refund-by-hand',
    transactionId: refund.transaction_id,
    entries: [
      { account: `suspense:${amount.currency}`, ...negative(amount) },
      { account: `evidence:${amount.currency}`, ...amount },
    ],
  });
}
