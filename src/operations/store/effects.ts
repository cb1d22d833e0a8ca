/**
 * What each operator's move does to the rows and the books, in the transaction that puts it on record. The ledger's own rules decide: a hold
 * is posted or voided once, a transfer is booked once, a wallet never goes below zero.
 */
import { formatMinor, type Money } from '../../domain/money.ts';
import { settleClaim, unflag } from './dispute-settlement.ts';
import {
  exchangeEntries,
  postHold,
  transfer,
  walletAccount,
  type LedgerEntry,
} from '../../ledger/store/ledger.ts';
import { closeRefundByHand, markPaidByHand } from './manual-payment.ts';
import { lockWalletFor, enqueueLowBalance } from '../../ledger/store/low-balance.ts';
import { replacePackage } from './replacement.ts';
import {
  GOODWILL,
  inPrice,
  payingPayment,
  refundsThatAre,
  type ActionSubject,
  type Ended,
  type ActionEffect,
} from './subject.ts';
import type { ActionRow } from './tables.ts';
import { closePayment, closeFundingUnpaid, type PaymentRow } from '../../payments/store/payments.ts';
import { closeUnpaid, failPurchaseIn } from '../../purchases/store/purchases.ts';
import { creditRefundAs, createRefund, tryRefundAgain } from '../../payments/store/refunds.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { newPendingMessages } from '../../webhooks/store/messages.ts';
import type { OperatorAction } from '../../accounts/roles.ts';

/** The effect of a move on the rows. */
export const effectOf = (move: OperatorAction): ActionEffect => EFFECTS[move];

/** Asking moves have done what they do before: their line is what is left. */
const asked: ActionEffect = () => Promise.resolve({ did: 'asked' });

const EFFECTS: Record<OperatorAction, ActionEffect> = {
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

/** Delivered before, its money still on hold: the hold is posted. Where it is to be delivered yet, somebody else has tried. */
async function settleDelivered(
  trx: WorldDb,
  _move: ActionRow,
  { purchase, hold }: ActionSubject,
): Promise<Ended> {
  if (purchase?.status !== 'SUCCESS' || hold?.status !== 'HELD') return { did: 'asked' };
  await postHold(trx, purchase.transaction_id, purchase.cost_usd_e4);
  return {
    did: `settled: the hold of ${words({ amountMinor: hold.amount_minor, currency: hold.currency })} is posted`,
  };
}

async function cancel(trx: WorldDb, move: ActionRow, subject: ActionSubject, now: Date): Promise<Ended> {
  const { transactionId, facts } = subject;
  if (facts.status === 'PENDING') {
    const close = facts.purpose === 'purchase' ? closeUnpaid : closeFundingUnpaid;
    const closed = await close(trx, transactionId, 'CANCELLED_BY_OPERATOR');
    return closed === 'paid' ? { refusal: 'DOES_NOT_FIT' } : { did: 'cancelled: nothing was paid' };
  }
  if (facts.holdsMoney) {
    await giveBack(trx, move, subject, 'source');
    return { did: `cancelled: ${words(subject.price)} are given back to where they came from` };
  }
  for (const payment of subject.payments) await closePayment(trx, payment.reference, now);
  await unflag(trx, transactionId, ['PAYMENT_STILL_OPEN']);
  return { did: 'closed: nothing more is waited for' };
}

async function giveBack(
  trx: WorldDb,
  { id }: ActionRow,
  { transactionId }: ActionSubject,
  to: 'source' | 'wallet',
): Promise<void> {
  await failPurchaseIn(trx, transactionId, { reason: 'CANCELLED_BY_OPERATOR', detail: id }, { to });
}

async function refundToSource(trx: WorldDb, move: ActionRow, subject: ActionSubject): Promise<Ended> {
  const { facts } = subject;
  const amount = amountOf(move);
  if (facts.status === 'PROCESSING') {
    await giveBack(trx, move, subject, 'source');
    return { did: `${words(amount)} go back to where they came from` };
  }
  if (facts.openRefund !== null) return pushRefund(trx, move, subject);
  const fromWallet = subject.walletPayment;
  const payment = fromWallet ?? payingPayment(subject);
  if (!payment) return { refusal: 'NOTHING_TO_RETURN' };
  return fromWallet ? takeFromWallet(trx, move, payment) : takeFromEarned(trx, move, subject, payment);
}

/** A refund that is on record already: sent again where the gateway had refused it, or closed where a person has seen it sent. */
async function pushRefund(trx: WorldDb, move: ActionRow, { facts, refunds }: ActionSubject): Promise<Ended> {
  if (facts.openRefund === null) return { refusal: 'NOTHING_TO_RETURN' };
  const open = refundsThatAre(facts.openRefund, refunds);
  if (facts.openRefund === 'due' || facts.openRefund === 'on-its-way')
    return { did: 'it is on its way back; the gateway is asked' };
  for (const refund of open) {
    if (move.evidence === null) await tryRefundAgain(trx, refund);
    else await closeRefundByHand(trx, refund);
  }
  return { did: move.evidence === null ? 'the gateway is asked again' : 'closed as sent, by the evidence' };
}

/** Money that was credited goes back to where it came from, as far as the wallet still holds it. That it leaves little is told with it. */
async function takeFromWallet(trx: WorldDb, move: ActionRow, payment: PaymentRow): Promise<Ended> {
  const amount = amountOf(move);
  const credit = { amountMinor: inPrice(payment, amount.amountMinor), currency: payment.price_currency };
  const wallet = await lockWalletFor(trx, payment.account_id, credit);
  if (!wallet || wallet.balance_minor < credit.amountMinor) return { refusal: 'WALLET_TOO_LOW' };
  const because = { key: move.id, subject: move.transaction_id };
  const { account_id: accountId, price_currency: currency } = payment;
  // Whoever makes the move finds what was written about its purchase or funding.
  await enqueueLowBalance(trx, { ...because, accountId, currency }, wallet, newPendingMessages());
  await toSuspense(trx, move, walletAccount(payment.account_id), credit, amount);
  await createRefund(trx, payment, amount, `wallet-${tailOf(move)}`);
  return { did: `${words(amount)} go back to where they came from, out of the wallet` };
}

/** A gift: what was delivered stays delivered, and what it earned is given up. */
async function takeFromEarned(
  trx: WorldDb,
  move: ActionRow,
  { facts, transactionId }: ActionSubject,
  payment: PaymentRow,
): Promise<Ended> {
  const amount = amountOf(move);
  const wantedMinor = inPrice(payment, amount.amountMinor);
  const earnedMinor = facts.earned?.amountMinor ?? 0n;
  // Parts are rounded each by itself: together they may be one minor unit more than the whole.
  if (wantedMinor > earnedMinor + 1n) return { refusal: 'AMOUNT_TOO_HIGH' };
  const credit = {
    amountMinor: wantedMinor > earnedMinor ? earnedMinor : wantedMinor,
    currency: payment.price_currency,
  };
  await toSuspense(trx, move, `revenue:${payment.price_currency}`, credit, amount);
  await createRefund(trx, payment, amount, `${GOODWILL}-${tailOf(move)}`);
  await tell(trx, transactionId, 'goodwill-refund', words(amount));
  return { did: `${words(amount)} go back to where they came from, as goodwill` };
}

/** Gives up money of ours, in its own currency, for money on its way to the gateway. */
async function toSuspense(
  trx: WorldDb,
  move: ActionRow,
  account: string,
  from: Money,
  to: Money,
): Promise<void> {
  await bookMove(trx, move, [
    { account, currency: from.currency, amountMinor: -from.amountMinor },
    ...exchangeEntries(from, to),
    { account: `suspense:${to.currency}`, ...to },
  ]);
}

async function creditWallet(trx: WorldDb, move: ActionRow, subject: ActionSubject): Promise<Ended> {
  const { facts, transactionId, accountId } = subject;
  const amount = amountOf(move);
  const done = { did: `${words(amount)} are in the wallet` };
  if (facts.status === 'PROCESSING') {
    await giveBack(trx, move, subject, 'wallet');
    return done;
  }
  if (facts.openRefund !== null) {
    const [refund] = refundsThatAre(facts.openRefund, subject.refunds);
    return refund && (await creditRefundAs(trx, refund, amount)) ? done : { refusal: 'NOTHING_TO_RETURN' };
  }
  await bookMove(trx, move, [
    { account: `revenue:${amount.currency}`, currency: amount.currency, amountMinor: -amount.amountMinor },
    { account: walletAccount(accountId), ...amount },
  ]);
  await tell(trx, transactionId, 'goodwill-credit', words(amount));
  return done;
}

/** Entries of zero are none. */
async function bookMove(trx: WorldDb, move: ActionRow, entries: readonly LedgerEntry[]): Promise<void> {
  await transfer(trx, {
    operationKey: move.id,
    kind: move.move,
    transactionId: move.transaction_id,
    reason: move.reason,
    entries: entries.filter((entry) => entry.amountMinor !== 0n),
  });
}

async function tell(trx: WorldDb, transactionId: string, what: string, detail: string): Promise<void> {
  await trx.insertInto('purchase_events').values({ transaction_id: transactionId, what, detail }).execute();
}

/** What the move moves, as it was begun with. */
function amountOf({ amount_minor, currency }: ActionRow): Money {
  return { amountMinor: amount_minor ?? 0n, currency: currency ?? '' };
}

const words = ({ amountMinor, currency }: Money): string => `${currency} ${formatMinor(amountMinor)}`;

/** Enough of its id to tell this move's refunds from those of others. */
const tailOf = ({ id }: ActionRow): string => id.slice(-12);
