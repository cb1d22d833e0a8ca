import type { GatewayLine, OurCharge, OurRefund } from '../../src/reconciliation/payment-rules.ts';

/** Settled: older than every `settledBefore` of these tests. */
export const long = new Date('2026-11-21T02:00:00.000Z');

/** Functions that make a charge of NGN 1,000.00 that is equal on both sides, and a refund of it. */
export const chargesWith = (reference: string) => ({
  line: (change: Partial<GatewayLine> = {}): GatewayLine => ({
    kind: 'charge',
    reference,
    gatewayId: '1',
    currency: 'NGN',
    amountMinor: 100_000n,
    feesMinor: 1_500n,
    feesOnTopMinor: 0n,
    at: long,
    ...change,
  }),
  ours: (change: Partial<OurCharge> = {}): OurCharge => ({
    reference,
    transactionId: 'txn-1',
    chargeMinor: 100_000n,
    chargeCurrency: 'NGN',
    moved: [{ currency: 'NGN', receivedMinor: 100_000n, takenBackMinor: 0n }],
    lastMovedAt: long,
    ...change,
  }),
  refund: (change: Partial<OurRefund> = {}): OurRefund => ({
    refundKey: 'txn-1-not-delivered',
    reference,
    transactionId: 'txn-1',
    status: 'DONE',
    currency: 'NGN',
    amountMinor: 100_000n,
    bookedMinor: 100_000n,
    lastMovedAt: long,
    ...change,
  }),
});
