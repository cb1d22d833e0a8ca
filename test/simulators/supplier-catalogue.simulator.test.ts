/** The catalogue of the supplier simulator: names, fields, the filters of /package/list, and overrides. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCatalogue, type WireLocation } from '../../packages/simulators/esim-access/catalogue.ts';
import type { WirePackage } from '../../packages/simulators/esim-access/catalogue.ts';
import { GIGABYTE, startSimulator, stopAll, type TestSimulator } from './supplier-simulator.support.ts';

const catalogue = createCatalogue();
let simulator: TestSimulator;
/** Every base package: a long answer, which most tests only read. */
let all: WirePackage[];

beforeAll(async () => {
  simulator = await startSimulator();
  all = await list({});
});
afterAll(stopAll);

async function list(body: Record<string, unknown>): Promise<WirePackage[]> {
  const reply = await simulator.call('package/list', body);
  expect(reply).toMatchObject({ status: 200, success: true, errorCode: '0', errorMsg: null });
  return (reply.obj as { packageList: WirePackage[] }).packageList;
}

const codeOf = async (body: Record<string, unknown>) =>
  (await simulator.call('package/list', body)).errorCode;

describe('the supplier simulator, its catalogue', () => {
  it('has real names, members of regions and operators', async () => {
    const { obj } = await simulator.call('location/list', {});
    const { locationList } = obj as { locationList: WireLocation[] };
    const byCode = new Map(locationList.map((each) => [each.code, each]));
    expect(byCode.get('NG')).toEqual({ code: 'NG', name: 'Nigeria', type: 1, subLocationList: null });
    expect(byCode.get('ZZ')).toEqual({
      code: 'ZZ',
      name: 'Sandbox scenarios',
      type: 1,
      subLocationList: null,
    });
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
      expect(each.location.split(',')).toEqual(
        each.locationNetworkList.map((network) => network.locationCode),
      );
      for (const network of each.locationNetworkList) {
        expect(network.locationLogo).toBe(`/img/flags/${network.locationCode.toLowerCase()}.png`);
        expect(network.operatorList.length).toBeGreaterThanOrEqual(1);
        expect(network.operatorList.length).toBeLessThanOrEqual(4);
        for (const { networkType } of network.operatorList) expect(networkType).toMatch(/^[345]G$/);
      }
    }
    expect(Object.keys(all[0] ?? {})).toEqual([
      'packageCode', 'slug', 'name', 'price', 'currencyCode', 'volume', 'smsStatus', 'dataType',
      'unusedValidTime', 'duration', 'durationUnit', 'location', 'locationCode', 'description', 'activeType',
      'favorite', 'retailPrice', 'speed', 'ipExport', 'supportTopUpType', 'fupPolicy', 'locationNetworkList',
    ]); // prettier-ignore
  });
});

describe('the supplier simulator, the filters of /package/list', () => {
  it('select by country, all regions and all global packages', async () => {
    expect(new Set((await list({ locationCode: 'ES' })).map((each) => each.locationCode))).toEqual(
      new Set(['ES']),
    );
    const regional = await list({ locationCode: '!RG' });
    expect(regional.length).toBeGreaterThan(100);
    expect(
      regional.every((each) => /^[A-Z]+-\d+$/.test(each.locationCode) && !each.locationCode.startsWith('GL')),
    ).toBe(true);
    const global = await list({ locationCode: '!GL' });
    expect(new Set(global.map((each) => each.locationCode)).size).toBe(3);
    expect(global.every((each) => each.locationCode.startsWith('GL-'))).toBe(true);
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
    expect(daily.find((each) => each.slug === 'ES_1_Daily_1Mbps')).toMatchObject({
      fupPolicy: '1 Mbps',
      supportTopUpType: 3,
    });
    expect(await list({ locationCode: 'ES', dataType: '1' })).toEqual(fixed);
  });

  it('select top-ups by code, slug, iccid and esimTranNo: those of the same location and kind of data', async () => {
    const [base] = await list({ slug: 'ES_3_30' });
    const topUps = await list({ type: 'TOPUP', packageCode: base?.packageCode });
    expect(topUps.map((each) => each.packageCode)).toContain(`TOPUP_${base?.packageCode ?? ''}`);
    expect(topUps.length).toBeGreaterThan(5);
    expect(topUps.every((each) => each.locationCode === 'ES' && each.dataType === 1)).toBe(true);
    expect(topUps.every((each) => each.packageCode.startsWith('TOPUP_'))).toBe(true);
    const own = topUps.find((each) => each.slug === 'ES_3_30');
    expect({ ...own, packageCode: base?.packageCode }).toEqual(base);
    expect(await list({ type: 'TOPUP', slug: 'ES_3_30' })).toEqual(topUps);
    expect(await list({ type: 'TOPUP', packageCode: own?.packageCode })).toEqual([own]);
    const { obj } = await simulator.order('topup-list', 'ES_3_30');
    const esim = (await simulator.esim((obj as { orderNo: string }).orderNo)) as {
      iccid: string;
      esimTranNo: string;
    };
    expect(await list({ type: 'TOPUP', iccid: esim.iccid })).toEqual(topUps);
    expect(await list({ type: 'TOPUP', esimTranNo: esim.esimTranNo })).toEqual(topUps);
    expect(await list({ type: 'BASE', iccid: esim.iccid })).toEqual([base]);
    expect(await list({ type: 'TOPUP', slug: 'ES_0.5_7' })).toEqual([]);
    expect((await list({ type: 'TOPUP', slug: 'ES_1_Daily' })).every((each) => each.dataType !== 1)).toBe(
      true,
    );
  });

  it('select every top-up by one package for each location and kind of data', () => {
    const covered = new Set<string>();
    for (const group of Map.groupBy(catalogue.base, (entry) => entry.topUpGroup).values()) {
      const one = group.find((entry) => entry.item.supportTopUpType !== 1);
      for (const topUp of one === undefined ? [] : catalogue.topUpsFor(one))
        covered.add(topUp.item.packageCode);
    }
    expect(covered).toEqual(new Set(catalogue.topUps.map((entry) => entry.item.packageCode)));
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
    expect(await codeOf(body)).toBe(code);
  });
});

describe('the supplier simulator, PUT and DELETE /packages', () => {
  it('change a price, withdraw a package, and restore both', async () => {
    const before = await list({ slug: 'FR_1_7' });
    const code = before[0]?.packageCode ?? '';
    const changed = await simulator.control('PUT', `/packages/${code}`, { price: 123_400 });
    expect(changed).toEqual({ status: 200, body: { packageCode: code, price: 123_400, withdrawn: false } });
    expect((await list({ slug: 'FR_1_7' }))[0]?.price).toBe(123_400);
    expect((await list({})).find((each) => each.packageCode === code)?.price).toBe(123_400);
    expect((await simulator.control('PUT', '/packages/FR_1_7', { withdrawn: true })).status).toBe(200);
    expect(await list({ slug: 'FR_1_7' })).toEqual([]);
    expect((await list({})).some((each) => each.packageCode === code)).toBe(false);
    expect(await simulator.order('withdrawn', code)).toMatchObject({ success: false, errorCode: '310241' });
    expect((await simulator.control('DELETE', `/packages/${code}`)).status).toBe(200);
    expect(await list({ slug: 'FR_1_7' })).toEqual(before);
    expect((await simulator.order('restored', code)).success).toBe(true);
  });

  it('answer 404 for an unknown package and 400 for a wrong field', async () => {
    expect((await simulator.control('PUT', '/packages/NOPE', { price: 1 })).status).toBe(404);
    for (const body of [
      {},
      { price: -1 },
      { price: '1' },
      { withdrawn: 1 },
      { other: 1 },
      [],
      'x',
      '{"price":',
    ]) {
      expect((await simulator.control('PUT', '/packages/FR_1_7', body)).status).toBe(400);
    }
  });
});
