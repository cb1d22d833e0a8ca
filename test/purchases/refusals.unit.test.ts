/** Refusals between modules: the content of an exception, and reasons read back from rows. */
import { expect, it } from 'vitest';
import { DomainError, ERROR_CODES } from '../../src/domain/errors.ts';
import { asFailureReason, FAILURE_REASONS } from '../../src/domain/refusals.ts';

it('a refusal has its name, and only the given details', () => {
  const bare = new DomainError('NOT_FOUND', 'there is none');
  expect(String(bare)).toBe('DomainError: there is none');
  expect(bare).toMatchObject({ code: 'NOT_FOUND', details: undefined, retryAfterSeconds: undefined });
  const full = new DomainError('RATE_LIMIT_EXCEEDED', 'slower', {
    details: '100 a minute',
    retryAfterSeconds: 3,
  });
  expect(full).toMatchObject({ details: '100 a minute', retryAfterSeconds: 3 });
});

it('every reason has a code of the known list', () => {
  for (const code of Object.values(FAILURE_REASONS)) expect(ERROR_CODES).toContain(code);
});

it('a reason is read back as written, and an unknown one is named in the error', () => {
  for (const reason of Object.keys(FAILURE_REASONS)) expect(asFailureReason(reason)).toBe(reason);
  for (const text of ['', 'NO_SUCH_REASON', 'toString'])
    expect(() => asFailureReason(text)).toThrow(new RangeError(`unknown failure reason ${text}`));
});
