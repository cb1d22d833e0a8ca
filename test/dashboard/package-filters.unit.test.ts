import { describe, expect, it } from 'vitest';
import {
  gigabytesOf,
  inOrder,
  isFit,
  packageFilters,
  pricePerGb,
} from '../../dashboard/src/merchant/filters.ts';

const NIGERIA = {
  packageName: 'Nigeria 5GB 30Days',
  packageCode: 'NG-5',
  data: '5 GB',
  validity: 30,
  price: 12.5,
};

describe('the data of a package', () => {
  it.each([
    ['5 GB', 30, 5],
    ['1.5 GB', 7, 1.5],
    ['512 MB', 7, 0.5],
    ['1 GB/day', 7, 7],
    ['512 MB/day', 10, 5],
    ['Unlimited', 3, Infinity],
  ])('%s over %i days: %d GB', (data, validity, gigabytes) => {
    expect(gigabytesOf({ data, validity })).toBe(gigabytes);
  });
});

describe('filters', () => {
  it.each([
    [{}, true],
    [{ search: 'nigeria 5' }, true],
    [{ search: 'ng-5' }, true],
    [{ search: 'Ghana' }, false],
    [{ data: 5 }, true],
    [{ data: 5.01 }, false],
    [{ days: 30 }, true],
    [{ days: 31 }, false],
    [{ price: 12.5 }, true],
    [{ price: 12.49 }, false],
    [{ search: 'NG', data: 1, days: 7, price: 20 }, true],
    [{ search: 'NG', data: 1, days: 7, price: 10 }, false],
  ])('%j: %s', (filters, fits) => {
    expect(isFit(NIGERIA, filters)).toBe(fits);
  });

  it('in the address are dropped if they are invalid', () => {
    const region = 'NG';
    expect(packageFilters({ region, search: 5, data: '1.5', days: 7, price: 20 })).toEqual({
      ...{ region, search: '5', data: 1.5, days: 7, price: 20 },
    });
    const none = { region, search: undefined, data: undefined, days: undefined, price: undefined };
    expect(packageFilters({ region, search: '', data: 'much', days: -1, price: 0 })).toEqual(none);
    expect(packageFilters({ region, data: [5], days: true, price: 'Infinity' })).toEqual(none);
  });
});

describe('the order of packages', () => {
  const PACKAGES = [
    { packageCode: 'A', data: '1 GB', validity: 7, price: 4 },
    { packageCode: 'B', data: '10 GB', validity: 30, price: 20 },
    { packageCode: 'C', data: 'Unlimited', validity: 5, price: 15 },
    { packageCode: 'D', data: '1 GB/day', validity: 10, price: 20 },
    { packageCode: 'E', data: '512 MB', validity: 7, price: 1.5 },
  ];
  it.each([
    ['price', 'EACBD'],
    // 10 GB each for the same price: as they came.
    ['data', 'CBDAE'],
    ['days', 'BDEAC'],
    // Unlimited data has no price per GB.
    ['perGb', 'BDEAC'],
  ] as const)('by %s: %s', (order, codes) => {
    expect(
      inOrder(PACKAGES, order)
        .map(({ packageCode }) => packageCode)
        .join(''),
    ).toBe(codes);
  });

  it.each([
    ['5 GB', 30, 12.5, 2.5],
    ['512 MB', 7, 1.5, 3],
    ['1 GB/day', 10, 20, 2],
    ['Unlimited', 3, 15, null],
  ])('%s over %i days for %d: %s a GB', (data, validity, price, perGb) => {
    expect(pricePerGb({ data, validity, price })).toBe(perGb);
  });
});
