/** What each operator action does to rows and books, in the transaction that also records it. */
import { sql } from 'kysely';
import type { OperatorAction } from '../../accounts/operators/action-table.ts';
import type { Money } from '../../domain/money.ts';
import type { PurchaseEvent } from '../../domain/states.ts';
import { postHold, placePaidHold } from '../../ledger/store/holds.ts';
import {
  exchangeEntries,
  transfer,
  walletAccount,
  ensureSystemAccounts,
  ensureWallet,
  withoutZeros,
  type LedgerEntry,
} from '../../ledger/store/ledger.ts';
import { creditEntries } from '../../ledger/store/owed.ts';
import { lockWalletFor, enqueueLowBalance } from '../../ledger/store/low-balance.ts';
import { WITHOUT_FRACTION } from '../../payments/rules.ts';
import {
  closeFundingPaid,
  closeFundingUnpaid,
  closePayment,
  type PaymentRow,
} from '../../payments/store/payments.ts';
import {
  creditRefundAs,
  OUT_OF_WALLET,
  createRefund,
  tryRefundAgain,
  closeRefund,
  type RefundRow,
} from '../../payments/store/refunds.ts';
import { assignments, moveMoney, partInPrice } from '../../payments/store/account.ts';
import { earnedPart } from '../../payments/store/risk.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { markPaid, enqueuePaymentReceived } from '../../purchases/store/payment-bookings.ts';
import { closeUnpaid, failPurchaseIn } from '../../purchases/store/purchases.ts';
import { recordReturned, refuseReturn } from '../../purchases/store/returns.ts';
import { subscribers } from '../../webhooks/store/messages.ts';
import type { Ended } from '../rules.ts';
import { settleDispute, setAttention, ensureAccount, formatMoney } from './dispute-settlement.ts';
import { grantReplacement, refuseReplacementByHand } from './replacement.ts';
import { orderOtherPackage } from './other-package.ts';
import { GOODWILL, payingPayment, type ActionSubject, type ActionEffect } from './subject.ts';
import type { ActionRow } from './tables.ts';

/** Checks have done their work before: only the record is left. */
const asked: ActionEffect = () => Promise.resolve({ did: 'asked' });

export const EFFECTS: Record<OperatorAction, ActionEffect> = {
  'check-gateway': asked,
  'check-supplier': asked,
  'retry-delivery': settleDelivered,
  'deliver-other': orderOtherPackage,
  'mark-paid': markPaidByHand,
  'refund-to-source': refundToSource,
  'credit-wallet': creditWallet,
  cancel,
  'grant-return': grantReturn,
  'refuse-return': refuseReturnByHand,
  'grant-replacement': grantReplacement,
  'refuse-replacement': refuseReplacementByHand,
  'settle-dispute': settleDispute,
};

/** Delivered, its money still on hold: the hold is posted. Otherwise the workflow has retried. */
async function settleDelivered(
  trx: WorldDb,
  _action: ActionRow,
  { purchase, hold }: ActionSubject,
): Promise<Ended> {
  if (purchase?.status !== 'SUCCESS') return { did: 'asked' };
  if (hold?.status !== 'HELD') return { did: 'delivered' };
  await postHold(trx, purchase.transaction_id, {
    supplier: purchase.supplier ?? '',
    costUsdE4: purchase.cost_usd_e4,
  });
  return { did: `settled: the hold of ${formatMoney(amountOf(hold))} is posted` };
}

async function cancel(trx: WorldDb, action: ActionRow, subject: ActionSubject): Promise<Ended> {
  const { transactionId, facts } = subject;
  if (facts.status === 'PENDING') {
    const close = facts.purpose === 'purchase' ? closeUnpaid : closeFundingUnpaid;
    const closed = await close(trx, transactionId, 'CANCELLED_BY_OPERATOR');
    return closed === 'paid'
      ? { refusal: 'DOES_NOT_FIT' }
      : { did: `cancelled: nothing was paid${ifPaidLate(subject)}` };
  }
  if (facts.holdsMoney) {
    const back = await failAndRefund(trx, action, 'source');
    if (back?.amountMinor === 0n)
      return { did: 'cancelled; nothing to refund: the bank has taken or disputes all of it' };
    return { did: `cancelled: ${refundOf(back ?? subject.price, subject)}` };
  }
  for (const payment of subject.payments) await closePayment(trx, payment.reference);
  await setAttention(trx, transactionId, ['PAYMENT_STILL_OPEN']);
  return { did: 'closed; no further payment expected' };
}

/** Whoever has the address of a payment page can still pay there until it expires. */
const ifPaidLate = ({ payments }: ActionSubject): string =>
  payments.length === 0 ? '' : '; money that still comes is credited to the wallet';

/** By the supplier's word to a person; otherwise as the step of the return would. */
async function grantReturn(trx: WorldDb, _action: ActionRow, subject: ActionSubject): Promise<Ended> {
  const { facts, transactionId } = subject;
  if (!facts.inReview) return { refusal: 'DOES_NOT_FIT' };
  const open = { id: facts.inReview.returnId, transaction_id: transactionId };
  const returned = await recordReturned(trx, open);
  if (!returned || returned === 'CONTESTED') return { refusal: 'DOES_NOT_FIT' };
  const amount = { amountMinor: returned.amount_minor, currency: returned.currency };
  return {
    did: `returned: ${refundOf(amount, { facts: { ...facts, isThroughGateway: returned.refunded_to === 'SOURCE' } })}`,
  };
}

async function refuseReturnByHand(trx: WorldDb, _action: ActionRow, subject: ActionSubject): Promise<Ended> {
  const { facts, transactionId } = subject;
  if (!facts.inReview) return { refusal: 'DOES_NOT_FIT' };
  const open = { id: facts.inReview.returnId, transaction_id: transactionId };
  return (await refuseReturn(trx, open, 'REFUSED_BY_OPERATOR'))
    ? { did: 'the return is refused; nothing was given back' }
    : { refusal: 'DOES_NOT_FIT' };
}

const refundOf = (amount: Money, { facts }: Pick<ActionSubject, 'facts'>): string =>
  `refund of ${formatMoney(amount)} to ${facts.isThroughGateway ? 'the original payment method' : 'the wallet'}`;

const failAndRefund = (trx: WorldDb, { id, transaction_id }: ActionRow, to: 'source' | 'wallet') =>
  failPurchaseIn(trx, transaction_id, { reason: 'CANCELLED_BY_OPERATOR', detail: id }, { to });

async function refundToSource(trx: WorldDb, action: ActionRow, subject: ActionSubject): Promise<Ended> {
  const { facts, openRefunds, walletPayment } = subject;
  if (facts.status === 'PROCESSING') {
    if (!facts.canGiveBack) return { refusal: 'NOTHING_TO_RETURN' };
    const back = await failAndRefund(trx, action, 'source');
    return { did: refundOf(back ?? subject.price, subject) };
  }
  if (facts.openRefund === 'due' || facts.openRefund === 'on-its-way')
    return { did: 'refund in progress; the gateway is checked' };
  if (facts.openRefund !== null) {
    const isSeenSent = action.evidence !== null;
    const act = isSeenSent ? closeRefundByHand : tryRefundAgain;
    for (const refund of openRefunds) await act(trx, refund);
    return { did: isSeenSent ? 'closed as sent, by the evidence' : 'the gateway is asked again' };
  }
  if (walletPayment) return takeFromWallet(trx, action, subject, walletPayment);
  const payment = payingPayment(subject);
  return payment ? takeFromEarned(trx, action, subject, payment) : { refusal: 'NOTHING_TO_RETURN' };
}

/** Whether a part can be paid out, and is worth something. */
const isPayable = ({ amountMinor, currency }: Money, worthMinor: bigint): boolean =>
  worthMinor > 0n && !(WITHOUT_FRACTION.has(currency) && amountMinor % 100n !== 0n);

/** Refunds money that was credited, as far as the wallet still holds it. */
async function takeFromWallet(
  trx: WorldDb,
  action: ActionRow,
  subject: ActionSubject,
  payment: PaymentRow,
): Promise<Ended> {
  const amount = amountOf(action);
  const { account_id: accountId, price_currency: currency } = payment;
  const credit = { amountMinor: partInPrice(payment, payment.credited_minor, amount.amountMinor), currency };
  if (!isPayable(amount, credit.amountMinor)) return { refusal: 'AMOUNT_NOT_ALLOWED' };
  const wallet = await lockWalletFor(trx, accountId, credit);
  if (!wallet || wallet.balance_minor < credit.amountMinor) return { refusal: 'WALLET_TOO_LOW' };
  await moveMoney(trx, payment.reference, { credited: -amount.amountMinor });
  await createRefund(trx, payment, amount, `${OUT_OF_WALLET}${shortId(action)}`);
  const booking = { key: action.id, subject: action.transaction_id, accountId, currency };
  await enqueueLowBalance(trx, booking, wallet);
  await toSuspense(trx, action, walletAccount(accountId), credit, amount);
  return { did: `${refundOf(amount, subject)}, out of the wallet` };
}

/** A gift: what was delivered stays delivered, and what it earned is given up. */
async function takeFromEarned(
  trx: WorldDb,
  action: ActionRow,
  subject: ActionSubject,
  payment: PaymentRow,
): Promise<Ended> {
  const { facts, transactionId } = subject;
  const amount = amountOf(action);
  if (amount.amountMinor > payment.used_minor || facts.earned === null) return { refusal: 'AMOUNT_TOO_HIGH' };
  const credit = {
    amountMinor: await earnedPart(trx, payment, amount.amountMinor),
    currency: payment.price_currency,
  };
  if (!isPayable(amount, credit.amountMinor)) return { refusal: 'AMOUNT_NOT_ALLOWED' };
  await moveMoney(trx, payment.reference, { used: -amount.amountMinor });
  await createRefund(trx, payment, amount, `${GOODWILL}-${shortId(action)}`);
  await toSuspense(trx, action, `revenue:${payment.price_currency}`, credit, amount);
  await recordEvent(trx, transactionId, 'goodwill-refund', formatMoney(amount));
  return { did: `${refundOf(amount, subject)}, as goodwill` };
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
  const done = (credited: Money) => ({ did: `${formatMoney(credited)} credited to the wallet` });
  if (facts.status === 'PROCESSING') {
    const paid = subject.payments.some((payment) => payment.paid_hold);
    if (paid && !facts.canGiveBack) return { refusal: 'NOTHING_TO_RETURN' };
    await failAndRefund(trx, action, 'wallet');
    return done(amount);
  }
  if (facts.openRefund !== null) {
    const [refund] = subject.openRefunds;
    return refund && (await creditRefundAs(trx, refund, amount))
      ? done(amount)
      : { refusal: 'NOTHING_TO_RETURN' };
  }
  const payment = payingPayment(subject);
  if (payment) {
    const usedMinor = usedFor(payment, amount, facts.earned);
    await moveMoney(trx, payment.reference, { used: -usedMinor, credited: usedMinor });
  }
  await recordEvent(trx, transactionId, 'goodwill-credit', formatMoney(amount));
  await bookAction(trx, action, [
    { account: `revenue:${amount.currency}`, ...negative(amount) },
    ...(await creditEntries(trx, accountId, amount)),
  ]);
  return done(amount);
}

/** What of a payment a part of what it earned stands for. All that it earned is all that is left of it. */
function usedFor(payment: PaymentRow, { amountMinor }: Money, earned: Money | null): bigint {
  if (earned === null || amountMinor >= earned.amountMinor) return payment.used_minor;
  return (payment.used_minor * amountMinor) / earned.amountMinor;
}

async function bookAction(trx: WorldDb, action: ActionRow, entries: readonly LedgerEntry[]): Promise<void> {
  await transfer(trx, {
    operationKey: action.id,
    kind: action.action,
    transactionId: action.transaction_id,
    reason: action.reason,
    entries: withoutZeros(entries),
  });
}

async function recordEvent(
  trx: WorldDb,
  transactionId: string,
  what: PurchaseEvent,
  detail: string,
): Promise<void> {
  await trx.insertInto('purchase_events').values({ transaction_id: transactionId, what, detail }).execute();
}

/** Of an action: as it was recorded when the action began. */
function amountOf({ amount_minor, currency }: Pick<ActionRow, 'amount_minor' | 'currency'>): Money {
  return { amountMinor: amount_minor ?? 0n, currency: currency ?? '' };
}

/** Enough of the id to tell this action's refunds from others. */
const shortId = ({ id }: ActionRow): string => id.slice(-12);

/** A purchase that waits is delivered; for all others the money goes into the wallet. */
async function markPaidByHand(trx: WorldDb, action: ActionRow, subject: ActionSubject): Promise<Ended> {
  const payment = payingPayment(subject);
  if (!payment) return { refusal: 'DOES_NOT_FIT' };
  const { facts, price, transactionId } = subject;
  const charge = { amountMinor: payment.charge_minor, currency: payment.charge_currency };
  const paysHold = facts.purpose === 'purchase' && facts.status === 'PENDING';
  await ensureAccount(trx, 'evidence', charge.currency);
  await ensureSystemAccounts(trx, payment.gateway, charge.currency);
  await ensureWallet(trx, payment.account_id, payment.price_currency);
  const { subscribers: found, at } = await vouch(trx, payment, paysHold);
  // Before the events of the purchase, which follow from it.
  const webhook = { subscriberIds: found, at, beforeMinor: 0n };
  await enqueuePaymentReceived(trx, payment, charge, webhook);
  if (paysHold) {
    await placePaidHold(trx, { id: transactionId, accountId: payment.account_id, amount: price });
    await markPaid(trx, transactionId);
  } else if (facts.purpose === 'funding') {
    await closeFundingPaid(trx, transactionId);
  }
  await transfer(trx, {
    operationKey: action.id,
    kind: 'marked-paid',
    transactionId,
    reason: action.reason,
    entries: withoutZeros([
      { account: `evidence:${charge.currency}`, ...negative(charge) },
      ...exchangeEntries(charge, price),
      ...(paysHold
        ? [{ account: `held:${price.currency}`, ...price }]
        : await creditEntries(trx, payment.account_id, price)),
    ]),
  });
  // A funding has no timeline.
  if (facts.purpose === 'purchase')
    await recordEvent(trx, transactionId, 'payment-vouched-for', payment.reference);
  const to = paysHold ? 'it is delivered now' : 'it is in the wallet';
  return { did: `marked as paid with ${formatMoney(charge)}; ${to}` };
}

/** Returns the endpoints that subscribe to it, and when. */
async function vouch(trx: WorldDb, payment: PaymentRow, paysHold: boolean) {
  const { rows } = await sql<{ subscribers: string[] | null; at: Date }>`
    update payments set paid_hold = paid_hold or ${paysHold},
           ${assignments({ vouched: payment.charge_minor, credited: paysHold ? 0n : payment.charge_minor })}
     where reference = ${payment.reference}
    returning ${subscribers('payment.received', sql.ref('payments.account_id'))} as subscribers, clock_timestamp() as at`.execute(
    trx,
  );
  const [row] = rows;
  if (!row) throw new Error(`no payment ${payment.reference}`);
  return row;
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
