/**
 * How the eSIM Access client reads the vendor's examples, live ones and documented ones, regions and image
 * addresses, and which bodies and lists it refuses.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  imageUrl,
  packagesOf,
  readRows,
  regionsOf,
  type Places,
} from '../../src/vendors/esim-access/map-catalogue.ts';
import { isUnallocated, profileOf } from '../../src/vendors/esim-access/map.ts';
import {
  packageListOf,
  parseEnvelope,
  readBalance,
  readEsims,
  readLocations,
  readOrder,
  readPackage,
  readTopUp,
  readUsages,
  type WirePackage,
} from '../../src/vendors/esim-access/wire.ts';

function example(name: string): string {
  return readFileSync(new URL(`../fixtures/esim-access/${name}.json`, import.meta.url), 'utf8');
}

function objOf(name: string): unknown {
  const envelope = parseEnvelope(example(name));
  if (!envelope.success) throw new Error(`${name} is no success`);
  return envelope.obj;
}

describe('the eSIM Access client, the envelope', () => {
  it.each(['order', 'order-as-documented'])('reads the example %s as a success', (name) => {
    expect(readOrder(objOf(name))).toEqual({
      orderNo: 'B26092719290017',
      transactionId: 'txn-00000000000000000000000000000001',
    });
  });

  it.each([
    ['refused-live', '310241', 'the package code [NO-SUCH-PACKAGE] is not on sale'],
    ['refused-as-documented', '200007', 'insufficient account balance'],
    ['allocating', '200010', 'profiles are still being allocated'],
  ])('reads the example %s as a failure', (name, code, message) => {
    expect(parseEnvelope(example(name))).toEqual({ success: false, code, message });
  });

  it.each([
    ['{"success":false,"errorCode":900001}', '900001'],
    ['{"success":false,"errorCode":1,"errorMsg":null}', '000001'],
    ['{"success":false,"errorCode":null}', ''],
    ['{"success":false}', ''],
  ])('reads in %s the code %j', (body, code) => {
    expect(parseEnvelope(body)).toEqual({ success: false, code, message: '' });
  });

  it.each([
    '',
    'null',
    '[]',
    '"ok"',
    '{}',
    '{"success":1,"obj":{}}',
    '{"success":"yes"}',
    '<html>',
    '{"success":true',
  ])('refuses %j', (body) => {
    expect(() => parseEnvelope(body)).toThrow(/answer|JSON|envelope/);
  });
});

describe('the eSIM Access client, eSIMs', () => {
  const only = (name: string) => {
    const { esims, total } = readEsims(objOf(name));
    expect([esims.length, total]).toEqual([1, 1]);
    return esims[0]!;
  };

  it('reads a new eSIM', () => {
    const esim = only('query-new');
    expect(isUnallocated(esim.profile)).toBe(false);
    expect(profileOf(esim)).toEqual({
      packageCode: esim.packageList[0]?.packageCode,
      orderNo: 'B26092719290017',
      esimTranNo: '26092719290021',
      transactionId: 'txn-00000000000000000000000000000001',
      iccid: '8900000000000000001',
      imsi: '001010000000001',
      msisdn: null,
      ac: 'LPA:1$rsp.example.com$GOLDEN-1',
      qrCodeUrl: 'https://qr.example.com/golden1.png',
      shortUrl: 'https://qr.example.com/golden1',
      smdpStatus: 'RELEASED',
      eid: '',
      activeType: '2',
      dataType: 1,
      smsStatus: 1,
      activateTime: null,
      expiredTime: '2027-03-26T19:29:36.000Z',
      totalVolumeBytes: 1_073_741_824,
      totalDuration: 7,
      durationUnit: 'DAY',
      orderUsageBytes: 0,
      status: 'CREATED',
      supplierStatus: 'GOT_RESOURCE',
      pin: '0000',
      puk: null,
      apn: 'internet.example',
    });
  });

  it('reads an eSIM in use with a top-up', () => {
    const { packageList, ...esim } = only('query-in-use');
    expect(profileOf({ ...esim, packageList })).toMatchObject({
      packageCode: packageList[0]?.packageCode,
      status: 'ACTIVE',
      msisdn: '15550100',
      puk: '00000000',
      activateTime: '2026-09-28T08:00:00.000Z',
      totalVolumeBytes: 2_147_483_648,
      orderUsageBytes: 734_003_200,
    });
    expect(packageList.map((item) => item.transactionId)).toEqual([
      'txn-00000000000000000000000000000001',
      'txn-00000000000000000000000000000002',
    ]);
  });

  it('reads an eSIM that is being allocated without a profile', () => {
    const bare = { esimTranNo: '1', orderNo: 'B1', esimStatus: 'GETTING_RESOURCE', iccid: '', ac: null };
    const { esims, total } = readEsims({ esimList: [bare] });
    expect(total).toBeNull();
    expect(isUnallocated(esims[0]!.profile)).toBe(true);
    expect(profileOf(esims[0]!)).toBeNull();
  });

  it.each([
    [true, { esimStatus: 'GETTING_RESOURCE' }],
    [true, { ac: '', iccid: '' }],
    [false, {}],
    [false, { ac: '' }],
    [false, { iccid: '' }],
  ])('has an eSIM that is not allocated: %s for %j', (is, change) => {
    expect(isUnallocated({ ...only('query-new').profile, ...change })).toBe(is);
  });

  it('reads a new status as null, with the vendor’s word', () => {
    const esim = only('query-new');
    const profile = { ...esim.profile, esimStatus: 'TELEPORTED' };
    expect(profileOf({ ...esim, profile })).toMatchObject({ status: null, supplierStatus: 'TELEPORTED' });
  });

  it('does not guess what was ordered where the list does not say', () => {
    expect(profileOf({ ...only('query-new'), packageList: [] })).toMatchObject({ packageCode: '' });
  });

  it.each(['iccid', 'ac', 'esimTranNo', 'totalVolume', 'totalDuration'])(
    'reads an eSIM without %s without a profile',
    (field) => {
      const body = JSON.parse(example('query-new')) as { obj: { esimList: Record<string, unknown>[] } };
      body.obj.esimList[0]![field] = null;
      expect(profileOf(readEsims(body.obj).esims[0]!)).toBeNull();
    },
  );
});

describe('the eSIM Access client, other answers', () => {
  it('reads a top-up, usage and the balance', () => {
    expect(readTopUp(objOf('topup'))).toEqual({
      transactionId: 'txn-00000000000000000000000000000002',
      iccid: '8900000000000000001',
      totalVolumeBytes: 2_147_483_648,
      orderUsageBytes: 734_003_200,
      totalDuration: 14,
      expiredTime: '2026-10-12T08:00:00.000Z',
    });
    expect(readUsages(objOf('usage'))).toEqual([
      {
        esimTranNo: '26092719290021',
        usedBytes: 734_003_200,
        totalBytes: 2_147_483_648,
        observedAt: '2026-09-29T06:00:00.000Z',
      },
    ]);
    expect(readBalance(objOf('balance'))).toBe(491_400n);
    expect(readBalance({ balance: '-5' })).toBe(-5n);
  });

  it.each([
    () => readOrder({ transactionId: 'x' }),
    () => readOrder(null),
    () => readTopUp({ iccid: '1', totalVolume: -1, totalDuration: 7, orderUsage: 0 }),
    () => readTopUp({ iccid: '1', totalVolume: 1.5, totalDuration: 7, orderUsage: 0 }),
    () => readUsages({ esimUsageList: null }),
    () => readBalance({ balance: 0.5 }),
    () => readBalance({ balance: 2 ** 60 }),
    () => readEsims({ esimList: {} }),
    () => packageListOf([]),
  ])('throws on an unreadable answer (%#)', (read) => {
    expect(read).toThrow(/no object|missing|no whole number|no list/);
  });
});

describe('the eSIM Access client, the catalogue', () => {
  const locations = readLocations(objOf('location-list'));
  const wirePackages = packageListOf(objOf('package-list')).map(readPackage);
  const places = { globalCodes: new Set(['WORLD-3']), locations, imageHost: 'https://images.example.com/' };

  it('reads countries, a region, the global one, and a country that only a package names', () => {
    const read = regionsOf(wirePackages, places);
    expect(read.map((one) => [one.regionCode, one.regionName, one.regionType, one.countryCode])).toEqual([
      ['ES', 'Spain', 'LC', 'ES'],
      ['JP', 'Japan', 'LC', 'JP'],
      ['EU-2', 'Europe', 'RG', null],
      ['WORLD-3', 'Global', 'GL', null],
      ['IT', 'Italy', 'LC', 'IT'],
    ]);
    for (const { regionCode, flagUrl } of read)
      expect(flagUrl).toBe(`https://images.example.com/img/flags/${regionCode.toLowerCase()}.png`);
  });

  it('reads packages into our fields', () => {
    const { items, unreadable } = packagesOf(wirePackages, 'BASE', places);
    expect(unreadable).toEqual([]);
    expect(items[0]).toEqual({
      packageCode: 'GOLDEN-ES-1-7',
      packageType: 'BASE',
      slug: 'ES_1_7',
      name: 'Spain 1GB 7Days',
      regionCode: 'ES',
      regionType: 'LC',
      cost: 8600n,
      volumeBytes: 1_073_741_824,
      dataType: 1,
      duration: 7,
      durationUnit: 'DAY',
      unusedValidDays: 180,
      speed: '3G/4G/5G',
      description: 'Spain 1GB 7Days',
      activeType: 2,
      topUpAvailable: true,
      location: 'ES',
      locationCode: 'ES',
      networks: [
        {
          locationName: 'Spain',
          locationLogo: 'https://images.example.com/img/flags/es.png',
          locationCode: 'ES',
          operatorList: [
            { operatorName: 'Golden Mobile', networkType: '5G' },
            { operatorName: 'Fixture Telecom', networkType: '4G' },
          ],
        },
      ],
    });
    expect(items.map((item) => [item.regionType, item.topUpAvailable, item.cost])).toEqual([
      ['LC', true, 8600n],
      ['RG', false, 21000n],
      ['GL', true, 312000n],
      ['LC', true, 7900n],
    ]);
    expect(items[2]?.networks[0]?.locationLogo).toBe('https://images.example.com/jp.png');
  });

  it.each([
    { price: '1.20' },
    { price: -1 },
    { price: null },
    { volume: 'lots' },
    { currencyCode: 'EUR' },
    { packageCode: '' },
    { duration: undefined },
  ])('cannot read a row with %j', (change) => {
    const rows = packageListOf(objOf('package-list')) as object[];
    expect(() => readPackage({ ...rows[0], ...change })).toThrow();
  });
});

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
