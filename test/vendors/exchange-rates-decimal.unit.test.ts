/**
 * A provider's rate as text: at most six decimals, half rounded up, and null for anything but a plain
 * positive decimal.
 */
import { describe, expect, it } from 'vitest';
import { rateText } from '../../src/vendors/exchange-rates/decimal.ts';

describe('rateText', () => {
  it.each([
    ['1534.25', '1534.25'],
    ['1534', '1534'],
    ['1500', '1500'],
    ['0.5', '0.5'],
    ['007.10', '7.1'],
    ['0.000001', '0.000001'],
    ['0.0000005', '0.000001'],
    ['1534.2545674', '1534.254567'],
    ['1534.2545675', '1534.254568'],
    ['1534.25456749', '1534.254567'],
    ['0.9999999', '1'],
    ['999999999999.999999', '999999999999.999999'],
    [`1.${'1'.repeat(30)}`, '1.111111'],
  ])('%s is %s', (written, text) => {
    expect(rateText(written)).toBe(text);
  });

  it.each([
    '',
    '0',
    '0.0000004',
    '-1',
    '+1',
    '1.',
    '.5',
    '1e3',
    '1,600',
    ' 1',
    '1 ',
    'NaN',
    '1234567890123',
    `1.${'1'.repeat(31)}`,
    1534.25,
    null,
    undefined,
    ['1534'],
  ])('%j is null', (written) => {
    expect(rateText(written)).toBeNull();
  });
});
