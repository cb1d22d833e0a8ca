import { describe, expect, it } from 'vitest';
import { DomainError, ERROR_CODES } from '../../src/domain/errors.ts';
import { asFailureReason, FAILURE_REASONS } from '../../src/domain/refusals.ts';

describe('failure reasons', () => {
  it('each have their error code', () => {
    expect(FAILURE_REASONS).toEqual({
      INSUFFICIENT_BALANCE: 'INSUFFICIENT_BALANCE',
      PACKAGE_WITHDRAWN: 'PACKAGE_UNAVAILABLE',
      OUT_OF_STOCK: 'PACKAGE_UNAVAILABLE',
      PRICE_CHANGED: 'PACKAGE_UNAVAILABLE',
      SUPPLIER_BALANCE_TOO_LOW: 'PACKAGE_UNAVAILABLE',
      SUPPLIER_REFUSED: 'PACKAGE_UNAVAILABLE',
      ESIM_NOT_ACTIVE: 'INVALID_TOPUP',
      QUOTE_USED: 'QUOTE_USED',
      TOO_MANY_UNPAID_PAYMENTS: 'TOO_MANY_UNPAID_PAYMENTS',
      PAYMENT_NOT_SERVED: 'PAYMENT_METHOD_UNAVAILABLE',
      PAYMENT_NOT_OPENED: 'PAYMENT_FAILED',
      NOT_VERIFIED: 'SERVICE_UNAVAILABLE',
      NOT_RECORDED: 'SERVICE_UNAVAILABLE',
      SUPERSEDED: 'IDEMPOTENCY_KEY_IN_USE',
      PAYMENT_EXPIRED: 'PAYMENT_FAILED',
      PAYMENT_UNDERPAID: 'PAYMENT_FAILED',
      PAYMENT_WRONG_CURRENCY: 'PAYMENT_FAILED',
      PAYMENT_REVERSED: 'PAYMENT_FAILED',
      CANCELLED_BY_OPERATOR: 'PACKAGE_UNAVAILABLE',
    });
    for (const code of Object.values(FAILURE_REASONS)) expect(ERROR_CODES).toContain(code);
  });

  it.each(Object.keys(FAILURE_REASONS))('can be read back: %s', (reason) => {
    expect(asFailureReason(reason)).toBe(reason);
  });

  it.each(['', 'insufficient_balance', 'toString', '__proto__', 'constructor', 'PAYMENT_FAILED'])(
    'do not include %j, which is a bug',
    (text) => {
      expect(() => asFailureReason(text)).toThrow(RangeError);
    },
  );
});

describe('the list of error codes', () => {
  it('has each code once', () => {
    expect(new Set(ERROR_CODES).size).toBe(ERROR_CODES.length);
    for (const code of ERROR_CODES) expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
  });

  it('has what a caller may see', () => {
    const error = new DomainError('SERVICE_UNAVAILABLE', 'later', { details: 'why', retryAfterSeconds: 5 });
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: 'why', retryAfterSeconds: 5 });
    expect(new DomainError('NOT_FOUND', 'no')).toMatchObject({
      details: undefined,
      retryAfterSeconds: undefined,
    });
  });
});
