/**
 * Money by a person's word: booked from an account of its own, where it stands until the gateway says the same, which then counts as this
 * money and not as more. So nothing is credited twice, and the books show what rests on evidence.
 */
import { sql } from 'kysely';
import { formatMinor, type Money } from '../../domain/money.ts';
import {
  ensureSystemAccounts,
  ensureWallet,
  exchangeEntries,
  placePaidHold,
  transfer,
  walletAccount,
  type LedgerEntry,
} from '../../ledger/store/ledger.ts';
import { payingPayment, type ActionEffect } from './subject.ts';
import { markPaid, enqueuePaymentReceived } from '../../purchases/store/payment-bookings.ts';
import { closeFundingPaid, type PaymentRow } from '../../payments/store/payments.ts';
import { closeRefund, type RefundRow } from '../../payments/store/refunds.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { listeners, newPendingMessages } from '../../webhooks/store/messages.ts';

/** Ledger account of what rests on evidence: below zero is money that came by a person's word. */
const evidenceAccount = (currency: string): string => `evidence:${currency}`;

/** A purchase that waits goes on to its delivery; what is closed, and a funding, get the money into the wallet. */
export const markPaidByHand: ActionEffect = async (trx, move, subject, now) => {
  const payment = payingPayment(subject);
  if (!payment) return { refusal: 'DOES_NOT_FIT' };
  const { facts, price, transactionId } = subject;
  const charge = { amountMinor: payment.charge_minor, currency: payment.charge_currency };
  const paysHold = facts.purpose === 'purchase' && facts.status === 'PENDING';
  await ensureEvidenceAccount(trx, charge.currency);
  await ensureSystemAccounts(trx, charge.currency);
  await ensureWallet(trx, payment.account_id, payment.price_currency);
  await transfer(trx, {
    operationKey: move.id,
    kind: 'marked-paid',
    transactionId,
    reason: move.reason,
    entries: [
      {
        account: evidenceAccount(charge.currency),
        currency: charge.currency,
        amountMinor: -charge.amountMinor,
      },
      ...exchangeEntries(charge, price),
      { account: paysHold ? `held:${price.currency}` : walletAccount(payment.account_id), ...price },
    ],
  });
  const found = await vouchFor(trx, payment, paysHold);
  if (paysHold) {
    await placePaidHold(trx, { id: transactionId, accountId: payment.account_id, amount: price });
    await markPaid(trx, transactionId, newPendingMessages());
  } else if (facts.purpose === 'funding') {
    await closeFundingPaid(trx, transactionId);
  }
  await enqueuePaymentReceived(trx, payment, charge, found, now, newPendingMessages());
  await tellTimeline(trx, transactionId, payment.reference);
  const to = paysHold ? 'it is delivered now' : 'it is in the wallet';
  return { did: `marked as paid with ${charge.currency} ${formatMinor(charge.amountMinor)}; ${to}` };
};

/** Answers who wants to hear of it. */
async function vouchFor(trx: WorldDb, payment: PaymentRow, paysHold: boolean): Promise<string[] | null> {
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
    .returning(listeners('payment.received', sql.ref('payments.account_id')).as('listeners'))
    .executeTakeFirstOrThrow();
  return row.listeners;
}

async function tellTimeline(trx: WorldDb, transactionId: string, reference: string): Promise<void> {
  await sql`
    insert into purchase_events (transaction_id, what, detail)
    select transaction_id, 'payment-vouched-for', ${reference}::text from purchases where transaction_id = ${transactionId}`.execute(
    trx,
  );
}

/** A refund that a person has seen sent, or has paid out by hand. Twice is once. */
export async function closeRefundByHand(trx: WorldDb, refund: RefundRow): Promise<void> {
  if (!(await closeRefund(trx, refund, 'DONE'))) return;
  const amount: Money = { amountMinor: refund.amount_minor, currency: refund.currency };
  await ensureEvidenceAccount(trx, amount.currency);
  const entries: LedgerEntry[] = [
    { account: `suspense:${amount.currency}`, currency: amount.currency, amountMinor: -amount.amountMinor },
    { account: evidenceAccount(amount.currency), ...amount },
  ];
  await transfer(trx, {
    operationKey: `${refund.refund_key}:by-hand`,
    kind: 'refund-by-hand',
    transactionId: refund.transaction_id,
    entries,
  });
}

/** Made where it is the first in its currency. */
async function ensureEvidenceAccount(trx: WorldDb, currency: string): Promise<void> {
  await trx
    .insertInto('ledger_accounts')
    .values({ id: evidenceAccount(currency), kind: 'evidence', currency, account_id: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}
