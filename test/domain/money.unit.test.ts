import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideHalfUp, formatAmount, formatMinor, parseMinor } from '../../src/domain/money.ts';

/** All values of a decimal with at most 18 whole digits. */
const anyMinor = fc.bigInt({ min: -(10n ** 20n) + 1n, max: 10n ** 20n - 1n });

describe('formatMinor', () => {
  it.each([
    [0n, '0.00'],
    [1n, '0.01'],
    [-1n, '-0.01'],
    [9n, '0.09'],
    [10n, '0.10'],
    [99n, '0.99'],
    [100n, '1.00'],
    [-100n, '-1.00'],
    [123_456n, '1234.56'],
    [9_007_199_254_740_993n, '90071992547409.93'],
    [-9_223_372_036_854_775_808n, '-92233720368547758.08'],
  ])('writes %s as %s', (amountMinor, text) => {
    expect(formatMinor(amountMinor)).toBe(text);
  });
});

describe('formatAmount', () => {
  it.each([
    [0n, 'USD', '0.00'],
    [-123_456n, 'NGN', '-1234.56'],
    [0n, 'USD4', '0.0000'],
    [7n, 'USD4', '0.0007'],
    [-7n, 'USD4', '-0.0007'],
    [123_456n, 'USD4', '12.3456'],
    [-10_000n, 'USD4', '-1.0000'],
  ])('writes %s of %s as %s', (amountMinor, currency, text) => {
    expect(formatAmount({ amountMinor, currency })).toBe(text);
  });
});

describe('parseMinor', () => {
  it.each([
    ['0', 0n],
    ['-0', 0n],
    ['12', 1200n],
    ['12.3', 1230n],
    ['12.34', 1234n],
    ['-12.34', -1234n],
    ['007.50', 750n],
    ['90071992547409.93', 9_007_199_254_740_993n],
    ['999999999999999999.99', 99_999_999_999_999_999_999n],
  ])('reads %s', (text, amountMinor) => {
    expect(parseMinor(text)).toBe(amountMinor);
  });

  it.each([
    '',
    ' ',
    '.5',
    '5.',
    '12.345',
    '1e3',
    '1,000',
    '+1',
    '--1',
    ' 1',
    '1 ',
    '1\n',
    '0x10',
    'NaN',
    'Infinity',
    '1_000',
    '١٢',
    '1'.repeat(19),
  ])('refuses %j', (text) => {
    expect(parseMinor(text)).toBeUndefined();
  });

  it('reads back everything that formatMinor writes', () => {
    fc.assert(
      fc.property(anyMinor, (amountMinor) => {
        expect(parseMinor(formatMinor(amountMinor))).toBe(amountMinor);
      }),
    );
  });
});

describe('divideHalfUp', () => {
  it.each([
    [0n, 1n, 0n],
    [1n, 2n, 1n],
    [1n, 3n, 0n],
    [2n, 3n, 1n],
    [5n, 10n, 1n],
    [4n, 10n, 0n],
    [49n, 100n, 0n],
    [50n, 100n, 1n],
    [149n, 100n, 1n],
    [150n, 100n, 2n],
    [250n, 100n, 3n],
    [9_007_199_254_740_993n, 1n, 9_007_199_254_740_993n],
  ])('%s ÷ %s = %s', (numerator, denominator, quotient) => {
    expect(divideHalfUp(numerator, denominator)).toBe(quotient);
  });

  it.each([
    [-1n, 1n],
    [1n, 0n],
    [1n, -1n],
    [0n, 0n],
  ])('refuses %s ÷ %s by its own error', (numerator, denominator) => {
    expect(() => divideHalfUp(numerator, denominator)).toThrow(/^divideHalfUp takes /);
  });

  it('is the nearest whole number, the upper one of two', () => {
    const anyNumber = fc.bigInt({ min: 0n, max: 10n ** 40n });
    fc.assert(
      fc.property(anyNumber, fc.bigInt({ min: 1n, max: 10n ** 20n }), (numerator, denominator) => {
        const off = divideHalfUp(numerator, denominator) * denominator - numerator;
        expect(2n * off > -denominator && 2n * off <= denominator).toBe(true);
      }),
    );
  });
});
