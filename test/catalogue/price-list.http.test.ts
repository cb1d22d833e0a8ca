// Prices that finance sets for one merchant, as that merchant sees and pays them: the list is what buying
// charges, by every way to buy, and no other account sees it.
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RuleTerms } from '../../src/catalogue/price-rules.ts';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { insertPriceRule } from '../../src/catalogue/store/price-rules.ts';
import { RULE_ROUNDINGS, RULE_SCOPES, RULE_TARGETS } from '../../src/domain/price-rules.ts';
import { connectAgent } from '../mcp/agent.support.ts';
import { startApi, type Reply } from '../support/http/api.ts';
import { baseItem, regionItems, regions } from '../support/http/packages.ts';
import { keyOf } from '../support/http/shop.ts';

const api = await startApi();
afterAll(() => api.close());
const { owner } = api.shop;

const forgetRules = async () => {
  await sql`delete from price_rules`.execute(owner);
  await api.shop.changePrices();
};
beforeEach(forgetRules);
afterEach(forgetRules);

const PACKAGE = baseItem.packageCode;
const ALL = { scope: 'ALL', scopeId: '', target: 'ALL', targetId: '', rounding: 'NONE' } as const;
const markup = (markupBps: number) => ({ kind: 'MARKUP', markupBps }) as const;
const onlyFor = (name: string) => ({ ...ALL, scope: 'ACCOUNT', scopeId: api.shop.accountId(name) }) as const;
const fixed = (priceMinor: bigint, currency: 'USD' | 'NGN' = 'USD') =>
  ({ target: 'PACKAGE', targetId: PACKAGE, kind: 'PRICE', priceMinor, currency }) as const;

async function rule(terms: RuleTerms, times: { from?: Date; until?: Date } = {}): Promise<bigint> {
  const { from = new Date(0), until = null } = times;
  const who = { by: 'a test', reason: 'a test', waits: false };
  const id = await insertPriceRule(owner, { ...terms, from, until }, who);
  await api.shop.changePrices();
  return id;
}

interface Line {
  readonly packageCode: string;
  readonly price: number;
  readonly validUntil: string | null;
}
const listOf = async (key: string): Promise<readonly Line[]> => {
  const reply = await api.ask('/api/esim/price-list', { key });
  expect(reply.status, reply.text).toBe(200);
  return (reply.json as { data: { items: Line[] } }).data.items;
};
const listed = async (key: string, packageCode = PACKAGE) =>
  (await listOf(key)).find((line) => line.packageCode === packageCode);
const priceIn = async (key: string, packageCode = PACKAGE) => (await listed(key, packageCode))?.price;

const packages = (key: string, more = '') => api.ask(`/api/esim/packages?regionCode=NG${more}`, { key });
const buy = (key: string, body: object = {}) =>
  api.ask('/api/esim/buy', {
    key,
    body: { packageCode: PACKAGE, packageType: 'BASE', paymentMethod: 'WALLET', ...body },
  });
const charged = async (key: string, work: () => Promise<Reply>): Promise<number> => {
  const before = await api.shop.balance(key);
  const reply = await work();
  expect(reply.status, reply.text).toBeLessThan(300);
  return Number(before - (await api.shop.balance(key))) / 100;
};

describe('a merchant’s own price', () => {
  it('is in every list, and every way to buy charges it', async () => {
    await rule({ ...onlyFor('usd'), ...fixed(11_11n) });
    expect(await priceIn('usd')).toBe(11.11);
    expect((await packages('usd')).json).toMatchObject([
      { packageCode: PACKAGE, price: 11.11, originalPriceUSD: 11.11 },
    ]);
    expect((await api.ask(`/api/esim/packages/${PACKAGE}`, { key: 'usd' })).json).toMatchObject({
      price: 11.11,
    });
    const lowest = async (key: string) =>
      ((await api.ask('/api/esim/regions?type=1', { key })).json as { fromPrice: number }[])[0]?.fromPrice;
    expect([await lowest('usd'), await lowest('usduser')]).toEqual([11.11, await priceIn('usduser')]);
    const quote = await api.ask('/api/esim/quotes', {
      key: 'usd',
      body: { packageCode: PACKAGE, packageType: 'BASE' },
    });
    expect(quote.json).toMatchObject({ data: { price: 11.11 } });
    expect(await charged('usd', () => buy('usd'))).toBe(11.11);
    const { quoteId } = (quote.json as { data: { quoteId: string } }).data;
    expect(await charged('usd', () => buy('usd', { quoteId }))).toBe(11.11);
  });

  it('is what a batch takes', async () => {
    await rule({ ...onlyFor('usd'), ...fixed(11_11n) });
    const body = { rows: [{ reference: 'r-1', packageCode: PACKAGE }] };
    const batch = await api.ask('/api/esim/orders/batch', { key: 'usd', body });
    expect(batch.json).toMatchObject({ data: { totalPrice: 11.11 } });
  });

  it('is what agents are told and pay, by tools and by the agentic checkout', async () => {
    await rule({ ...onlyFor('usd'), ...fixed(11_11n) });
    await api.shop.giveBudget('usd', { maxPurchases: 1_000 });
    const agent = await connectAgent({ url: api.server.url, key: keyOf('test', 'usd') });
    const quote = await agent.done('create_quote', { packageCode: PACKAGE, packageType: 'BASE' });
    expect(quote).toMatchObject({ price: 11.11 });
    expect(JSON.stringify(await agent.done('list_packages', { regionCode: 'NG' }))).toContain('11.11');
    const before = await api.shop.balance('usd');
    await agent.done('buy_quote', { quoteId: quote['quoteId'] });
    expect(await api.shop.balance('usd')).toBe(before - 11_11n);
    await agent.close();
    const session = await api.ask('/acp/checkout_sessions', {
      key: 'usd',
      headers: { 'idempotency-key': randomUUID(), 'api-version': '2026-04-17' },
      body: { line_items: [{ id: PACKAGE }], currency: 'usd', capabilities: {} },
    });
    expect(session.text).toContain('1111');
  });

  it('is for the top-ups of a package too', async () => {
    await rule({ ...onlyFor('usd'), ...markup(0) });
    const topUps = await packages('usd', `&type=TOPUP&packageCode=${PACKAGE}`);
    expect(topUps.json).toMatchObject([{ price: 2 }]);
    expect((await packages('usduser', `&type=TOPUP&packageCode=${PACKAGE}`)).json).toMatchObject([
      { price: 2.5 },
    ]);
  });

  it('is told by changes of the catalogue', async () => {
    await rule({ ...onlyFor('usd'), ...fixed(11_11n) });
    const changes = await api.ask('/api/esim/packages/changes', { key: 'usd' });
    const { items } = (changes.json as { data: { items: Line[] } }).data;
    expect(items.find((change) => change.packageCode === PACKAGE)?.price).toBe(11.11);
  });

  it('is seen by nobody else: neither in an answer nor by its ETag', async () => {
    const before = await packages('usduser');
    const paths = [
      'price-list',
      'packages?regionCode=NG',
      `packages/${PACKAGE}`,
      `packages?regionCode=NG&type=TOPUP&packageCode=${PACKAGE}`,
    ];
    await rule({ ...onlyFor('usd'), ...markup(100) });
    for (const path of paths) {
      const [own, other] = [
        await api.ask(`/api/esim/${path}`, { key: 'usd' }),
        await api.ask(`/api/esim/${path}`, { key: 'usduser' }),
      ];
      expect(own.text).not.toBe(other.text);
      expect(own.headers['etag']).not.toBe(other.headers['etag']);
      const known = await api.ask(`/api/esim/${path}`, {
        key: 'usduser',
        headers: { 'if-none-match': String(own.headers['etag']) },
      });
      expect(known.status).toBe(200);
    }
    expect((await packages('usduser')).text).toBe(before.text);
    expect((await api.ask(`/api/esim/packages/${PACKAGE}`)).json).toMatchObject({ price: 12.5 });
  });

  it('begins and ends by Postgres’ clock, without a write, and the list says when', async () => {
    const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(owner);
    const now = rows[0]?.now.getTime() ?? 0;
    const [from, until] = [new Date(now + 1_500), new Date(now + 3_000)];
    await rule({ ...onlyFor('usd'), ...fixed(11_11n) }, { from, until });
    const first = await packages('usd');
    expect(await listed('usd')).toMatchObject({ price: 12.5, validUntil: from.toISOString() });
    const at = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms - Date.now()));
    await at(from.getTime() + 100);
    expect(await listed('usd')).toMatchObject({ price: 11.11, validUntil: until.toISOString() });
    const during = await packages('usd');
    expect(during.headers['etag']).not.toBe(first.headers['etag']);
    await at(until.getTime() + 100);
    expect(await listed('usd')).toMatchObject({ price: 12.5, validUntil: null });
    expect((await packages('usd')).headers['etag']).toBe(first.headers['etag']);
  });

  it('never goes below our cost: where that rises above a fixed price, the package is sold at cost', async () => {
    await rule({ ...onlyFor('usd'), ...fixed(10_50n) });
    expect(await priceIn('usd')).toBe(10.5);
    const sellAt = async (cost: bigint) => {
      const sold = { supplier: 'esim-access', regions, packages: [...regionItems, { ...baseItem, cost }] };
      await replaceCatalogue(owner, sold, new Date());
      await api.shop.changePrices();
    };
    await sellAt(105_001n);
    expect(await priceIn('usd')).toBe(10.51);
    expect(await charged('usd', () => buy('usd'))).toBe(10.51);
    await sellAt(baseItem.cost);
  });

  it('in NGN is fixed in NGN, and shown in US dollars as what it is there', async () => {
    await rule({ ...onlyFor('ngn'), ...fixed(16_000_00n, 'NGN') });
    expect(await priceIn('ngn')).toBe(16_000);
    expect((await packages('ngn')).json).toMatchObject([{ price: 16_000, originalPriceUSD: 10.43 }]);
    expect((await api.ask(`/api/esim/packages/${PACKAGE}`, { key: 'ngn' })).json).toMatchObject({
      price: 10.43,
    });
    expect(await charged('ngn', () => buy('ngn'))).toBe(16_000);
  });
});

describe('the price list', () => {
  it('has pages, and the whole of it as CSV', async () => {
    const until = new Date('2099-01-01T00:00:00Z');
    await rule({ ...onlyFor('usd'), ...fixed(11_11n) }, { until });
    const page = await api.ask('/api/esim/price-list?page=2&limit=1', { key: 'usd', example: 'second page' });
    expect(page.json).toMatchObject({ data: { items: [{}], pagination: { currentPage: 2, totalItems: 3 } } });
    const csv = await api.ask('/api/esim/price-list', { key: 'usd', headers: { accept: 'text/csv' } });
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(csv.text.split('\r\n')).toEqual([
      'packageCode,packageName,regionCode,regionName,countries,data,validity,price,currency,validUntil',
      'EU-42-5GB-30D,Nigeria 5GB 30Days,EU-42,Europe,NG,5 GB,30,12.50,USD,',
      'GL-120-5GB-30D,Nigeria 5GB 30Days,GL-120,Global,NG,5 GB,30,12.50,USD,',
      'NG-5GB-30D,Nigeria 5GB 30Days,NG,Nigeria,NG,5 GB,30,11.11,USD,2099-01-01T00:00:00.000Z',
      '',
    ]);
  });

  it('is what buying charges, whatever the rules are', async () => {
    const ids = {
      ...{ ACCOUNT: ['usd', 'ngn'].map((name) => api.shop.accountId(name)), PLAN: ['ENTERPRISE'] },
      ...{ ACCOUNT_TYPE: ['USER', 'MERCHANT'], ALL: [''] },
    };
    const codes = {
      PACKAGE: [PACKAGE, 'EU-42-5GB-30D'],
      COUNTRY: ['NG'],
      REGION: ['NG', 'EU-42'],
      ALL: [''],
    };
    const someRule = fc
      .record({ scope: fc.constantFrom(...RULE_SCOPES), target: fc.constantFrom(...RULE_TARGETS) })
      .chain(({ scope, target }) =>
        fc.record({
          ...{ scope: fc.constant(scope), scopeId: fc.constantFrom<string>(...ids[scope]) },
          ...{ target: fc.constant(target), targetId: fc.constantFrom<string>(...codes[target]) },
          ...{ rounding: fc.constantFrom(...RULE_ROUNDINGS), markupBps: fc.nat(6_000) },
          kind: fc.constant('MARKUP' as const),
        }),
      );
    await fc.assert(
      fc.asyncProperty(fc.array(someRule, { maxLength: 6 }), async (rules) => {
        await forgetRules();
        for (const one of rules) await rule(one);
        for (const key of ['usd', 'ngn']) {
          await api.shop.setBalance(50_000_000n, key);
          for (const packageCode of [PACKAGE, 'EU-42-5GB-30D'])
            expect(await charged(key, () => buy(key, { packageCode }))).toBe(await priceIn(key, packageCode));
        }
      }),
      { numRuns: 12 },
    );
  });
});
