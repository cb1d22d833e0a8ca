/**
 * Promise M9: no floating point touches money. A million pairs of amount and rate, neighbours of 2^53 among
 * them: the conversion is at most half a minor unit off, the half always up; and amounts cross the JSON
 * boundary exactly, digit for digit.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatMinor, parseMinor } from '../../src/domain/money.ts';
import {
  convertUsdMinor,
  priceUsdMinor,
  type PricingSettings,
  type Rate,
} from '../../src/catalogue/pricing.ts';
import { moneyJson, toJson } from '../../src/platform/http/json.ts';
import { size, withSeed } from '../support/time/size.ts';

const RUNS = size({ ci: 20_000, prove: 1_000_000 });
const TWO_53 = 2n ** 53n;

const around = (middle: bigint): fc.Arbitrary<bigint> =>
  fc.integer({ min: -9, max: 9 }).map((off) => (middle + BigInt(off) < 0n ? 0n : middle + BigInt(off)));

/**
 * Usual amounts, the numbers where doubles begin to fail, and powers of ten and two up to what a column
 * holds.
 */
const amount = fc.oneof(
  fc.bigInt({ min: 0n, max: 10_000_000n }),
  fc.bigInt({ min: 0n, max: 2n ** 62n }),
  around(TWO_53),
  around(2n * TWO_53),
  around(TWO_53 / 100n),
  fc.nat(18).chain((power) => around(10n ** BigInt(power))),
  fc.nat(62).chain((power) => around(2n ** BigInt(power))),
);

const micros = fc
  .oneof(
    fc.bigInt({ min: 1n, max: 5_000_000_000n }),
    fc.bigInt({ min: 1n, max: 10n ** 18n }),
    around(TWO_53),
    around(1_000_000n),
    around(500_000n),
    fc.nat(17).chain((power) => around(10n ** BigInt(power))),
  )
  .map((value) => (value === 0n ? 1n : value));

const bps = fc.oneof(fc.nat(100_000), fc.constantFrom(0, 1, 300, 2500, 9_999, 10_000, 100_000));

const settingsOf = (markupBps: number): PricingSettings => ({
  id: 's',
  userMarkupBps: markupBps,
  merchantMarkupBps: markupBps,
  ngnIncrementBps: markupBps,
});

const rateOf = (currency: string, value: bigint): Rate => ({
  id: 'r',
  currency,
  micros: value,
  source: 'test',
  observedAtMs: Date.UTC(2026, 0, 1),
});

/** Nearest to numerator ÷ denominator, the upper of two: by inequalities, not by the formula under test. */
function expectNearestHalfUp(whole: bigint, numerator: bigint, denominator: bigint): void {
  const off = 2n * (whole * denominator - numerator);
  expect(off).toBeGreaterThan(-denominator);
  expect(off).toBeLessThanOrEqual(denominator);
}

describe('M9', () => {
  it(`converts ${RUNS} pairs of amount and rate to the nearest minor unit, half up`, async () => {
    await withSeed((seed) => {
      fc.assert(
        fc.property(amount, micros, bps, (usdMinor, rate, incrementBps) => {
          const settings = settingsOf(incrementBps);
          const ngn = convertUsdMinor(usdMinor, rateOf('NGN', rate), settings).amountMinor;
          const exact = usdMinor * rate * BigInt(10_000 + incrementBps);
          expectNearestHalfUp(ngn, exact, 10n ** 10n);
          const eur = convertUsdMinor(usdMinor, rateOf('EUR', rate), settings).amountMinor;
          expectNearestHalfUp(eur, usdMinor * rate, 10n ** 6n);
        }),
        { numRuns: RUNS, seed },
      );
    });
  });

  it(`prices ${RUNS} pairs of cost and markup to the nearest cent, half up`, async () => {
    await withSeed((seed) => {
      fc.assert(
        fc.property(amount, bps, (cost, markupBps) => {
          const cents = priceUsdMinor(cost, 'USER', settingsOf(markupBps));
          expectNearestHalfUp(cents, cost * BigInt(10_000 + markupBps), 10n ** 6n);
        }),
        { numRuns: RUNS, seed },
      );
    });
  });

  it('carries amounts across the JSON boundary digit for digit', async () => {
    await withSeed((seed) => {
      fc.assert(
        fc.property(amount, fc.boolean(), (magnitude, negative) => {
          const amountMinor = negative ? -magnitude : magnitude;
          const text = toJson({ price: moneyJson(amountMinor) });
          expect(text).toMatch(/^\{"price":-?\d+\.\d\d\}$/);
          expect(parseMinor(sourceOfPrice(text))).toBe(amountMinor);
        }),
        { numRuns: Math.trunc(RUNS / 5), seed },
      );
    });
  });

  it('gives readers who parse into doubles the right cents, up to fifteen digits', async () => {
    const readable = amount.filter((amountMinor) => amountMinor < 10n ** 15n);
    await withSeed((seed) => {
      fc.assert(
        fc.property(readable, (amountMinor) => {
          const { price } = JSON.parse(toJson({ price: moneyJson(amountMinor) })) as { price: number };
          expect(price.toFixed(2)).toBe(formatMinor(amountMinor));
          // And they can send it back unchanged.
          expect(parseMinor(price.toFixed(2))).toBe(amountMinor);
        }),
        { numRuns: Math.trunc(RUNS / 5), seed },
      );
    });
  });
});

/** The digits in the text, before a parser turns them into a double. */
function sourceOfPrice(text: string): string {
  let source = '';
  JSON.parse(text, ((key: string, value: unknown, context: { source: string }) => {
    if (key === 'price') source = context.source;
    return value;
  }) as (key: string, value: unknown) => unknown);
  return source;
}
