import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../src/domain/clock.ts';
import {
  nextReadMs,
  monitorPaceOf,
  MONITORED_FOR_MS,
  LIST_WINDOW_MS,
  windowOf,
} from '../../src/payments/monitor-rules.ts';

const pace = monitorPaceOf({ pollFirstMs: 5_000 });

describe('a window', () => {
  it('is ten minutes long and begins at a whole ten minutes', () => {
    expect(windowOf(new Date('2026-03-01T10:19:59.999Z'))).toEqual(new Date('2026-03-01T10:10:00Z'));
    expect(windowOf(new Date('2026-03-01T10:20:00Z'))).toEqual(new Date('2026-03-01T10:20:00Z'));
  });

  it.each([
    ['while charges are opened in it', 0, false, 10_000],
    ['when the last one was opened', 10 * MINUTE_MS - 1, true, 10_000],
    ['whose pages were opened lately', 10 * MINUTE_MS, false, 45_000],
    ['whose youngest page is two hours old', 130 * MINUTE_MS - 1, true, 45_000],
    ['of pages that may still be paid', 130 * MINUTE_MS, false, 10 * MINUTE_MS],
    ['with a transfer account that may still be paid into', 130 * MINUTE_MS, true, 4 * MINUTE_MS],
    ['whose youngest transfer account is over', 8 * HOUR_MS + LIST_WINDOW_MS, true, 10 * MINUTE_MS],
    ['whose youngest page is about to be over', 24 * HOUR_MS + LIST_WINDOW_MS - 1, false, 10 * MINUTE_MS],
    ['of which money may only come late', 24 * HOUR_MS + LIST_WINDOW_MS, true, HOUR_MS],
  ])('is read: %s', (_, ageMs, hasTransfers, afterMs) => {
    expect(nextReadMs(ageMs, hasTransfers, pace)).toBe(afterMs);
  });

  /**
   * A worker reads every second; the rest is the most that an answer of the gateway and the delivery take.
   */
  const CHECK_AND_DELIVERY_MS = 1_000 + 2_500 + 8_000;
  it.each([
    { method: 'CARD', deliveredWithinMs: 90_000, holdsForMs: 2 * HOUR_MS },
    { method: 'MOBILE_MONEY', deliveredWithinMs: 60_000, holdsForMs: 2 * HOUR_MS },
    { method: 'BANK_TRANSFER', deliveredWithinMs: 300_000, holdsForMs: 8 * HOUR_MS },
    { method: 'a page', deliveredWithinMs: 10 * MINUTE_MS + CHECK_AND_DELIVERY_MS, holdsForMs: 24 * HOUR_MS },
  ])(
    'finds a $method payment without an event, at any moment, in the time that docs/API.md promises',
    ({ method, deliveredWithinMs, holdsForMs }) => {
      const reads: number[] = [];
      for (let atMs = 0; atMs < MONITORED_FOR_MS; atMs += nextReadMs(atMs, method === 'BANK_TRANSFER', pace))
        reads.push(atMs);
      fc.assert(
        fc.property(fc.nat(LIST_WINDOW_MS - 1), fc.nat(holdsForMs), (openedAtMs, paidAfterMs) => {
          const paidAtMs = openedAtMs + paidAfterMs;
          const seenAtMs = reads.find((atMs) => atMs >= paidAtMs)!;
          expect(seenAtMs - paidAtMs).toBeLessThanOrEqual(deliveredWithinMs - CHECK_AND_DELIVERY_MS);
        }),
        { numRuns: 2_000 },
      );
    },
  );

  it('is read 478 times in its life of four days, so that all windows together take 0.8 requests a second', () => {
    let [reads, atMs] = [0, 0];
    while (atMs < MONITORED_FOR_MS) {
      reads += 1;
      atMs += nextReadMs(atMs, true, pace);
    }
    expect(reads).toBe(478);
    expect(reads / (LIST_WINDOW_MS / 1000)).toBeCloseTo(0.8, 2);
  });
});

it('docs/ARCHITECTURE.md has the same intervals', () => {
  const rows = [
    ...readFileSync('docs/ARCHITECTURE.md', 'utf8').matchAll(
      /^\| (?:a window|in which|whose|with a|of which money|read so).*$/gm,
    ),
  ];
  const live = rows.slice(1).map(([line]) => line.split('|')[3]!.trim());
  const inWords = (ms: number): string =>
    ms >= HOUR_MS ? `${ms / HOUR_MS} h` : ms > MINUTE_MS ? `${ms / MINUTE_MS} min` : `${ms / 1000} s`;
  const { youngMs, likelyMs, transferMs, checkoutMs, behindMs } = pace;
  expect(live).toEqual([youngMs, likelyMs, transferMs, checkoutMs, HOUR_MS, behindMs].map(inWords));
});
