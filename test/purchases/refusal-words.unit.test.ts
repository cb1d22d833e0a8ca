/**
 * The text of a refusal by the workflow: each reason says what is wrong, and no reason says something false.
 */
import { expect, it } from 'vitest';
import { FAILURE_REASONS, type FailureReason } from '../../src/domain/refusals.ts';
import { refused } from '../../src/payments/first-answer.ts';

const messageOf = (reason: FailureReason) => refused({ reason, detail: 'for operators' }).message;

it('an eSIM that is not active is not reported as a problem of the package', () => {
  expect(messageOf('ESIM_NOT_ACTIVE')).toBe('Only an ACTIVE eSIM can be topped up');
});

it('no reason shows a caller what is for operators only', () => {
  for (const reason of Object.keys(FAILURE_REASONS) as FailureReason[]) {
    expect(messageOf(reason)).not.toBe('');
    expect(JSON.stringify(refused({ reason, detail: 'for operators' }))).not.toContain('for operators');
  }
});
