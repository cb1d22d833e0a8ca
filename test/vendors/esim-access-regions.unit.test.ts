/**
 * How the eSIM Access client reads regions and image addresses, and when it refuses a list with unreadable
 * rows.
 */
import { describe, expect, it } from 'vitest';
import {
  imageUrl,
  packagesOf,
  readRows,
  regionsOf,
  type Places,
} from '../../src/vendors/esim-access/map-catalogue.ts';
import type { WirePackage } from '../../src/vendors/esim-access/wire.ts';

const noPlaces: Places = { globalCodes: new Set(), locations: [], imageHost: 'https://images.example.com' };
const item = (change: Partial<WirePackage> = {}): WirePackage => ({
  packageCode: 'P1',
  slug: 'ES_1_7',
  name: 'Spain 1GB 7Days',
  price: 8_600,
  volume: 1_073_741_824,
  dataType: 1,
  unusedValidTime: 180,
  duration: 7,
  durationUnit: 'DAY',
  location: 'ES',
  locationCode: 'ES',
  description: 'Spain 1GB 7Days',
  activeType: 2,
  speed: '4G',
  supportTopUpType: 2,
  locationNetworkList: [
    { locationName: 'Spain', locationLogo: '/img/flags/es.png', locationCode: 'ES', operatorList: [] },
  ],
  ...change,
});
const regionOf = (change: Partial<WirePackage>, places = noPlaces) => {
  const [region] = regionsOf([item(change)], places);
  const [sold] = packagesOf([item(change)], 'BASE', places).items;
  expect(sold).toMatchObject({ regionCode: region?.regionCode, regionType: region?.regionType });
  return region;
};

describe('the eSIM Access client, a region', () => {
  it.each([
    ['GL', 'LC'],
    ['!GL', 'GL'],
    ['GL-139', 'GL'],
    ['GL-139-B', 'LC'],
    ['EGL', 'LC'],
    ['GLP', 'LC'],
    ['GL-', 'LC'],
  ])('with the code %s is %s', (locationCode, regionType) => {
    expect(regionOf({ locationCode })).toMatchObject({ regionCode: locationCode, regionType });
  });

  it('of a package without a location code is its location', () => {
    expect(regionOf({ locationCode: '', location: 'IT' })).toMatchObject({
      regionCode: 'IT',
      regionType: 'LC',
    });
  });

  it('that is not listed has its name from the package, or else from the code', () => {
    expect(regionOf({})).toMatchObject({ regionName: 'Spain', countryCode: 'ES' });
    expect(regionOf({ locationNetworkList: [] })).toMatchObject({ regionName: 'ES', countryCode: 'ES' });
    const [network] = item().locationNetworkList;
    const unnamed = [{ ...network!, locationName: '' }];
    expect(regionOf({ locationNetworkList: unnamed })).toMatchObject({ regionName: 'ES' });
    expect(regionOf({ locationCode: 'EU-2', location: 'ES,IT' })).toMatchObject({
      regionName: 'EU-2',
      regionType: 'RG',
      countryCode: null,
    });
  });

  it('that is listed has its name and type from the list', () => {
    const listed = (type: number): Places => ({
      ...noPlaces,
      locations: [{ code: 'ES', name: 'España', type }],
    });
    expect(regionOf({}, listed(2))).toMatchObject({ regionName: 'España', regionType: 'RG' });
    expect(regionOf({ location: 'ES,IT' }, listed(1))).toMatchObject({ regionType: 'LC' });
  });
});

describe('the eSIM Access client, an image', () => {
  it.each([
    ['', ''],
    ['/img/es.png', 'https://images.example.com/img/es.png'],
    ['img/es.png', 'https://images.example.com/img/es.png'],
    ['//img//es.png', 'https://images.example.com/img//es.png'],
    ['https://cdn.example.com/es.png', 'https://cdn.example.com/es.png'],
    ['http://cdn.example.com/es.png', 'http://cdn.example.com/es.png'],
    [
      '/proxy?of=https://cdn.example.com/es.png',
      'https://images.example.com/proxy?of=https://cdn.example.com/es.png',
    ],
  ])('at %j is at %j', (path, url) => {
    expect(imageUrl('https://images.example.com', path)).toBe(url);
    expect(imageUrl('https://images.example.com//', path)).toBe(url);
  });
});

describe('the eSIM Access client, a list with unreadable rows', () => {
  const rowsOf = (good: number, bad: number) => [
    ...Array<boolean>(good).fill(true),
    ...Array<boolean>(bad).fill(false),
  ];
  const read = (isGood: boolean) => {
    if (!isGood) throw new Error('no price');
    return isGood;
  };

  it('is accepted up to one row in twenty, and refused above that with the first reason', () => {
    expect(readRows(rowsOf(19, 1), read)).toMatchObject({ unreadable: ['no price'] });
    expect(readRows([], read)).toEqual({ items: [], unreadable: [] });
    expect(() => readRows(rowsOf(18, 1), read)).toThrow('1 of 19 rows unreadable, the first: no price');
  });

  it('names only the first letters of an unknown unit', () => {
    const list = [...Array<WirePackage>(40).fill(item()), item({ durationUnit: 'x'.repeat(100) })];
    expect(packagesOf(list, 'BASE', noPlaces).unreadable).toEqual([`duration unit ${'x'.repeat(16)}`]);
  });
});
