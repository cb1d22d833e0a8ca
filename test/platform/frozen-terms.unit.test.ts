/**
 * The API's signature over frozen terms: it covers every field, for one kind, in one environment, for a day.
 */
import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../src/domain/clock.ts';
import { createTermsSigner } from '../../src/platform/frozen-terms.ts';
import { purchaseInput } from '../support/money/facts.ts';

const SECRET = Buffer.from('a secret of at least 32 characters');
const NOW = new Date('2026-03-01T10:00:00.000Z');
const later = (ms: number) => new Date(NOW.getTime() + ms);

const signer = createTermsSigner(SECRET, 'test');
const input = purchaseInput({
  transactionId: 'txn-1',
  idempotency: { key: 'k', path: '/p', fingerprint: 'f' },
});
const signed = signer.sign('purchase', input, NOW);
/** As read back from Temporal. */
const travelled = JSON.parse(JSON.stringify(signed)) as typeof signed;

/** The path of every field, nested ones included. */
function pathsOf(value: object, before: readonly string[] = []): string[][] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    const path = [...before, name];
    return typeof inner === 'object' && inner !== null ? pathsOf(inner, path) : [path];
  });
}

function withChanged(path: readonly string[]): typeof signed {
  const copy = structuredClone(travelled);
  let at = copy as unknown as Record<string, unknown>;
  for (const name of path.slice(0, -1)) at = at[name] as Record<string, unknown>;
  const last = path.at(-1) ?? '';
  at[last] = typeof at[last] === 'number' ? at[last] + 1 : `${String(at[last])}0`;
  return copy;
}

describe('signed terms', () => {
  it('are recognised after transport, in any order of their fields', () => {
    expect(signer.verify('purchase', travelled, NOW)).toBe('ours');
    const turned = Object.fromEntries(Object.entries(travelled).toReversed());
    expect(signer.verify('purchase', turned, NOW)).toBe('ours');
    expect(signer.verify('purchase', { ...travelled, charge: undefined } as object, NOW)).toBe('ours');
    expect(createTermsSigner(SECRET, 'test').verify('purchase', travelled, NOW)).toBe('ours');
  });

  it.each(pathsOf(signed).map((path) => [path.join('.'), path] as const))(
    'are protected in %s',
    (_name, path) => {
      expect(signer.verify('purchase', withChanged(path), NOW)).toBe('not-ours');
    },
  );

  it('are protected against added and removed fields', () => {
    expect(signer.verify('purchase', { ...travelled, more: 1 } as object, NOW)).toBe('not-ours');
    const less = { ...travelled, idempotency: undefined };
    expect(signer.verify('purchase', less, NOW)).toBe('not-ours');
  });

  it('are valid for their own kind, environment and secret only', () => {
    expect(signer.verify('funding', travelled, NOW)).toBe('not-ours');
    expect(createTermsSigner(SECRET, 'live').verify('purchase', travelled, NOW)).toBe('not-ours');
    const other = createTermsSigner(Buffer.from('b secret of at least 32 characters'), 'test');
    expect(other.verify('purchase', travelled, NOW)).toBe('not-ours');
  });

  it('are valid for a day', () => {
    expect(signer.verify('purchase', travelled, later(DAY_MS))).toBe('ours');
    expect(signer.verify('purchase', travelled, later(DAY_MS + 1))).toBe('too-old');
    const [, hmac = ''] = signed.signature.split('.');
    const younger = { ...travelled, signature: `${later(DAY_MS).getTime()}.${hmac}` };
    expect(signer.verify('purchase', younger, later(DAY_MS))).toBe('not-ours');
  });

  it.each([undefined, null, '', 1, {}, 'x', `${NOW.getTime()}.`, `${NOW.getTime()}.${'0'.repeat(64)}`])(
    'are not valid with the signature %j',
    (signature) => {
      expect(signer.verify('purchase', { ...input, signature } as object, NOW)).toBe('not-ours');
    },
  );
});
