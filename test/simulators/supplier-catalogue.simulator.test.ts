import { beforeAll, describe, expect, it } from 'vitest';
import {
  createCatalogue,
  type WireLocation,
  type WirePackage,
} from '../../packages/simulators/esim-access/catalogue.ts';
import { GIGABYTE, sharedSimulator } from './supplier-simulator.support.ts';

const simulator = sharedSimulator();
const list = (body: object) => simulator.packages(body);
let all: WirePackage[];
beforeAll(async () => {
  all = await list({});
});

describe('the supplier simulator, its catalogue', () => {
  it('has real names, members of regions and operators', async () => {
    const { obj } = await simulator.call('location/list', {});
    const { locationList } = obj as { locationList: WireLocation[] };
    const byCode = new Map(locationList.map((each) => [each.code, each]));
    const country = { type: 1, subLocationList: null };
    expect(byCode.get('NG')).toEqual({ code: 'NG', name: 'Nigeria', ...country });
    expect(byCode.get('ZZ')).toEqual({ code: 'ZZ', name: 'Sandbox scenarios', ...country });
    for (const region of locationList.filter((each) => each.type === 2)) {
      const members = region.subLocationList ?? [];
      expect(Number(region.code.split('-')[1])).toBe(members.length);
      expect(new Set(members.map((each) => each.code)).size).toBe(members.length);
      for (const member of members) expect(byCode.get(member.code)?.name).toBe(member.name);
    }
    expect(byCode.get('NA-3')?.subLocationList?.map((each) => each.code)).toEqual(['CA', 'MX', 'US']);
    const [nigeria] = await list({ locationCode: 'NG' });
    expect(nigeria?.locationNetworkList[0]?.operatorList.map((each) => each.operatorName)).toContain('MTN');
  });

  it('has unique codes and slugs, and every field in its format', () => {
    expect(new Set(all.map((each) => each.packageCode)).size).toBe(all.length);
    expect(new Set(all.map((each) => each.slug)).size).toBe(all.length);
    for (const each of all) {
      expect(Number.isSafeInteger(each.price) && each.price >= 1000 && each.price % 100 === 0).toBe(true);
      expect(each.retailPrice).toBeGreaterThan(each.price);
      expect(Number.isSafeInteger(each.volume) && each.volume > 0).toBe(true);
      expect(each).toMatchObject({ currencyCode: 'USD', durationUnit: 'DAY', unusedValidTime: 180 });
      const codes = each.locationNetworkList.map((network) => network.locationCode);
      expect(each.location.split(',')).toEqual(codes);
      for (const { locationLogo, locationCode, operatorList } of each.locationNetworkList) {
        expect(locationLogo).toBe(`/img/flags/${locationCode.toLowerCase()}.png`);
        expect([1, 2, 3, 4]).toContain(operatorList.length);
        for (const { networkType } of operatorList) expect(networkType).toMatch(/^[345]G$/);
      }
    }
  });
});

describe('the supplier simulator, the filters of /package/list', () => {
  it('select by country, all regions and all global packages', async () => {
    const codesOf = async (locationCode: string) => [
      ...new Set((await list({ locationCode })).map((each) => each.locationCode)),
    ];
    expect(await codesOf('ES')).toEqual(['ES']);
    const regional = await codesOf('!RG');
    expect(regional).toHaveLength(24);
    expect(regional.every((code) => /^(?!GL)[A-Z]+-\d+$/.test(code))).toBe(true);
    expect((await codesOf('!GL')).toSorted()).toEqual(['GL-106', 'GL-139', 'GL-60']);
  });

  it('select by code, slug and data type; an empty text selects all', async () => {
    const [bySlug] = await list({ slug: 'ES_3_30', locationCode: '', packageCode: '', iccid: '' });
    expect(bySlug).toMatchObject({
      name: 'Spain 3GB 30Days',
      volume: 3 * GIGABYTE,
      duration: 30,
      dataType: 1,
    });
    expect(await list({ packageCode: bySlug?.packageCode })).toEqual([bySlug]);
    const fixed = await list({ locationCode: 'ES', dataType: 1 });
    const daily = await list({ locationCode: 'ES', dataType: 2 });
    expect(fixed.every((each) => each.dataType === 1)).toBe(true);
    expect(new Set(daily.map((each) => each.dataType))).toEqual(new Set([2, 3, 4]));
    const slow = daily.find((each) => each.slug === 'ES_1_Daily_1Mbps');
    expect(slow).toMatchObject({ fupPolicy: '1 Mbps', supportTopUpType: 3 });
    expect(await list({ locationCode: 'ES', dataType: '1' })).toEqual(fixed);
  });

  it('select top-ups by code, slug, iccid and esimTranNo: those of the same location and kind of data', async () => {
    const [base] = await list({ slug: 'ES_3_30' });
    const topUps = await list({ type: 'TOPUP', packageCode: base?.packageCode });
    expect(topUps.length).toBeGreaterThan(5);
    for (const each of topUps)
      expect(each).toMatchObject({
        packageCode: expect.stringMatching(/^TOPUP_/) as unknown,
        locationCode: 'ES',
        dataType: 1,
      });
    const own = topUps.find((each) => each.packageCode === `TOPUP_${base?.packageCode ?? ''}`);
    expect({ ...own, packageCode: base?.packageCode }).toEqual(base);
    expect(await list({ type: 'TOPUP', slug: 'ES_3_30' })).toEqual(topUps);
    expect(await list({ type: 'TOPUP', packageCode: own?.packageCode })).toEqual([own]);
    const { iccid, esimTranNo } = await simulator.buy('ES_3_30');
    expect(await list({ type: 'TOPUP', iccid })).toEqual(topUps);
    expect(await list({ type: 'TOPUP', esimTranNo })).toEqual(topUps);
    expect(await list({ type: 'BASE', iccid })).toEqual([base]);
    expect(await list({ type: 'TOPUP', slug: 'ES_0.5_7' })).toEqual([]);
    const daily = await list({ type: 'TOPUP', slug: 'ES_1_Daily' });
    expect(daily.every((each) => each.dataType !== 1)).toBe(true);
  });

  it('select every top-up by one package for each location and kind of data', () => {
    const { base, topUps, topUpsFor } = createCatalogue();
    const covered = new Set<string>();
    for (const group of Map.groupBy(base, (entry) => entry.topUpGroup).values()) {
      const one = group.find((entry) => entry.item.supportTopUpType !== 1);
      for (const { item } of one === undefined ? [] : topUpsFor(one)) covered.add(item.packageCode);
    }
    expect(covered).toEqual(new Set(topUps.map((entry) => entry.item.packageCode)));
  });

  it.each([
    [{ type: 'TOPUP' }, '000105'],
    [{ type: 'TOPUP', locationCode: 'ES' }, '000105'],
    [{ type: 'OTHER' }, '200008'],
    [{ type: 7 }, '200008'],
    [{ dataType: 3 }, '200008'],
    [{ locationCode: 'XX' }, '310211'],
    [{ packageCode: 'NOPE' }, '310241'],
    [{ type: 'TOPUP', packageCode: 'TOPUP_NOPE' }, '310241'],
    [{ slug: 'NOPE_1_7' }, '310243'],
    [{ type: 'TOPUP', iccid: '8999900000000000000' }, '310403'],
    [{ slug: 'x'.repeat(201) }, '000107'],
  ])('refuse %j with %s', async (body, code) => {
    expect((await simulator.call('package/list', body)).errorCode).toBe(code);
  });
});

describe('the supplier simulator, PUT and DELETE /packages', () => {
  it('change a price, withdraw a package, and restore both', async () => {
    const slug = 'FR_1_7';
    const before = await list({ slug });
    const code = before[0]?.packageCode ?? '';
    const changed = await simulator.control('PUT', `/packages/${code}`, { price: 123_400 });
    expect(changed).toEqual({ status: 200, body: { packageCode: code, price: 123_400, withdrawn: false } });
    expect((await list({ slug }))[0]?.price).toBe(123_400);
    expect((await list({})).find((each) => each.packageCode === code)?.price).toBe(123_400);
    expect((await simulator.control('PUT', `/packages/${slug}`, { withdrawn: true })).status).toBe(200);
    expect(await list({ slug })).toEqual([]);
    expect((await list({})).some((each) => each.packageCode === code)).toBe(false);
    expect((await simulator.order('withdrawn', code)).errorCode).toBe('310241');
    expect((await simulator.control('DELETE', `/packages/${code}`)).status).toBe(200);
    expect(await list({ slug })).toEqual(before);
    expect((await simulator.order('restored', code)).success).toBe(true);
  });

  it('answer 404 for an unknown package and 400 for a wrong field', async () => {
    expect((await simulator.control('PUT', '/packages/NOPE', { price: 1 })).status).toBe(404);
    for (const body of [{}, { price: -1 }, { price: '1' }, { withdrawn: 1 }, { other: 1 }, [], '{"price":'])
      expect((await simulator.control('PUT', '/packages/FR_1_7', body)).status).toBe(400);
  });
});
