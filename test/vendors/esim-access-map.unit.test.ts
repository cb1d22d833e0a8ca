/**
 * The tables of the eSIM Access client: every code and status of the vendor's pages, and how it reads unknown
 * ones; times and signatures.
 */
import { describe, expect, it } from 'vitest';
import { authenticationHeaders, type Answer } from '../../src/vendors/esim-access/client.ts';
import { KNOWN_CODES, meaningOf } from '../../src/vendors/esim-access/codes.ts';
import { effectFailure, esimStatusOf, isAllocating, readFailure } from '../../src/vendors/esim-access/map.ts';
import { isoTimeOf, wireTimeOf } from '../../src/vendors/esim-access/wire.ts';

type Failure = Exclude<Answer, { kind: 'answered' }>;
const failed = (code: string): Failure => ({ kind: 'failed', code, message: 'because' });

/** Each of the words with what it stands under. */
const wordsOf = (table: Record<string, string>) =>
  Object.entries(table).flatMap(([name, words]) => words.split(' ').map((word) => [word, name] as const));

describe('the eSIM Access client, error codes', () => {
  const reasons = {
    CREDENTIALS_REFUSED: '000101 000102 101001 101002 101003',
    REQUEST_REFUSED: '000103 000104 000105 000106 000107 200008 310211 310221 310231 310251 310272 310403',
    NOT_ALLOWED_IN_STATE: '200002',
    PRICE_CHANGED: '200005 200006',
    BALANCE_TOO_LOW: '200007',
    OUT_OF_STOCK: '200011',
    PACKAGE_UNKNOWN: '310201 310241 310243',
  };
  const refused = Object.fromEntries(wordsOf(reasons));
  const unknown = { '000001': 1000, '200009': undefined, '200010': 3000, '900001': 1000 };

  it('are those of the vendor’s table', () => {
    const expected = [...Object.keys(refused), ...Object.keys(unknown)];
    expect([...KNOWN_CODES].sort()).toEqual(expected.sort());
  });

  it.each(Object.entries(refused))('%s refuses a change as %s', (code, reason) => {
    const detail = `${code}: because`;
    expect(effectFailure('change', failed(code))).toEqual({ outcome: 'refused', reason, detail });
  });

  it.each(Object.entries(unknown))('%s leaves an effect unknown', (code, retryAfterMs) => {
    const detail = `${code}: because`;
    expect(effectFailure('order', failed(code))).toEqual({ outcome: 'unknown', detail, retryAfterMs });
  });

  it('200002 leaves an order unknown, since the order exists; 200011 refuses it', () => {
    expect(effectFailure('order', failed('200002')).outcome).toBe('unknown');
    expect(effectFailure('order', failed('200011')).outcome).toBe('refused');
  });

  it.each(['', '999999', '200012', 'toString', '__proto__', '0'])(
    '%j is new, so that every outcome is unknown',
    (code) => {
      expect(meaningOf(code)).toEqual({ kind: 'unseen' });
      expect(effectFailure('order', failed(code)).outcome).toBe('unknown');
      expect(effectFailure('change', failed(code)).outcome).toBe('unknown');
    },
  );

  it.each(KNOWN_CODES)('%s leaves a lookup unknown, with its wait', (code) => {
    const wait = (unknown as Record<string, number | undefined>)[code];
    expect(readFailure(failed(code))).toStrictEqual({
      outcome: 'unknown',
      detail: `${code}: because`,
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
    });
  });

  it.each([
    ['', '', 'no code'],
    ['', 'busy', 'no code: busy'],
    ['200007', '', '200007'],
    ['200007', 'too low', '200007: too low'],
  ])('%j with the message %j has the detail %j', (code, message, detail) => {
    expect(readFailure({ kind: 'failed', code, message })).toMatchObject({ detail });
  });

  it('have a detail that says so if they are new', () => {
    expect(effectFailure('order', failed('999999'))).toMatchObject({ detail: 'unseen 999999: because' });
  });

  it('say with 200010 alone that a profile is being allocated', () => {
    expect(KNOWN_CODES.filter((code) => isAllocating(failed(code)))).toEqual(['200010']);
    expect(isAllocating({ kind: 'lost', detail: '200010' })).toBe(false);
    expect(isAllocating({ kind: 'answered', obj: { code: '200010' } })).toBe(false);
  });

  it('are missing from a lost answer, which is unknown and keeps its wait', () => {
    const lost: Failure = { kind: 'lost', detail: 'HTTP 429', retryAfterMs: 2000 };
    const { detail, retryAfterMs } = lost;
    expect(effectFailure('order', lost)).toEqual({ outcome: 'unknown', detail, retryAfterMs });
    expect(readFailure({ kind: 'lost', detail })).toEqual({ outcome: 'unknown', detail });
  });
});

describe('the eSIM Access client, esimStatus', () => {
  const statuses = {
    PENDING: 'CREATE PAYING PAID GETTING_RESOURCE',
    CREATED: 'GOT_RESOURCE',
    ACTIVE: 'IN_USE USED_UP',
    EXPIRED: 'USED_EXPIRED UNUSED_EXPIRED',
    CANCELLED: 'CANCEL REVOKE REVOKED',
    SUSPENDED: 'SUSPENDED',
  };
  it.each(wordsOf(statuses))('%s is %s', (theirs, ours) => {
    expect(esimStatusOf(theirs)).toBe(ours);
  });

  it.each(['RELEASED', 'in_use', '', 'constructor'])('%j is none of ours', (theirs) => {
    expect(esimStatusOf(theirs)).toBeNull();
  });
});

describe('the eSIM Access client, times', () => {
  it.each([
    ['2026-09-27T19:29:36+0000', '2026-09-27T19:29:36.000Z'],
    ['2026-09-27T21:29:36+0200', '2026-09-27T19:29:36.000Z'],
    ['2026-09-27T19:29:36+00:00', '2026-09-27T19:29:36.000Z'],
    ['2026-09-27T19:29:36Z', '2026-09-27T19:29:36.000Z'],
    ['2026-09-27T19:29:36.250Z', '2026-09-27T19:29:36.250Z'],
    ['', null],
    ['2026-09-27', null],
    ['2026-13-27T19:29:36+0000', null],
    ['1790537376', null],
    ['soon', null],
    ['+012026-09-27T19:29:36Z', null],
  ])('%j is %s', (theirs, ours) => {
    expect(isoTimeOf(theirs)).toBe(ours);
  });

  it('are sent with a colon in the offset', () => {
    expect(wireTimeOf(new Date('2026-09-27T19:29:36.900Z'))).toBe('2026-09-27T19:29:36+00:00');
  });
});

describe('the eSIM Access client, signatures', () => {
  const request = {
    timestamp: '1628670421',
    requestId: '4ce9d9cdac9e4e17b3a2c66c358c1ce2',
    body: '{"imsi":"326543826"}',
  };

  it("equal the vendor's example", () => {
    const headers = authenticationHeaders({ accessCode: '11111', secretKey: '1111', sign: true }, request);
    expect(headers).toEqual({
      'RT-AccessCode': '11111',
      'RT-RequestID': request.requestId,
      'RT-Timestamp': request.timestamp,
      'RT-Signature': '7eb765e27df5373dea2dbc8c41a7d9557743e46c8054750f3d851b3fd01d0835',
    });
  });

  it('are made with the access code if there is no secret', () => {
    const own = authenticationHeaders({ accessCode: '11111', sign: true }, request);
    const same = authenticationHeaders({ accessCode: '11111', secretKey: '11111', sign: true }, request);
    expect(own).toEqual(same);
  });

  it('are left out for a client that does not sign', () => {
    const headers = authenticationHeaders({ accessCode: '11111', secretKey: '1111', sign: false }, request);
    expect(headers).toEqual({ 'RT-AccessCode': '11111' });
  });
});
