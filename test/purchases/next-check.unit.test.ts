/** When to check again: often until the limit, then less and less often, within both limits. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { purchaseInput } from '../support/money/facts.ts';
import { nextSupplierCheck, databaseRetryDelayMs } from '../../src/purchases/purchase.ts';

const { timings } = purchaseInput({ transactionId: 'txn-1' });

describe('nextCheck', () => {
  it.each([
    // elapsed, delay, needs attention
    [0, 3_000, false],
    [8_000, 3_000, false],
    [117_000, 3_000, false],
    [118_500, 1_500, false],
    [119_999, 1, false],
    [120_000, 10_000, true],
    [130_000, 10_000, true],
    [140_000, 20_000, true],
    [160_000, 40_000, true],
    [200_000, 80_000, true],
    [280_000, 120_000, true],
    [5_000_000, 120_000, true],
  ])('after %i ms waits %i ms', (elapsedMs, delayMs, needsAttention) => {
    expect(nextSupplierCheck(elapsedMs, timings)).toEqual({ delayMs, needsAttention });
  });

  it('always waits, asks for attention exactly at the limit, and stays bounded', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), (elapsedMs) => {
        const { delayMs, needsAttention } = nextSupplierCheck(elapsedMs, timings);
        expect(delayMs).toBeGreaterThan(0);
        expect(delayMs).toBeLessThanOrEqual(120_000);
        expect(needsAttention).toBe(elapsedMs >= timings.attentionAfterMs);
        if (!needsAttention) expect(elapsedMs + delayMs).toBeLessThanOrEqual(timings.attentionAfterMs);
      }),
    );
  });
});

describe('a step that our own database refuses', () => {
  it.each([
    [0, 1_000],
    [3_999, 1_000],
    [4_004, 1_001],
    [60_000, 15_000],
    [20 * 60_000, 300_000],
    [7 * 24 * 3_600_000, 300_000],
  ])('that has failed for %i ms is retried after %i ms', (failsForMs, pauseMs) => {
    expect(databaseRetryDelayMs(failsForMs)).toBe(pauseMs);
  });

  it('costs fewer than 400 rounds a day, each of about six events', () => {
    // A round tries for 3.5 s before it gives up.
    let rounds = 0;
    for (let atMs = 0; atMs < 24 * 3_600_000; rounds += 1) atMs += 3_500 + databaseRetryDelayMs(atMs);
    expect(rounds).toBeLessThan(400);
  });
});
