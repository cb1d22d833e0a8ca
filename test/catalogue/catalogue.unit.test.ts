/** Packages in readable form: allowance, validity, operators, and what an order freezes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowanceText, snapshotOf, validityDays } from '../../src/catalogue/rules.ts';
import { basePackage } from '../support/money/facts.ts';

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;

describe('allowanceText', () => {
  it.each([
    [5 * GIB, 1, '5 GB'],
    [1.5 * GIB, 1, '1.5 GB'],
    [GIB, 1, '1 GB'],
    [100 * GIB, 1, '100 GB'],
    [Math.trunc(0.3 * GIB), 1, '307.2 MB'],
    [500 * MIB, 1, '500 MB'],
    [100 * MIB, 2, '100 MB/day'],
    [2 * GIB, 3, '2 GB/day'],
    [2 * GIB, 4, 'Unlimited'],
    [0, 4, 'Unlimited'],
  ])('%i bytes of type %i are %s', (bytes, dataType, text) => {
    expect(allowanceText(bytes, dataType)).toBe(text);
  });

  it('never shows trailing zeros or a bare point', () => {
    fc.assert(
      fc.property(fc.nat({ max: 200 * GIB }), fc.constantFrom(1, 2, 3), (bytes, dataType) => {
        expect(allowanceText(bytes, dataType)).toMatch(/^(0|[1-9]\d*)(\.\d?[1-9])? [MG]B(\/day)?$/);
      }),
    );
  });
});

describe('validityDays', () => {
  it.each([
    [7, 'DAY', 7],
    [0, 'DAY', 1],
    [1, 'HOUR', 1],
    [24, 'HOUR', 1],
    [35, 'HOUR', 1],
    [36, 'HOUR', 2],
    [48, 'HOUR', 2],
    [1, 'MONTH', 30],
    [12, 'MONTH', 360],
  ] as const)('%i × %s = %i', (duration, unit, days) => {
    expect(validityDays(duration, unit)).toBe(days);
  });

  it('counts hours as exactly as whole numbers would', () => {
    for (let hours = 0; hours <= 24 * 366; hours += 1) {
      expect(validityDays(hours, 'HOUR')).toBe(Math.max(1, Math.trunc((hours + 12) / 24)));
    }
  });
});

describe('what an order freezes', () => {
  it('is what its buyer was shown', () => {
    expect(snapshotOf(basePackage())).toEqual({
      data: '5 GB',
      coverage: ['Nigeria', 'Ghana'],
      networkProviders: ['MTN', 'Airtel'],
      dataType: 'Data only',
      speed: '3G/4G',
    });
  });

  it.each([
    [1, 'Data only'],
    [2, 'Data only, daily allowance then slowed'],
    [3, 'Data only, daily allowance then cut'],
    [4, 'Data only, unlimited daily'],
    [99, 'Data only'],
  ])('type %i is %s', (dataType, label) => {
    expect(snapshotOf({ ...basePackage(), dataType }).dataType).toBe(label);
  });
});
