/**
 * The limits of the Paystack client: every method in every currency with its minimum and maximum, and which
 * references are valid.
 */
import { describe, expect, it } from 'vitest';
import { isReference, limitsOf, refusalOf } from '../../src/vendors/paystack/limits.ts';

const MAXIMUM = 10_000_000_00n;
/** Minimum amounts in hundredths; null: not served. */
const MINIMUM = {
  CARD: { NGN: 50_00n, USD: 2_00n, GHS: 10n, ZAR: 1_00n, KES: 3_00n, XOF: 1_00n },
  APPLE_PAY: { NGN: 50_00n, USD: 2_00n, GHS: 10n, ZAR: null, KES: 3_00n, XOF: 1_00n },
  BANK_TRANSFER: { NGN: 100_00n, USD: null, GHS: null, ZAR: null, KES: null, XOF: null },
  MOBILE_MONEY: { NGN: null, USD: null, GHS: 10n, ZAR: null, KES: 3_00n, XOF: 1_00n },
} as const;
const METHODS = Object.keys(MINIMUM) as (keyof typeof MINIMUM)[];
const TABLE = METHODS.flatMap((method) =>
  Object.entries<bigint | null>(MINIMUM[method]).map(
    ([currency, minimum]) => [method, currency, minimum] as const,
  ),
);

describe('the Paystack client, its limits', () => {
  it.each(TABLE)('by %s in %s start at %s', (method, currency, minimum) => {
    const refusal = (amountMinor: bigint) => refusalOf(method, { amountMinor, currency });
    if (minimum === null) {
      expect(limitsOf(method, currency)).toBeUndefined();
      expect(refusal(1000_00n)).toBe('METHOD_NOT_SERVED');
      return;
    }
    expect(limitsOf(method, currency)).toEqual({ minMinor: minimum, maxMinor: MAXIMUM });
    expect([minimum - 1n, minimum, MAXIMUM, MAXIMUM + 1n].map(refusal)).toEqual([
      'AMOUNT_NOT_SERVED',
      undefined,
      undefined,
      'AMOUNT_NOT_SERVED',
    ]);
  });

  it.each(METHODS)('by %s exclude other currencies', (method) => {
    expect(limitsOf(method, 'EUR')).toBeUndefined();
    expect(refusalOf(method, { amountMinor: 1000_00n, currency: 'EUR' })).toBe('CURRENCY_NOT_SERVED');
  });
});

describe('the Paystack client, a reference', () => {
  it.each(['txn-1', 'a', '.a', 'a.b=c-D9', 'x'.repeat(100)])('may be %j', (reference) => {
    expect(isReference(reference)).toBe(true);
  });

  it.each(['', '.', '..', '...', 'txn_1', 'a/b', 'a b', 'a\n', ' a', 'é', 'x'.repeat(101)])(
    'may not be %j',
    (reference) => {
      expect(isReference(reference)).toBe(false);
    },
  );
});
