/** How long a balance at a supplier lasts, and when people are told. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/domain/clock.ts';
import {
  balanceLevel,
  hoursLeft,
  spentPerHour,
  tightBelow,
  type Spent,
} from '../../src/operations/supplier/balance-rules.ts';

const NOW = new Date('2026-03-08T00:00:00Z');
const LIMITS = { lowHours: 72, criticalHours: 24, minimumUsdE4: 1_000n };

/** The last `hours`, each with what was spent in it. */
const hourly = (hours: number, usdE4: (hoursAgo: number) => bigint): Spent[] =>
  Array.from({ length: hours }, (_, index) => {
    const hoursAgo = hours - index;
    const fromMs = NOW.getTime() - hoursAgo * HOUR_MS;
    return { from: new Date(fromMs), to: new Date(fromMs + HOUR_MS), usdE4: usdE4(hoursAgo) };
  });

describe('the rate of sale', () => {
  it('is what was spent an hour, of a week or of its last day, whichever is more', () => {
    expect(
      spentPerHour(
        hourly(168, () => 100n),
        NOW,
      ),
    ).toBeCloseTo(100);
    expect(
      spentPerHour(
        hourly(168, (ago) => (ago <= 24 ? 500n : 100n)),
        NOW,
      ),
    ).toBeCloseTo(500);
    expect(
      spentPerHour(
        hourly(168, (ago) => (ago <= 24 ? 0n : 100n)),
        NOW,
      ),
    ).toBeCloseTo(600 / 7);
  });

  it('counts from the first read, at least an hour, and is nothing without reads', () => {
    expect(spentPerHour([], NOW)).toBe(0);
    const minute = { from: new Date(NOW.getTime() - 60_000), to: NOW, usdE4: 60n };
    expect(spentPerHour([minute], NOW)).toBeCloseTo(60);
  });

  it('takes of what reaches further back only the share within', () => {
    const twoWeeks = { from: new Date(NOW.getTime() - 14 * DAY_MS), to: NOW, usdE4: 14n * 24n * 10n };
    expect(spentPerHour([twoWeeks], NOW)).toBeCloseTo(10);
  });

  it('never falls where more is spent', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 10n });
    fc.assert(
      fc.property(
        fc.array(amount, { minLength: 1, maxLength: 168 }),
        fc.nat(167),
        amount,
        (spent, at, more) => {
          const rate = (add: bigint) =>
            spentPerHour(
              hourly(
                spent.length,
                (ago) => spent[spent.length - ago]! + (ago === (at % spent.length) + 1 ? add : 0n),
              ),
              NOW,
            );
          expect(rate(more)).toBeGreaterThanOrEqual(rate(0n) * (1 - 1e-9));
        },
      ),
    );
  });
});

describe('a balance', () => {
  it('lasts what is left by the rate; without sales it lasts, and empty it is over', () => {
    expect(hoursLeft(1_000n, 10)).toBe(100);
    expect(hoursLeft(1_000n, 0)).toBeNull();
    expect(hoursLeft(0n, 0)).toBe(0);
    expect(hoursLeft(-5n, 10)).toBe(0);
  });

  it.each([
    [10_000n, 73, 'ok'],
    [10_000n, 71, 'low'],
    [10_000n, 23, 'critical'],
    [999n, null, 'low'],
    [0n, 0, 'critical'],
  ] as const)('of %s that lasts %s hours is %s', (available, hours, level) => {
    expect(balanceLevel(available, hours, LIMITS)).toBe(level);
  });

  it('leaves a level only with a margin, so that an alert does not flutter', () => {
    expect(balanceLevel(10_000n, 75, LIMITS, 'low')).toBe('low');
    expect(balanceLevel(10_000n, 80, LIMITS, 'low')).toBe('ok');
    expect(balanceLevel(10_000n, 25, LIMITS, 'critical')).toBe('critical');
    expect(balanceLevel(10_000n, 27, LIMITS, 'critical')).toBe('low');
  });

  it('is never better with less', () => {
    const order = ['ok', 'low', 'critical'];
    const amount = fc.bigInt({ min: 0n, max: 10n ** 8n });
    fc.assert(
      fc.property(amount, amount, fc.double({ min: 0.1, max: 1e6, noNaN: true }), (one, other, rate) => {
        const level = (left: bigint) => order.indexOf(balanceLevel(left, hoursLeft(left, rate), LIMITS));
        const [less, more] = one < other ? [one, other] : [other, one];
        expect(level(less)).toBeGreaterThanOrEqual(level(more));
      }),
    );
  });

  it('is counted at each opening below a day of sales, and below 200 of the dearest packages', () => {
    expect(tightBelow(10_000, 1n)).toBe(240_000n);
    expect(tightBelow(0, 100n)).toBe(20_000n);
  });
});
