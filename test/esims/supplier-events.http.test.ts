// The route for the supplier's events. They are not signed, so each is stored as a hint, within bounds, and
// an event from a stranger changes nothing.
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { MAX_SUPPLIER_EVENT_BYTES } from '../../src/platform/http/limits.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { MAX_FOREIGN_EVENTS } from '../../src/esims/store/supplier-events.ts';
import { startApi, type TestApi, type Reply } from '../support/http/api.ts';
import { generalError } from '../support/http/error-bodies.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi({ live: true, settings: { publicRequestsPerMinute: 2, failedAuthPerMinute: 2 } });
  await sql`delete from supplier_events`.execute(api.shop.owner);
});
afterEach(() => api.close());

const event = (given: object = {}): string =>
  JSON.stringify({
    notifyType: 'ESIM_STATUS',
    notifyId: randomUUID(),
    eventGenerateTime: '2026-11-23T10:00:00Z',
    content: {
      iccid: '89',
      esimTranNo: 'n-1',
      orderNo: 'B1',
      transactionId: 'txn-1',
      esimStatus: 'IN_USE',
      smdpStatus: 'ENABLED',
    },
    ...given,
  });

const send = (rawBody: string | Buffer, headers: Record<string, string> = {}): Promise<Reply> =>
  api.ask('/webhooks/esim-access/test', { rawBody, headers });

/** The metrics of the alert SimwaySupplierEventsOdd. */
async function counted({ metrics }: TestApi = api): Promise<Readonly<Record<string, number>>> {
  const text = await metrics.registry.metrics();
  const lines = text.matchAll(
    /^simway_supplier_events_total\{environment="test",verdict="([a-z-]+)"\} (\d+)$/gm,
  );
  return Object.fromEntries(Array.from(lines, ([, verdict = '', value]) => [verdict, Number(value)]));
}

const kept = () => api.shop.db.selectFrom('supplier_events').selectAll().orderBy('id').execute();

test.each(['ORDER_STATUS', 'ESIM_STATUS', 'SMDP_EVENT', 'DATA_USAGE', 'VALIDITY_USAGE', 'CHECK_HEALTH'])(
  '%s is stored, and acknowledged afterwards',
  async (notifyType) => {
    const reply = await send(event({ notifyType }));
    expect([reply.status, reply.text]).toEqual([200, '{"received":true}']);
    expect(await kept()).toMatchObject([
      { type: notifyType, esim_tran_no: 'n-1', is_foreign: false, applied_at: null, sender: '127.0.0.1' },
    ]);
  },
);

test('a repeated event is one row, and repeats are not limited', async () => {
  const body = event();
  for (let times = 0; times < 5; times += 1) expect((await send(body)).status).toBe(200);
  expect(await kept()).toHaveLength(1);
});

test('an unknown type and status are stored, and counted for the alert', async () => {
  expect((await send(event({ notifyType: 'SOMETHING_NEW', content: { esimStatus: 'MELTED' } }))).status).toBe(
    200,
  );
  expect(await kept()).toMatchObject([{ about: 'unknown', supplier_status: 'MELTED', esim_tran_no: null }]);
  expect(await counted()).toMatchObject({ 'unknown-type': 1, 'unknown-status': 1, foreign: 0 });
});

test.each([
  ['no JSON', 'hello'],
  ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
  ['nothing', ''],
  ['a list', '[]'],
  ['no id', event({ notifyId: '' })],
  ['an id that is an object', event({ notifyId: { a: 1 } })],
  ['no type', event({ notifyType: null })],
  ['an id that is too long', event({ notifyId: 'x'.repeat(101) })],
  ['an id with NUL', event({ notifyId: 'a\0b' })],
  ['half of a character', event({ notifyId: '\ud800' })],
  ['random bytes', randomBytes(10_000)],
  ['deep nesting', '['.repeat(8_000)],
])('%s: 400, and nothing is stored', async (_what, body) => {
  const reply = await send(body);
  expect([reply.status, reply.json]).toEqual([
    400,
    generalError(400, 'VALIDATION_ERROR', 'This is no event of the supplier'),
  ]);
  expect(await kept()).toEqual([]);
});

test('texts that cannot be stored are left out, and the event is kept', async () => {
  const content = { esimTranNo: 'x'.repeat(5_000), orderNo: 'a\0', transactionId: ['txn'], esimStatus: 7 };
  expect((await send(event({ content }))).status).toBe(200);
  expect(await kept()).toMatchObject([
    { esim_tran_no: null, order_no: null, transaction_id: null, supplier_status: '7' },
  ]);
});

test.each([
  ['declared', {}],
  ['chunked', { 'transfer-encoding': 'chunked' }],
])('a megabyte (%s) gets 413 without a query', async (_why, headers) => {
  const reply = await send(Buffer.alloc(1_048_576, 0x20), headers);
  const message = `The request body may have at most ${MAX_SUPPLIER_EVENT_BYTES} bytes`;
  expect([reply.status, reply.json]).toEqual([413, generalError(413, 'PAYLOAD_TOO_LARGE', message)]);
  expect(await kept()).toEqual([]);
});

test.each([
  ['GET', '/webhooks/esim-access/test', 405],
  ['POST', '/webhooks/esim-access/prod', 404],
  ['POST', '/webhooks/esim-access', 404],
])('%s %s gets %i', async (method, path, status) => {
  expect((await api.ask(path, { method, ...(method === 'GET' ? {} : { rawBody: event() }) })).status).toBe(
    status,
  );
});

describe('an event from an address that is not the supplier’s', () => {
  beforeEach(() => void (api.shop.vendors.supplierAddresses = ['192.0.2.1']));

  test('is stored for inspection, and never processed', async () => {
    expect((await send(event())).status).toBe(200);
    expect(await kept()).toMatchObject([
      {
        is_foreign: true,
        applied_at: expect.any(Date) as Date,
        note: 'from none of the addresses of the supplier',
      },
    ]);
  });

  test('is counted for the alert each time', async () => {
    for (let times = 0; times < 4; times += 1) await send(event());
    expect(await counted()).toMatchObject({ foreign: 4, kept: 0 });
  });

  test('raises the alert at the first one', () => {
    const { groups } = parse(readFileSync('ops/prometheus/alerts.yml', 'utf8')) as {
      groups: { rules: { alert: string; expr: string }[] }[];
    };
    const rule = groups
      .flatMap(({ rules }) => rules)
      .find(({ alert }) => alert === 'SimwaySupplierEventsOdd');
    expect(rule?.expr).toMatch(/^sum by .*verdict=~"foreign\|[^"]*"\}\[1h\]\)\) > 0$/);
  });

  test('does not hold back the supplier’s event with the same number', async () => {
    const body = event();
    expect((await send(body)).status).toBe(200);
    api.shop.vendors.supplierAddresses = ['127.0.0.0/8'];
    expect((await send(body)).status).toBe(200);
    expect(await kept()).toMatchObject([{ is_foreign: true }, { is_foreign: false, applied_at: null }]);
  });

  test('cannot fill the table: beyond the bound it is refused, then before its body is read; the supplier’s is not', async () => {
    await sql`
      insert into supplier_events (supplier, notify_id, type, about, sender, is_foreign, applied_at)
      select 'esim-access', 'n' || i, 'X', 'unknown', '203.0.113.9', true, now() from generate_series(1, ${MAX_FOREIGN_EVENTS}::int) i`.execute(
      api.shop.owner,
    );
    const message = 'Too many events wait, send this one again later';
    const first = await send(event());
    expect([first.status, first.json]).toEqual([503, generalError(503, 'SERVICE_UNAVAILABLE', message)]);
    expect(first.headers['retry-after']).toBe('5');
    api.shop.calls.length = 0;
    expect((await send(event())).status).toBe(503);
    expect(api.shop.calls).toEqual(['admitSupplierEvent']);
    api.shop.vendors.supplierAddresses = ['127.0.0.0/8'];
    expect((await send(event())).status).toBe(200);
    expect(await kept()).toHaveLength(MAX_FOREIGN_EVENTS + 1);
  });
});

describe('the supplier, by its configured addresses behind a proxy', () => {
  const PROXY = '127.0.0.10';
  const STRANGER = '127.0.0.99';
  // The addresses that the vendor publishes.
  const FIVE = ['3.1.131.226', '54.254.74.88', '18.136.190.97', '18.136.60.197', '18.136.19.137'];
  const NEEDED = {
    DATABASE_URL: 'postgres://127.0.0.1/simway',
    TEMPORAL_ADDRESS: '127.0.0.1:7233',
    SIMWAY_ID_SECRET: 'a secret of at least 32 characters',
    SIMWAY_SECRETS_KEY: 'ab'.repeat(32),
    SIMWAY_TEST_SUPPLIER_URL: 'http://127.0.0.1:9',
    SIMWAY_TEST_SUPPLIER_ACCESS_CODE: 'unused',
    SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: 'live',
  };
  const addressesOf = (given: Record<string, string> = {}): readonly string[] =>
    readConfig({ ...NEEDED, ...given }).config.worlds.live?.supplierEvents.addresses ?? [];
  let behind: TestApi;
  beforeEach(async () => {
    behind = await startApi({ live: true, settings: { trustedProxies: [PROXY] } });
    behind.shop.vendors.supplierAddresses = addressesOf();
  });
  afterEach(() => behind.close());

  const isForeign = async (from: string, forwarded?: string): Promise<boolean | undefined> => {
    const headers: Record<string, string> = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    const notifyId = randomUUID();
    const reply = await behind.ask('/webhooks/esim-access/test', {
      rawBody: event({ notifyId }),
      headers,
      from,
    });
    expect(reply.status).toBe(200);
    return (await kept()).find((row) => row.notify_id === notifyId)?.is_foreign;
  };

  test.each(FIVE)('is recognised at %s', async (address) => {
    expect(await isForeign(PROXY, address)).toBe(false);
    // Whatever a sender wrote into the header before.
    expect(await isForeign(PROXY, `198.51.100.9, ${address}`)).toBe(false);
  });

  test.each<[string, string, string | undefined]>([
    ['a stranger', STRANGER, undefined],
    ['a stranger with the vendor in X-Forwarded-For', STRANGER, FIVE[0]],
    ['a stranger with the vendor and the proxy in it', STRANGER, `${FIVE[0]}, ${PROXY}`],
    ['a stranger through the proxy', PROXY, '198.51.100.9'],
    ['a stranger through the proxy, with the vendor before it', PROXY, `${FIVE[0]}, 198.51.100.9`],
    ['the proxy itself', PROXY, undefined],
    ['an address beside one of the five', PROXY, '3.1.131.227'],
  ])('is not %s: the event is stored, counted, and never processed', async (_who, from, forwarded) => {
    expect(await isForeign(from, forwarded)).toBe(true);
    expect(await counted(behind)).toMatchObject({ foreign: 1, kept: 0 });
    expect(await kept()).toMatchObject([{ applied_at: expect.any(Date) as Date }]);
  });

  test('is at SIMWAY_LIVE_SUPPLIER_EVENT_ADDRESSES instead of the five when that is set', async () => {
    const given = { SIMWAY_LIVE_SUPPLIER_EVENT_ADDRESSES: '198.51.100.0/24' };
    behind.shop.vendors.supplierAddresses = addressesOf(given);
    expect(await isForeign(PROXY, '198.51.100.9')).toBe(false);
    expect(await isForeign(PROXY, FIVE[0])).toBe(true);
  });
});
