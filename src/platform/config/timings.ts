/** The part of the configuration that says at what pace purchases go. Durations travel with each purchase, so open ones keep theirs. */
import { paymentTimings, SANDBOX_PACE } from './payments.ts';
import type { PurchaseTimings } from '../../purchases/purchase.ts';

type PaymentSettings = Parameters<typeof paymentTimings>[0];

/** The simulators are at hand, so they are asked more often; what is given goes before. */
export function testTimings(
  s: PaymentSettings & { readonly SIMWAY_TEST_TIMINGS: Partial<PurchaseTimings> },
): PurchaseTimings {
  return {
    ...paymentTimings(s),
    ...SANDBOX_PACE,
    answerWithinMs: 8_000,
    lookFirstMs: 250,
    lookMaxMs: 3_000,
    attentionAfterMs: 120_000,
    slowLookMs: 10_000,
    // An order goes out within 10 s and is answered within 5; the sandbox allocates at once.
    doubtMs: 20_000,
    ...s.SIMWAY_TEST_TIMINGS,
  };
}

/** The supplier's advice: a look every 3 s, up to 30 s expected. */
export function liveTimings(s: PaymentSettings): PurchaseTimings {
  return {
    ...paymentTimings(s),
    answerWithinMs: 8_000,
    lookFirstMs: 1_000,
    lookMaxMs: 3_000,
    attentionAfterMs: 600_000,
    slowLookMs: 300_000,
    // An order goes out within 10 s and is answered within 5; the vendor expects up to 30 s until it is allocated and listed.
    doubtMs: 60_000,
  };
}
