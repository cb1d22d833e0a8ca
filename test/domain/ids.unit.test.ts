/** The form of our ids; no other text is accepted as one. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isId, makeId, type IdKind } from '../../src/domain/ids.ts';
import {
  keyedTransactionId,
  newEsimId,
  newTransactionId,
} from '../../src/platform/idempotency/identify-request.ts';

const HEX = '0123456789abcdef0123456789abcdef';
const KINDS: [IdKind, string][] = [
  ['transaction', `txn-${HEX}`],
  ['esim', `esim-${HEX}`],
  ['account', `acc-${HEX}`],
  ['key', `key-${HEX}`],
  ['endpoint', `ep-${HEX}`],
  ['message', `msg-${HEX}`],
  ['action', `action-${HEX}`],
];

describe('ids', () => {
  it.each(KINDS)('of %s look like %s', (kind, id) => {
    expect(makeId(kind, HEX)).toBe(id);
    expect(isId(kind, id)).toBe(true);
    for (const [other, otherId] of KINDS) expect(isId(kind, otherId)).toBe(other === kind);
  });

  it.each(['', HEX.slice(1), `${HEX}0`, HEX.toUpperCase(), `${HEX.slice(1)}g`, `${HEX}\n`])(
    'are not made from %j',
    (hex) => {
      expect(() => makeId('transaction', hex)).toThrow(/^no transaction id /);
    },
  );

  it.each([
    '',
    `txn_${HEX}`,
    ` txn-${HEX}`,
    `txn-${HEX}\n`,
    `txn-${HEX}\u0000`,
    `TXN-${HEX}`,
    `txn-${HEX}-2`,
    `x\ntxn-${HEX}`,
  ])('of transactions do not look like %j', (text) => {
    expect(isId('transaction', text)).toBe(false);
  });

  it('are recognised, and no other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        for (const [kind] of KINDS) expect(isId(kind, text)).toBe(false);
      }),
    );
  });
});

describe('new ids', () => {
  const secret = Buffer.from('a secret for this test');
  const caller = { environment: 'test', accountId: 'acc-1', idempotencyKey: 'k', after: 0 } as const;

  it('are new each time, in letters, digits and dashes, at most 50 characters', () => {
    const ids = Array.from({ length: 100 }, () => [newEsimId(), newTransactionId()]).flat();
    expect(new Set(ids).size).toBe(200);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9-]{1,50}$/);
  });

  it('are the same for the same secret, environment, account and Idempotency-Key, and for nothing else', () => {
    const id = keyedTransactionId(secret, caller);
    expect(isId('transaction', id)).toBe(true);
    expect(keyedTransactionId(secret, caller)).toBe(id);
    const others = [
      keyedTransactionId(Buffer.from('another'), caller),
      keyedTransactionId(secret, { ...caller, environment: 'live' }),
      keyedTransactionId(secret, { ...caller, accountId: 'acc-2' }),
      keyedTransactionId(secret, { ...caller, idempotencyKey: 'k2' }),
      // The boundary between parts makes a difference.
      keyedTransactionId(secret, { ...caller, accountId: 'acc-1k', idempotencyKey: '' }),
      keyedTransactionId(secret, { ...caller, after: 1 }),
      keyedTransactionId(secret, { ...caller, after: 2 }),
    ];
    expect(new Set([id, ...others]).size).toBe(8);
  });

  it('that follow a refused one are its own', () => {
    const after = keyedTransactionId(secret, caller);
    const next = keyedTransactionId(secret, { ...caller, after });
    expect(next).toBe(keyedTransactionId(secret, { ...caller, after }));
    expect(new Set([after, next, keyedTransactionId(secret, { ...caller, after: next })]).size).toBe(3);
  });
});
