import { expect, it } from 'vitest';
import { givesAway } from './secrets.ts';

it('a PIN counts as a word or a text of its own, anything longer anywhere', () => {
  for (const text of [
    '{"pin":"0432"}',
    'the PIN 0432, sent',
    'pin=0432',
    'pin:0432',
    '(0432)',
    'x/0432.',
    '0432',
  ])
    expect(givesAway(text, '0432'), text).toBe(true);
  for (const text of ['txn-a0432b', '10:04:32.0432Z', '{"ms":10432}', '04321'])
    expect(givesAway(text, '0432'), text).toBe(false);
  expect(givesAway('xLPA:1$abcx', 'LPA:1$abc')).toBe(true);
});
