// The feed over HTTP: exact items, cursors, limits, bad input, and the account's own events only.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CURSOR_CHARACTERS } from '../../src/webhooks/feed.ts';
import { forgetEvents } from '../../src/webhooks/store/feed.ts';
import { enqueueWebhook } from '../../src/webhooks/store/messages.ts';
import { startApi, type TestApi, type Reply } from '../support/http/api.ts';
import { generalError } from '../support/http/error-bodies.ts';
import { until } from '../support/time/until.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi({ live: true });
});
afterEach(() => api.close());

const FEED = '/api/events';
const NOW = new Date('2026-01-31T09:30:00.250Z');

interface Page {
  readonly items: readonly {
    readonly id: string;
    readonly event: string;
    readonly data: Record<string, unknown>;
  }[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

const pageOf = (reply: Reply): Page => (reply.json as { data: Page }).data;

async function read(query = '', key = 'ngn', example?: string): Promise<Page> {
  const reply = await api.ask(`${FEED}${query}`, { key, example });
  expect(reply.status, reply.text).toBe(200);
  return pageOf(reply);
}

/** A page with this many items: other transactions on this server delay new events for a moment. */
const readItems = (count: number, query = '', key = 'ngn') =>
  until(
    () => read(query, key),
    ({ items }) => items.length === count,
  );

/** Writes low balance events of this account. */
async function writeEvents(
  count: number,
  key = 'ngn',
  facts = { balanceMinor: 4_20n, thresholdMinor: 10_00n },
) {
  for (let written = 0; written < count; written += 1) {
    const webhook = {
      event: 'wallet.low_balance',
      key: randomUUID(),
      subject: null,
      accountId: api.shop.accountId(key),
      subscribers: null,
      facts: { ...facts, currency: 'NGN' },
      at: NOW,
    } as const;
    await enqueueWebhook(api.shop.db, webhook);
  }
}

describe('a page', () => {
  it('has the webhook’s content, digit for digit, with the id of the event', async () => {
    await writeEvents(1);
    await readItems(1);
    const reply = await api.ask(FEED, { key: 'ngn', example: 'one event' });
    const [item] = pageOf(reply).items;
    expect(item?.id).toMatch(/^evt-[0-9a-f]{32}$/);
    expect(reply.text).toBe(
      `{"success":true,"data":{"items":[{"id":"${item?.id}","event":"wallet.low_balance",` +
        `"data":{"balance":4.20,"threshold":10.00,"currency":"NGN"},"timestamp":"2026-01-31T09:30:00.250Z"}],` +
        `"nextCursor":"${pageOf(reply).nextCursor}","hasMore":false}}`,
    );
    expect(reply.headers['cache-control']).toBe('no-store');
  });

  it('shows a purchase with the address of its QR code, which no row of the feed contains', async () => {
    const body = { packageCode: 'NG-5GB-30D', paymentMethod: 'WALLET', packageType: 'BASE' };
    const bought = await api.ask('/api/esim/buy', { key: 'ngn', body });
    const { transactionId, esimDetails } = bought.json as {
      transactionId: string;
      esimDetails: { esimId: string; qrCodeUrl: string };
    };
    expect(esimDetails.qrCodeUrl).toMatch(/^https:/);
    const { items } = await readItems(1);
    expect(items).toMatchObject([
      {
        event: 'esim.purchased',
        data: {
          transactionId,
          status: 'SUCCESS',
          esimId: esimDetails.esimId,
          qrCodeUrl: esimDetails.qrCodeUrl,
        },
      },
    ]);
    const rows = await api.shop.owner.selectFrom('events').select('body').execute();
    expect(JSON.stringify(rows)).not.toContain(esimDetails.qrCodeUrl);
  });

  it('continues from its cursor, also at the end, where later events follow', async () => {
    expect(await read('', 'ngn', 'nothing new')).toMatchObject({ items: [], hasMore: false });
    await writeEvents(5);
    await readItems(5);
    const first = await read('?limit=2');
    const second = await read(`?limit=2&after=${first.nextCursor}`);
    const third = await read(`?limit=2&after=${second.nextCursor}`);
    expect([first, second, third].map(({ items, hasMore }) => [items.length, hasMore])).toEqual([
      [2, true],
      [2, true],
      [1, false],
    ]);
    expect(new Set([first, second, third].flatMap(({ items }) => items.map(({ id }) => id))).size).toBe(5);
    await writeEvents(1);
    await readItems(1, `?after=${third.nextCursor}`);
    // A reader that lost an answer asks again.
    expect((await read(`?limit=2&after=${first.nextCursor}`)).items).toEqual(second.items);
  });

  it('has 20 items by default, and up to 100 on request', async () => {
    await writeEvents(22);
    await readItems(22, '?limit=100');
    expect((await read()).items).toHaveLength(20);
    expect((await read('?limit=1')).items).toHaveLength(1);
  });

  it('has one kind of event on request', async () => {
    await writeEvents(2);
    await readItems(2);
    expect((await read('?event=wallet.low_balance')).items).toHaveLength(2);
    expect(await read('?event=payment.received')).toMatchObject({ items: [], hasMore: false });
  });

  it('has no samples, which are not events of the account', async () => {
    await api.ask('/api/webhooks/endpoints', { key: 'ngn', body: { url: 'https://shop.example.com/' } });
    const sample = { key: 'ngn', body: { event: 'wallet.low_balance' } };
    const sent = await api.ask(`/api/webhooks/endpoints/ep-${'1'.padStart(32, '0')}/sample`, sample);
    expect([sent.status, sent.json]).toMatchObject([201, { eventId: null }]);
    await writeEvents(1);
    await readItems(1);
  });
});

describe('access to events', () => {
  it('another account sees none of them, and cannot use the cursor', async () => {
    await writeEvents(2);
    const { nextCursor } = await readItems(2);
    expect(await read('', 'usd')).toMatchObject({ items: [] });
    expect((await api.ask(`${FEED}?after=${nextCursor}`, { key: 'usd' })).status).toBe(400);
  });

  it('the other environment shows none of them, and refuses the cursor', async () => {
    await writeEvents(2);
    const { nextCursor } = await readItems(2);
    expect(await read('', 'live/ngn')).toMatchObject({ items: [] });
    expect((await api.ask(`${FEED}?after=${nextCursor}`, { key: 'live/ngn' })).status).toBe(400);
  });

  it('a request without a key is refused', async () => {
    expect((await api.ask(FEED)).status).toBe(401);
  });
});

describe('bad input', () => {
  it.each([
    ['after', ''],
    ['after', 'garbage'],
    ['after', '0'],
    ['after', `evt-${'0'.repeat(32)}`],
    ['after', 'A'.repeat(CURSOR_CHARACTERS)],
    ['after', 'A'.repeat(4_000)],
    ['after', '%00'],
    ['after', "'%20or%201=1--"],
    ['limit', '0'],
    ['limit', '101'],
    ['limit', '-1'],
    ['limit', '1e1'],
    ['event', 'no.such'],
    ['event', ''],
  ])('%s=%s is refused', async (name, value) => {
    const reply = await api.ask(`${FEED}?${name}=${value}`, { key: 'ngn' });
    expect([reply.status, reply.json]).toMatchObject([
      400,
      { success: false, error: { code: 'VALIDATION_ERROR' }, statusCode: 400 },
    ]);
    expect(reply.text).toContain(`${name}: `);
  });

  it('a cursor older than the kept events gets 410, and the start does not', async () => {
    await writeEvents(2);
    await readItems(2);
    const { nextCursor } = await read('?limit=1');
    await forgetEvents(api.shop.db, new Date(Date.now() + 60_000), () => false);
    const reply = await api.ask(`${FEED}?after=${nextCursor}`, { key: 'ngn' });
    expect([reply.status, reply.json]).toEqual([
      410,
      generalError(
        410,
        'CURSOR_EXPIRED',
        'Events after this cursor are not kept any more: start again without after',
      ),
    ]);
    expect(await read()).toMatchObject({ items: [], hasMore: false });
  });
});
