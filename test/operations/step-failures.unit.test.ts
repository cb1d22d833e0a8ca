/**
 * What an error of a step means to Temporal: a row that the database refuses for good is final and raises an
 * alert, everything else is retried.
 */
import { ApplicationFailure } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import { withFailures, type OnRefusedRow } from '../../activities/failure.ts';
import { CONSTRAINTS } from '../../src/platform/database/errors.ts';

type Refused = Parameters<OnRefusedRow>[0];

async function failureOf(facts: object): Promise<{ failure: unknown; alerts: Refused[] }> {
  const alerts: Refused[] = [];
  const failing = () => Promise.reject(Object.assign(new Error('refused'), facts));
  const { aStep } = withFailures({ aStep: failing }, (refused) => alerts.push(refused));
  const failure: unknown = await aStep().then(
    () => undefined,
    (error: unknown) => error,
  );
  return { failure, alerts };
}

describe('a step', () => {
  it.each([
    [
      'a check',
      { code: '23514', constraint: 'purchases_price_minor_check' },
      'SQLSTATE 23514, purchases_price_minor_check',
    ],
    ['a column that must not be null', { code: '23502' }, 'SQLSTATE 23502'],
    ['a number out of range', { code: '22003' }, 'SQLSTATE 22003'],
  ])('that breaks %s fails for good, with an alert', async (_what, facts, detail) => {
    const { failure, alerts } = await failureOf(facts);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ nonRetryable: true, type: 'RefusedRow' });
    expect(alerts).toEqual([{ step: 'aStep', detail }]);
  });

  it.each([
    ['a duplicate, which another run wrote first', { code: '23505', constraint: 'purchases_pkey' }],
    [
      'a rule of ours that its callers expect',
      { code: '23514', constraint: CONSTRAINTS.walletNeverBelowZero },
    ],
    ['a lost connection', { code: '08006' }],
    ['a deadlock', { code: '40P01' }],
    ['a bug', {}],
  ])('that meets %s is retried', async (_what, facts) => {
    const { failure, alerts } = await failureOf(facts);
    expect(failure).not.toBeInstanceOf(ApplicationFailure);
    expect(alerts).toEqual([]);
  });
});
