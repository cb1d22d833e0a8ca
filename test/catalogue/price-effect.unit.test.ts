// What a preview of prices counts, worked out by hand for a few packages.
import { describe, expect, test } from 'vitest';
import { effectOn, totalsOf } from '../../src/catalogue/price-effect.ts';
import { changeBps } from '../../src/catalogue/pricing.ts';

const before = { userMarkupBps: 2_500, merchantMarkupBps: 1_500, ngnIncrementBps: 300 };
const naira = { id: '1', currency: 'NGN', micros: 1_500_000_000n, source: 'config', observedAtMs: 0 };
const rates = new Map([['NGN', naira]]);
const item = (packageCode: string, cost: bigint) =>
  ({ packageCode, name: packageCode, packageType: 'BASE', cost }) as const;
const totalOf = (effects: Parameters<typeof totalsOf>[0], accountType: string, currency: string) =>
  totalsOf(effects).find((one) => one.accountType === accountType && one.currency === currency);

describe('one package', () => {
  test('has a price before and after for each type of account and currency, with the change and the margin', () => {
    const after = { ...before, merchantMarkupBps: 3_000 };
    const [effect] = effectOn([item('A', 20_000n)], { before, after, rates });
    expect(effect?.prices).toEqual([
      {
        ...{ accountType: 'USER', currency: 'NGN', beforeMinor: 386_250n, afterMinor: 386_250n },
        ...{ changeBps: 0, marginBps: 2_233 },
      },
      {
        ...{ accountType: 'USER', currency: 'USD', beforeMinor: 250n, afterMinor: 250n },
        ...{ changeBps: 0, marginBps: 2_000 },
      },
      {
        ...{ accountType: 'MERCHANT', currency: 'NGN', beforeMinor: 355_350n, afterMinor: 401_700n },
        ...{ changeBps: 1_304, marginBps: 2_532 },
      },
      {
        ...{ accountType: 'MERCHANT', currency: 'USD', beforeMinor: 230n, afterMinor: 260n },
        ...{ changeBps: 1_304, marginBps: 2_308 },
      },
    ]);
    expect(effect?.largestChangeBps).toBe(1_304);
  });

  test('has no price in NGN without a rate, and cannot be sold in it', () => {
    const effects = effectOn([item('A', 20_000n)], { before, after: before, rates: new Map() });
    expect(effects[0]?.prices[0]).toEqual({
      ...{ accountType: 'USER', currency: 'NGN', beforeMinor: null, afterMinor: null },
      ...{ changeBps: null, marginBps: null },
    });
    expect(totalOf(effects, 'USER', 'NGN')).toEqual({
      ...{ accountType: 'USER', currency: 'NGN', dearer: 0, cheaper: 0, unchanged: 0, unsellable: 1 },
      ...{ belowCost: 0, largestRiseBps: null, largestFallBps: null, lowestMarginBps: null },
    });
  });
});

describe('the whole catalogue', () => {
  const packages = [item('C', 100_000n), item('A', 49n), item('B', 10_040n)];

  test('lists the largest changes first, and counts each package once in a line', () => {
    const after = { userMarkupBps: 0, merchantMarkupBps: 2_000, ngnIncrementBps: 300 };
    const effects = effectOn(packages, { before, after, rates });
    // A costs half a cent: its price was one cent for users, and is none now.
    expect(effects.map(({ packageCode, largestChangeBps }) => [packageCode, largestChangeBps])).toEqual([
      ['A', 10_000],
      ['B', 2_063],
      ['C', 2_000],
    ]);
    expect(totalOf(effects, 'USER', 'USD')).toEqual({
      ...{ accountType: 'USER', currency: 'USD', dearer: 0, cheaper: 2, unchanged: 0, unsellable: 1 },
      // 1.004 dollars are sold for 1.00.
      ...{ belowCost: 1, largestRiseBps: null, largestFallBps: -2_063, lowestMarginBps: -40 },
    });
    expect(totalOf(effects, 'MERCHANT', 'USD')).toEqual({
      ...{ accountType: 'MERCHANT', currency: 'USD', dearer: 2, cheaper: 0, unchanged: 1, unsellable: 0 },
      ...{ belowCost: 0, largestRiseBps: 435, largestFallBps: null, lowestMarginBps: 1_633 },
    });
  });

  test('is empty without packages', () => {
    const totals = totalsOf(effectOn([], { before, after: before, rates }));
    expect(totals).toHaveLength(4);
    expect(totals[0]).toMatchObject({ unchanged: 0, lowestMarginBps: null });
  });
});

test('a change is shown in hundredths of a percent, rounded half up, and none from zero', () => {
  expect(changeBps(300n, 301n)).toBe(33);
  expect(changeBps(300n, 299n)).toBe(-33);
  expect(changeBps(20_000n, 20_001n)).toBe(1);
  expect(changeBps(0n, 5n)).toBeNull();
});
