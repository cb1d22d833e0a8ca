/** What the gateway really holds, for scripts: charges with their payments, refunds and webhooks. */
import type { GatewayContext } from '../context.ts';
import type { EventRow, RefundRow, TransactionRow } from '../storage.ts';
import { iso, isoOrNull } from '../wire.ts';

/** One event with its deliveries; `body` is what was signed, byte by byte. */
export function eventView(context: GatewayContext, { createdAtMs, ...row }: EventRow) {
  return {
    ...row,
    at: iso(createdAtMs),
    deliveries: context.deliveries.list({ eventId: row.id }).map(({ id, url, state, attempts, dueAtMs }) => ({
      id,
      url,
      state,
      attempts,
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
  const { accountNumber, accountName, bank } = row.account;
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
export function chargeView(context: GatewayContext, row: TransactionRow) {
  return {
    ...chargeSummary(row),
    gatewayResponse: row.gatewayResponse,
    callbackUrl: row.callbackUrl,
    metadata: row.metadata,
    instructions: instructionsView(context, row),
    payments: context.payments
      .list({ transactionId: row.id })
      .map(({ amount, currency, fees, channel, state, atMs }) => ({
        amountMinor: amount,
        currency,
        feesMinor: fees,
        channel,
        state,
        at: iso(atMs),
      })),
    refunds: context.refunds.list({ transactionId: row.id }).map(refundView),
    disputes: context.disputes.list({ transactionId: row.id }).map(({ id, amount, status, resolution }) => ({
      id,
      amountMinor: amount,
      status,
      resolution,
    })),
    webhooks: context.events.list({ reference: row.reference }).map((event) => eventView(context, event)),
  };
}
