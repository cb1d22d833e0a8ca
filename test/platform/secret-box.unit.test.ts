// Secrets at rest: unreadable, unchangeable, bound to their owner; keys can be replaced.
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSecretBox } from '../../src/platform/secret-box.ts';

const [OLD, NEW] = ['0123456789abcdef'.repeat(4), randomBytes(32).toString('hex')];
const SECRET = `whsec_${'made-up-for-tests'.repeat(2)}`;
const box = createSecretBox({ key: NEW, previousKeys: [] });

describe('an encrypted secret', () => {
  it('decrypts for its owner to the original', () => {
    for (const plain of [SECRET, '', 'ünïcode ✓'.repeat(100)])
      expect(box.open(box.seal(plain, 'ep-1'), 'ep-1')).toBe(plain);
  });

  it('shows nothing of the secret, and differs each time', () => {
    const [first, second] = [box.seal(SECRET, 'ep-1'), box.seal(SECRET, 'ep-1')];
    expect(first.equals(second)).toBe(false);
    expect(first.toString('latin1')).not.toContain(SECRET.slice(6, 14));
    expect(first.toString('base64')).not.toContain(SECRET.slice(6, 14));
  });

  it('decrypts for no other owner', () => {
    expect(() => box.open(box.seal(SECRET, 'ep-1'), 'ep-2')).toThrow(
      'the seal of the secret of ep-2 is broken',
    );
  });

  it('does not decrypt with any bit changed, or cut short, and no error shows the secret', () => {
    const sealed = box.seal(SECRET, 'ep-1');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = changed[bit >> 3]! ^ (1 << (bit & 7));
      expect(() => box.open(changed, 'ep-1')).toThrow(/ep-1/);
    }
    for (let length = 0; length < sealed.length; length += 1)
      expect(() => box.open(sealed.subarray(0, length), 'ep-1')).toThrow(/ep-1/);
  });
});

describe('a replaced key', () => {
  const before = createSecretBox({ key: OLD, previousKeys: [] });
  const after = createSecretBox({ key: NEW, previousKeys: [OLD] });

  it('decrypts what it encrypted, and encrypts no more', () => {
    const sealed = before.seal(SECRET, 'ep-1');
    expect(after.open(sealed, 'ep-1')).toBe(SECRET);
    expect(after.isCurrent(sealed)).toBe(false);
    expect(after.isCurrent(after.seal(SECRET, 'ep-1'))).toBe(true);
    expect(() => before.open(after.seal(SECRET, 'ep-1'), 'ep-1')).toThrow(
      'sealed with a key that is not here',
    );
  });

  it('that was thrown away decrypts nothing', () => {
    expect(() => box.open(before.seal(SECRET, 'ep-1'), 'ep-1')).toThrow('sealed with a key that is not here');
  });
});

it('a key must have 64 hexadecimal digits', () => {
  for (const key of ['', 'ab', 'g'.repeat(64), '0'.repeat(63), '0'.repeat(65)])
    expect(() => createSecretBox({ key, previousKeys: [] })).toThrow(TypeError);
});
