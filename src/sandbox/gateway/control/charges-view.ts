/** What the gateway really holds, for scripts: charges with their payments, refunds and webhooks. */
import type { GatewayContext } from '../context.ts';
import type { Stores } from '../storage/store.ts';
import type { EventRow, RefundRow, TransactionRow, TransferAccount } from '../storage/tables.ts';
import { iso, isoOrNull } from '../wire.ts';

/** One event with its deliveries; `body` is what was signed, byte by byte. */
export function eventView(webhooks: Stores['webhooks'], { createdAtMs, ...row }: EventRow) {
  return {
    ...row,
    at: iso(createdAtMs),
    deliveries: webhooks.deliveriesOf(row.id).map(({ id, url, state, attempts, dueAtMs }) => ({
      id,
      url,
      state,
      attempts: JSON.parse(attempts) as unknown,
      nextAttemptAt: state === 'waiting' ? iso(dueAtMs) : null,
    })),
  };
}

export function refundView(row: RefundRow) {
  return {
    id: row.id,
    status: row.status,
    amountMinor: row.amount,
    currency: row.currency,
    customerNote: row.customerNote,
    merchantNote: row.merchantNote,
    createdAt: iso(row.createdAtMs),
    refundedAt: isoOrNull(row.refundedAtMs),
  };
}

function instructionsView(context: GatewayContext, row: TransactionRow) {
  if (row.origin === 'initialize') {
    return { kind: 'redirect', paymentUrl: context.pageUrl(row.accessCode) };
  }
  if (row.account === null) return { kind: 'mobile-money', step: row.step };
  const { accountNumber, accountName, bank } = JSON.parse(row.account) as TransferAccount;
  const expiresAt = isoOrNull(row.expiresAtMs);
  return { kind: 'bank-transfer', bankName: bank.name, accountNumber, accountName, expiresAt };
}

/** A charge in short. */
export function chargeSummary(row: TransactionRow) {
  return {
    reference: row.reference,
    id: row.id,
    status: row.status,
    channel: row.channel,
    email: row.email,
    requested: { amountMinor: row.requested, currency: row.currency },
    received: { amountMinor: row.received, currency: row.paidCurrency ?? row.currency },
    feesMinor: row.fees,
    givenBackMinor: row.givenBack,
    scenario: row.scenario,
    createdAt: iso(row.createdAtMs),
    paidAt: isoOrNull(row.paidAtMs),
    requests: row.requests,
  };
}

/** A charge with all that belongs to it. */
export function chargeView(context: GatewayContext, webhooks: Stores['webhooks'], row: TransactionRow) {
  const events = webhooks.recentEvents(row.reference, null, 1000).toReversed();
  return {
    ...chargeSummary(row),
    gatewayResponse: row.gatewayResponse,
    callbackUrl: row.callbackUrl,
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as unknown),
    instructions: instructionsView(context, row),
    payments: context.transactions
      .paymentsOf(row.id)
      .map(({ amount, currency, fees, channel, state, atMs }) => ({
        amountMinor: amount,
        currency,
        feesMinor: fees,
        channel,
        state,
        at: iso(atMs),
      })),
    refunds: context.refunds.refundsOf(row.id).map(refundView),
    disputes: context.refunds.disputesOf(row.id).map(({ id, amount, status, resolution }) => ({
      id,
      amountMinor: amount,
      status,
      resolution,
    })),
    webhooks: events.map((event) => eventView(webhooks, event)),
  };
}
