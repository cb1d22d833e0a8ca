/** Why a purchase fails: the reasons, their error codes, and what callers read. */
import { expect, it } from 'vitest';
import { DomainError, ERROR_CODES } from '../../src/domain/errors.ts';
import { asFailureReason, FAILURE_REASONS, type FailureReason } from '../../src/domain/refusals.ts';
import { refused } from '../../src/payments/first-answer.ts';

const REASONS = Object.keys(FAILURE_REASONS) as FailureReason[];

it('a refusal has its name, and only the given details', () => {
  const bare = new DomainError('NOT_FOUND', 'there is none');
  expect(String(bare)).toBe('DomainError: there is none');
  expect(bare).toMatchObject({ code: 'NOT_FOUND', details: undefined, retryAfterSeconds: undefined });
  const given = { details: '100 a minute', retryAfterSeconds: 3 };
  expect(new DomainError('RATE_LIMIT_EXCEEDED', 'slower', given)).toMatchObject(given);
});

it('each error code is in the list once', () => {
  expect(new Set(ERROR_CODES).size).toBe(ERROR_CODES.length);
  for (const code of ERROR_CODES) expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
});

it.each(REASONS)('%s is read back as written, and has a text that shows nothing for operators', (reason) => {
  expect(asFailureReason(reason)).toBe(reason);
  const shown = refused({ reason, detail: 'for operators' });
  expect(shown.code).toBe(FAILURE_REASONS[reason]);
  expect(shown.message).not.toBe('');
  expect(JSON.stringify(shown)).not.toContain('for operators');
});

it.each(['', 'insufficient_balance', 'toString', '__proto__', 'constructor', 'PAYMENT_FAILED'])(
  '%j is no reason, and is named in the error',
  (text) => {
    expect(() => asFailureReason(text)).toThrow(new RangeError(`unknown failure reason ${text}`));
  },
);

it.each([
  ['INSUFFICIENT_BALANCE', 'INSUFFICIENT_BALANCE'],
  ['OUT_OF_STOCK', 'PACKAGE_UNAVAILABLE'],
  ['CANCELLED_BY_OPERATOR', 'PACKAGE_UNAVAILABLE'],
  ['NOT_VERIFIED', 'SERVICE_UNAVAILABLE'],
  ['PAYMENT_REVERSED', 'PAYMENT_FAILED'],
  ['SUPERSEDED', 'IDEMPOTENCY_KEY_IN_USE'],
] as const)('%s is answered with %s', (reason, code) => {
  expect(FAILURE_REASONS[reason]).toBe(code);
});

it('an eSIM that is not active is not reported as a problem of the package', () => {
  const { message } = refused({ reason: 'ESIM_NOT_ACTIVE', detail: '' });
  expect(message).toBe('Only an ACTIVE eSIM can be topped up');
});
