import { describe, expect, it } from 'vitest';
import { compileAllowed } from '../../src/platform/outbound/addresses.ts';

describe('an allowed address', () => {
  it.each([
    ['10.20.0.1', '10.20.0.1', '10.20.0.2'],
    ['10.20.0.0/16', '10.20.255.255', '10.21.0.0'],
    ['fd00:1::7', 'fd00:1::7', 'fd00:1::8'],
    ['fd00:1::/32', 'fd00:1:ffff::1', 'fd00:2::1'],
    ['0.0.0.0/0', '8.8.8.8', '::1'],
    ['::/0', '::1', '8.8.8.8'],
  ])('of %s contains %s and not %s', (entry, inside, outside) => {
    const isAllowed = compileAllowed(['192.0.2.1', entry]);
    expect(isAllowed(inside)).toBe(true);
    expect(isAllowed(outside)).toBe(false);
  });

  it('must be valid to match; an empty list matches none', () => {
    const isAllowed = compileAllowed(['0.0.0.0/0', '::/0']);
    for (const text of ['', 'x', '10.20', '::1%lo', '10.20.0.1/32']) expect(isAllowed(text)).toBe(false);
    expect(compileAllowed([])('8.8.8.8')).toBe(false);
  });

  it.each(['', 'x', 'localhost', '10.20', '10.20.0.1/33', '10.20.0.1/', '10.20.0.1/8/8', '::1%lo', '::/129'])(
    'written %j is refused, and named in the refusal',
    (entry) => {
      expect(() => compileAllowed([entry])).toThrow(
        new TypeError(`"${entry}" is neither an address nor a range`),
      );
    },
  );
});
