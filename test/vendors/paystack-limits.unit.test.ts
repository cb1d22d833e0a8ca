/** What the gateway serves, whole: every method in every currency with its least and its most, and which references it takes. */
import { describe, expect, it } from 'vitest';
import { isReference, limitsOf, refusalOf } from '../../src/vendors/paystack/limits.ts';

const MOST = 10_000_000_00n;
/** Least amounts in hundredths; null: not served. */
const LEAST = {
  CARD: { NGN: 50_00n, USD: 2_00n, GHS: 10n, ZAR: 1_00n, KES: 3_00n, XOF: 1_00n },
  APPLE_PAY: { NGN: 50_00n, USD: 2_00n, GHS: 10n, ZAR: null, KES: 3_00n, XOF: 1_00n },
  BANK_TRANSFER: { NGN: 100_00n, USD: null, GHS: null, ZAR: null, KES: null, XOF: null },
  MOBILE_MONEY: { NGN: null, USD: null, GHS: 10n, ZAR: null, KES: 3_00n, XOF: 1_00n },
} as const;
const METHODS = Object.keys(LEAST) as (keyof typeof LEAST)[];
const TABLE = METHODS.flatMap((method) =>
  Object.entries<bigint | null>(LEAST[method]).map(([currency, least]) => [method, currency, least] as const),
);

describe('what is served', () => {
  it.each(TABLE)('by %s in %s from %s', (method, currency, least) => {
    const refusal = (amountMinor: bigint) => refusalOf(method, { amountMinor, currency });
    if (least === null) {
      expect(limitsOf(method, currency)).toBeUndefined();
      expect(refusal(1000_00n)).toBe('METHOD_NOT_SERVED');
      return;
    }
    expect(limitsOf(method, currency)).toEqual({ minMinor: least, maxMinor: MOST });
    expect([least - 1n, least, MOST, MOST + 1n].map(refusal)).toEqual([
      'AMOUNT_NOT_SERVED',
      undefined,
      undefined,
      'AMOUNT_NOT_SERVED',
    ]);
  });

  it.each(METHODS)('by %s in no other currency', (method) => {
    expect(limitsOf(method, 'EUR')).toBeUndefined();
    expect(refusalOf(method, { amountMinor: 1000_00n, currency: 'EUR' })).toBe('CURRENCY_NOT_SERVED');
  });
});

describe('a reference', () => {
  it.each(['txn-1', 'a', '.a', 'a.b=c-D9', 'x'.repeat(100)])('may be %j', (reference) => {
    expect(isReference(reference)).toBe(true);
  });

  it.each(['', '.', '..', '...', 'txn_1', 'a/b', 'a b', 'a\n', ' a', 'é', 'x'.repeat(101)])(
    'is never %j',
    (reference) => {
      expect(isReference(reference)).toBe(false);
    },
  );
});
