/** A message of each event for merchants to try their endpoint with. */
import type { PurchaseEventStatus } from './event-rules.ts';
import { PURCHASE_EVENT, webhookBody, type WebhookEvent, type WebhookFacts } from './events.ts';

const transactionId = `txn-${'0'.repeat(32)}`;
const SAMPLE_ESIM = {
  esimId: `esim-${'0'.repeat(32)}`,
  transactionId,
  iccid: '8900000000000000000',
} as const;
const SAMPLE_MONEY = { amountMinor: 1_534_25n, currency: 'NGN' } as const;
const SAMPLE_OWN = { reference: 'order-1001', metadata: { channel: 'sample' } };
const SAMPLE_PACKAGE = { packageCode: 'SAMPLE', packageName: 'Sample 1GB 7Days', regionCode: 'NG' };

/** The real shape, with values that are clearly not real. */
const SAMPLES: { readonly [Event in WebhookEvent]: WebhookFacts[Event] } = {
  'esim.purchased': {
    ...SAMPLE_ESIM,
    // Stryker disable next-line StringLiteral: sampleBody replaces it
    status: 'SUCCESS',
    qrCodeUrl: 'https://example.com/qr/sample.png',
    ...SAMPLE_OWN,
  },
  'esim.status_changed': { ...SAMPLE_ESIM, from: 'CREATED', to: 'ACTIVE' },
  'esim.usage_threshold': {
    ...SAMPLE_ESIM,
    thresholdPercent: 80,
    totalVolume: 1_073_741_824,
    orderUsage: 869_730_878,
    dataUsageRemain: 204_010_946,
    usageAsOf: '2026-01-31T09:30:00.000Z',
  },
  'esim.expiring': { ...SAMPLE_ESIM, daysBefore: 3, expiredTime: '2026-02-28T09:30:00.000Z' },
  'esim.expired': {
    ...SAMPLE_ESIM,
    activateTime: '2026-01-29T09:30:00.000Z',
    expiredTime: '2026-02-28T09:30:00.000Z',
  },
  'esim.returned': {
    returnId: `return-${'0'.repeat(32)}`,
    ...SAMPLE_ESIM,
    ...SAMPLE_MONEY,
    feeMinor: 0n,
    refundedTo: 'WALLET',
  },
  'esim.replaced': {
    replacementId: `replacement-${'0'.repeat(32)}`,
    ...SAMPLE_ESIM,
    replacedBy: SAMPLE_ESIM.esimId,
    newTransactionId: transactionId,
    priceMinor: 0n,
    currency: SAMPLE_MONEY.currency,
  },
  'mandate.ended': { mandateId: `mandate-${'0'.repeat(32)}`, ...SAMPLE_ESIM, endReason: 'LIMIT_REACHED' },
  'mandate.refused': {
    mandateId: `mandate-${'0'.repeat(32)}`,
    ...SAMPLE_ESIM,
    refusal: 'INSUFFICIENT_BALANCE',
  },
  'payment.received': {
    transactionId,
    purpose: 'purchase',
    paymentMethod: 'CARD',
    gatewayReference: `${transactionId}-1`,
    ...SAMPLE_MONEY,
    ...SAMPLE_OWN,
  },
  'payment.refunded': {
    transactionId,
    gatewayReference: `${transactionId}-1`,
    ...SAMPLE_MONEY,
    ...SAMPLE_OWN,
    refundedTo: 'SOURCE',
  },
  'wallet.low_balance': { balanceMinor: 4_20n, thresholdMinor: 10_00n, currency: 'USD' },
  'endpoint.disabled': {
    endpointId: `ep-${'0'.repeat(32)}`,
    url: 'https://example.com/webhooks',
    reason: 'FAILING',
    messageId: `msg-${'0'.repeat(32)}`,
  },
  'batch.completed': { batchId: `batch-${'0'.repeat(32)}`, rows: 500, succeeded: 498, failed: 2 },
  'package.changed': { ...SAMPLE_PACKAGE, changedFields: 'price,speed', packages: 1 },
  'package.withdrawn': { ...SAMPLE_PACKAGE, packages: 1 },
};

/** `status` applies to `esim.purchased` only. */
export function sampleBody(event: WebhookEvent, at: Date, status: PurchaseEventStatus = 'SUCCESS'): string {
  // Stryker disable next-line ConditionalExpression: other events ignore a status
  if (event !== PURCHASE_EVENT) return webhookBody(event, SAMPLES[event], at);
  const undelivered = status === 'SUCCESS' ? {} : { esimId: null, iccid: null, qrCodeUrl: null };
  return webhookBody(event, { ...SAMPLES[event], status, ...undelivered }, at);
}
