/** Prices, rates and when a rate is suspicious: examples worked by hand, then the rules as properties. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  convertUsdMinor,
  formatRateMicros,
  isRateJump,
  parseRateMicros,
  priceUsdMinor,
  type PricingSettings,
  type Rate,
} from '../../src/catalogue/pricing.ts';

const settings: PricingSettings = {
  id: 'initial',
  userMarkupBps: 2500,
  merchantMarkupBps: 1500,
  ngnIncrementBps: 300,
};
const rateOf = (currency: string, text: string): Rate => ({
  id: '1',
  currency,
  micros: parseRateMicros(text)!,
  source: 'test',
  observedAtMs: Date.UTC(2026, 0, 1),
});

describe('priceUsdMinor', () => {
  it.each([
    // cost in dollars × 10,000, who buys, cents
    [0n, 'USER', 0n],
    [10_000n, 'USER', 125n],
    [10_000n, 'MERCHANT', 115n],
    [7_900n, 'USER', 99n], // 98.75
    [7_900n, 'MERCHANT', 91n], // 90.85
    [40n, 'USER', 1n], // 0.5
    [39n, 'USER', 0n], // 0.4875
    [1n, 'USER', 0n],
    [20_040n, 'MERCHANT', 230n], // 230.46
    [72_057_594_037_927_944n, 'USER', 900_719_925_474_099n],
  ] as const)('cost %s for a %s is %s cents', (cost, type, cents) => {
    expect(priceUsdMinor(cost, type, settings)).toBe(cents);
  });

  it('never gives a user a lower price than a merchant, nor any price below cost, with markups of zero or more', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 12n }),
        fc.nat(100_000),
        fc.nat(100_000),
        (cost, markupBps, moreBps) => {
          const both = { ...settings, merchantMarkupBps: markupBps, userMarkupBps: markupBps + moreBps };
          const merchant = priceUsdMinor(cost, 'MERCHANT', both);
          expect(merchant * 100n + 50n >= cost).toBe(true);
          expect(priceUsdMinor(cost, 'USER', both) >= merchant).toBe(true);
        },
      ),
    );
  });
});

describe('convertUsdMinor', () => {
  it.each([
    // cents, currency, rate, minor units
    [125n, 'NGN', '1600', 206_000n], // 1.25 × 1600 × 1.03 = 2060.00
    [99n, 'NGN', '1534.25', 156_447n], // 1564.47475 naira → kobo: 156447.4725
    [1n, 'NGN', '1600', 1_648n],
    [100n, 'EUR', '0.92', 92n],
    [99n, 'EUR', '0.92', 91n], // 91.08
    [1n, 'EUR', '0.5', 1n], // Half up.
    [1n, 'EUR', '0.499999', 0n],
    [0n, 'NGN', '1600', 0n],
    [9_007_199_254_740_993n, 'EUR', '1', 9_007_199_254_740_993n],
    [9_007_199_254_740_993n, 'EUR', '0.000001', 9_007_199_255n], // 9007199254.740993
  ])('%s cents are %s at %s: %s', (cents, currency, rate, amountMinor) => {
    expect(convertUsdMinor(cents, rateOf(currency, rate), settings)).toEqual({ amountMinor, currency });
  });

  it('adds the increment to NGN only', () => {
    const double = { ...settings, ngnIncrementBps: 10_000 };
    expect(convertUsdMinor(100n, rateOf('NGN', '2'), double).amountMinor).toBe(400n);
    expect(convertUsdMinor(100n, rateOf('KES', '2'), double).amountMinor).toBe(200n);
  });
});

describe('rates as text', () => {
  it.each([
    ['1', 1_000_000n],
    ['1534.25', 1_534_250_000n],
    ['0.000001', 1n],
    ['999999999999.999999', 999_999_999_999_999_999n],
    ['007', 7_000_000n],
  ])('reads %s', (text, micros) => {
    expect(parseRateMicros(text)).toBe(micros);
  });

  it.each(['', '0', '0.0', '0.0000001', '-1', '1e3', '.5', '5.', 'NaN', '1,5', ' 1', '1'.repeat(13)])(
    'refuses %j',
    (text) => {
      expect(parseRateMicros(text)).toBeUndefined();
    },
  );

  it.each([
    [1_534_250_000n, '1534.25'],
    [1_600_000_000n, '1600'],
    [1n, '0.000001'],
    [100_000n, '0.1'],
  ])('writes %s as %s', (micros, text) => {
    expect(formatRateMicros(micros)).toBe(text);
  });

  it('reads back what it writes, in the fewest characters', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 18n - 1n }), (micros) => {
        const text = formatRateMicros(micros);
        expect(parseRateMicros(text)).toBe(micros);
        expect(text).not.toMatch(/\.\d*0$|\.$/);
      }),
    );
  });
});

describe('isRateJump', () => {
  it.each([
    [1000n, 1000n, false],
    [1000n, 1100n, false],
    [1000n, 1101n, true],
    [1000n, 900n, false],
    [1000n, 899n, true],
    [1n, 2n, true],
    [1_600_000_000n, 1_760_000_000n, false],
    [1_600_000_000n, 1_760_000_001n, true],
    [1_600_000_000n, 16_000_000_000n, true],
  ])('from %s to %s: %s', (lastGood, next, jumps) => {
    expect(isRateJump(lastGood, next)).toBe(jumps);
  });
});
