/** Retry-After in an answer: seconds or a date; everything else is ignored. */
import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../src/platform/outbound/retry-after.ts';

const now = new Date('2026-11-21T09:00:00.000Z');

describe('Retry-After', () => {
  it.each([
    ['1', 1_000],
    [' 30 ', 30_000],
    ['999999999', 999_999_999_000],
    ['Sat, 21 Nov 2026 09:01:00 GMT', 60_000],
  ])('%j is a wait of %i ms', (header, waitMs) => {
    expect(retryAfterMs(header, now)).toBe(waitMs);
  });

  it.each([
    undefined,
    '',
    '0',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '9999999999',
    'soon',
    '2026-11-22',
    '60, 120',
    '60 s',
    'Sat, 21 Nov 2026 08:59:59 GMT',
    'Sat, 21 Nov 2026 09:00:00 GMT',
    'Sat, 99 Nov 2026 09:01:00 GMT',
    'Sat, 21 Abc 2026 09:01:00 GMT',
    'Sat, 21 Nov 2026 09:01:00 GMT-0200',
    'on Sat, 21 Nov 2026 09:01:00 GMT',
  ])('%j is ignored', (header) => {
    expect(retryAfterMs(header, now)).toBeUndefined();
  });
});
