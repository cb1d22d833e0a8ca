// The list of changes, and lists with an ETag.
import { sql } from 'kysely';
import { fetch as undici } from 'undici';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { startApi, type TestApi } from '../support/http/api.ts';
import { keyOf } from '../support/http/shop.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

interface Changes {
  readonly data: {
    readonly items: readonly { readonly packageCode: string; readonly price: number | null }[];
    readonly nextCursor: string;
    readonly hasMore: boolean;
  };
}

const read = async (query: string, key = 'usd', example?: string) => {
  const reply = await api.ask(`/api/esim/packages/changes${query}`, { key, example });
  expect(reply.status).toBe(200);
  return (reply.json as Changes).data;
};

describe('changes of the catalogue', () => {
  it('are read page by page from the oldest one kept, priced for the account, without our cost', async () => {
    const all = await read('?limit=500');
    expect(all).toMatchObject({ hasMore: false });
    expect(all.items).toContainEqual({
      at: expect.stringMatching(/^20\d\d-/) as string,
      kind: 'ADDED',
      packageCode: 'NG-5GB-30D',
      packageName: 'Nigeria 5GB 30Days',
      regionCode: 'NG',
      changedFields: [],
      price: 12.5,
      currency: 'USD',
    });
    const codes: string[] = [];
    let query = '?limit=1';
    for (let more = true; more;) {
      const page = await read(query, 'usd', codes.length === 0 ? 'a new package' : undefined);
      codes.push(...page.items.map((item) => item.packageCode));
      query = `?limit=1&since=${page.nextCursor}`;
      more = page.hasMore;
    }
    expect(codes).toEqual(all.items.map((item) => item.packageCode));
    const inNaira = (await read('', 'ngn')).items.find((item) => item.packageCode === 'NG-5GB-30D');
    expect(inNaira).toMatchObject({ price: 19178.13, currency: 'NGN' });
  });

  it('can be followed from the current end; the cursor stays the same while there is nothing new', async () => {
    const { items, nextCursor } = await read('?since=now', 'usd', 'nothing new');
    expect(items).toEqual([]);
    expect(await read(`?since=${nextCursor}`)).toEqual({ items: [], nextCursor, hasMore: false });
    const { nextCursor: afterAll } = await read('?limit=500');
    expect((await read(`?since=${afterAll}`)).items).toEqual([]);
  });

  it('have no price where no current rate is known', async () => {
    // Other files of this process may have left rates of their own in the shared database.
    const shiftRates = async (by: string): Promise<void> => {
      const { owner } = api.shop;
      await sql`update exchange_rates set observed_at = observed_at + ${by}::interval where currency = 'NGN'`.execute(
        owner,
      );
      await sql`update revisions set revision = revision + 1 where name = 'rates'`.execute(owner);
      await api.shop.changePrices();
    };
    await shiftRates('-1 year');
    try {
      expect((await read('', 'ngn')).items[0]).toMatchObject({ price: null, currency: 'NGN' });
      expect((await read('', 'usd')).items[0]!.price).not.toBeNull();
    } finally {
      await shiftRates('1 year');
    }
  });

  it.each([
    'garbage',
    '2026-01-31T09:30:00Z',
    '12',
    '-1',
    Buffer.from('12').toString('base64url'),
    Buffer.from('package-changes:-1').toString('base64url'),
    Buffer.from('package-changes:1:2').toString('base64url'),
    Buffer.from(`package-changes:${'9'.repeat(19)}`).toString('base64url'),
    Buffer.from('events:12').toString('base64url'),
    `${Buffer.from('package-changes:12').toString('base64url')}=`,
    '%00',
  ])('refuse %s as a cursor', async (since) => {
    const reply = await api.ask(`/api/esim/packages/changes?since=${since}`, { key: 'usd' });
    expect(reply).toMatchObject({ status: 400, json: { error: { code: 'VALIDATION_ERROR' } } });
    expect(reply.text).toContain('since');
  });

  it.each(['0', '501', 'x'])('refuse a limit of %s', async (limit) => {
    const reply = await api.ask(`/api/esim/packages/changes?limit=${limit}`, { key: 'usd' });
    expect(reply).toMatchObject({ status: 400, json: { error: { code: 'VALIDATION_ERROR' } } });
  });
});

const LISTS = [
  '/api/esim/regions?type=1',
  '/api/esim/packages?regionCode=NG',
  '/api/esim/packages?type=TOPUP&regionCode=NG&packageCode=NG-5GB-30D',
  '/api/esim/packages/NG-5GB-30D',
];
const etagOf = async (target: string, key = 'ngn') =>
  (await api.ask(target, { key })).headers['etag'] as string;

describe.each(LISTS)('GET %s', (target) => {
  it('answers 304 to a caller who has it, for any form of the header, and calls no use case', async () => {
    const first = await api.ask(target, { key: 'ngn' });
    const etag = first.headers['etag'] as string;
    expect(first).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'private, no-cache', vary: 'X-API-Key, Accept-Encoding' },
    });
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    api.shop.calls.length = 0;
    for (const given of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const again = await api.ask(target, { key: 'ngn', method, headers: { 'if-none-match': given } });
        expect(again).toMatchObject({
          status: 304,
          text: '',
          headers: { etag, vary: 'X-API-Key, Accept-Encoding' },
        });
        expect(again.headers).toHaveProperty('x-ratelimit-remaining');
        expect(again.headers).not.toHaveProperty('content-length');
        expect(again.headers).not.toHaveProperty('content-type');
      }
    }
    expect(api.shop.calls).toEqual([]);
  });

  it('answers 304 to fetch, which sends Cache-Control: no-cache beside If-None-Match', async () => {
    const etag = await etagOf(target);
    const url = `http://127.0.0.1:${api.server.port}${target}`;
    const headers = { 'X-API-Key': keyOf('test', 'ngn'), 'If-None-Match': etag };
    const answers = [await fetch(url, { headers }), await undici(url, { headers })];
    expect(answers.map(({ status }) => status)).toEqual([304, 304]);
    for (const ours of ['no-cache', 'max-age=0', 'no-store']) {
      const reply = await api.ask(target, {
        key: 'ngn',
        headers: { 'if-none-match': etag, 'cache-control': ours },
      });
      expect(reply).toMatchObject({ status: 304, text: '' });
    }
  });

  it('answers 200 to a caller who has another version', async () => {
    for (const given of ['"other"', 'garbage', '', '"']) {
      const reply = await api.ask(target, { key: 'ngn', headers: { 'if-none-match': given } });
      expect(reply.status).toBe(200);
      expect(reply.text).not.toBe('');
    }
  });
});

test('an ETag depends on the bytes: it survives a revision that changes nothing, and differs between currencies', async () => {
  const target = '/api/esim/packages?regionCode=NG';
  const [naira, dollars] = [await etagOf(target), await etagOf(target, 'usd')];
  expect(naira).not.toBe(dollars);
  await api.shop.changePrices();
  expect(await etagOf(target)).toBe(naira);
});

test('a refusal has no ETag and never becomes a 304', async () => {
  const reply = await api.ask('/api/esim/packages?regionCode=XX', {
    key: 'ngn',
    headers: { 'if-none-match': '*' },
  });
  expect(reply.status).toBe(404);
  expect(reply.headers).toMatchObject({ 'cache-control': 'no-store' });
  expect(reply.headers).not.toHaveProperty('etag');
});
