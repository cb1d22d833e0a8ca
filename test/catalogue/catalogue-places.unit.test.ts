// Every place of the sandbox's catalogue through the reader and the map: each country is listed as a country
// under its own code.
import { describe, expect, it } from 'vitest';
import { packagesOf, regionsOf } from '../../src/vendors/esim-access/map-catalogue.ts';
import { allowanceText } from '../../src/catalogue/rules.ts';
import { readLocations, readPackage } from '../../src/vendors/esim-access/wire.ts';
import { createCatalogue } from '../../packages/simulators/esim-access/catalogue.ts';

const catalogue = createCatalogue();
const locations = readLocations({ locationList: catalogue.locations });
const countries = locations.filter((location) => location.type === 1);
const wirePackages = catalogue.base.map((entry) => readPackage(entry.item));
const imageHost = 'https://images.example.com';
const globalCodes = new Set(
  catalogue.base.filter((entry) => entry.scope === 'GL').map((entry) => entry.item.locationCode),
);

describe.each([
  ['where the vendor lists its places', locations],
  ['where only the packages name their places', []],
])('%s', (_name, listed) => {
  const places = { globalCodes, locations: listed, imageHost };

  it('lists every country as LC with its own code', () => {
    expect(countries.length).toBeGreaterThan(150);
    const regions = new Map(regionsOf(wirePackages, places).map((region) => [region.regionCode, region]));
    const wrong = countries.filter(({ code }) => {
      const region = regions.get(code);
      return region?.regionType !== 'LC' || region.countryCode !== code;
    });
    expect(wrong).toEqual([]);
  });

  it('gives packages, and top-ups too, the type of their place', () => {
    const scopes = new Map(catalogue.base.map((entry) => [entry.item.packageCode, entry.scope]));
    for (const type of ['BASE', 'TOPUP'] as const) {
      const { items } = packagesOf(wirePackages, type, places);
      const wrong = items.filter((item) => item.regionType !== scopes.get(item.packageCode));
      expect(wrong.map((item) => `${item.packageCode} ${item.regionType}`)).toEqual([]);
    }
  });
});

it('all global bundles are recognised, and Greenland is none of them', () => {
  const regions = regionsOf(wirePackages, { globalCodes: new Set(), locations, imageHost });
  const globals = regions.filter((region) => region.regionType === 'GL').map((region) => region.regionCode);
  expect(globals).toEqual([...globalCodes]);
  expect(globals).not.toContain('GL');
});

it('the size in a package’s name is its listed allowance', () => {
  const sized = catalogue.base.flatMap(({ item }) => {
    const [, size, unit] = / (\d+)([MG]B)(?= |\/Day)/.exec(item.name) ?? [];
    return size === undefined ? [] : [{ item, named: `${size} ${unit}` }];
  });
  expect(sized.length).toBeGreaterThan(2_000);
  const wrong = sized.filter(
    ({ item, named }) => allowanceText(item.volume, item.dataType).replace('/day', '') !== named,
  );
  expect(wrong.map(({ item, named }) => `${named}: ${item.volume} bytes`)).toEqual([]);
});
