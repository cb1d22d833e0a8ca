/**
 * The feed as rows: every event of an account once, in a fixed order, for readers that poll while others
 * write.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { leapAfterRestore } from '../../migrations/event-positions.ts';
import { FEED_START } from '../../src/webhooks/feed.ts';
import { sealedQrCodeUrl } from '../../src/webhooks/event-rules.ts';
import { webhookBody } from '../../src/webhooks/events.ts';
import {
  forgetEvents,
  readFeed,
  type FeedPage,
  type FeedQuery,
  type FeedPosition,
} from '../../src/webhooks/store/feed.ts';
import { enqueueWebhook, subscribers } from '../../src/webhooks/store/messages.ts';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import { openBooks, refusalOf } from '../support/world/books.ts';
import { openSchema } from '../support/world/database.ts';
import { createRandom, withSeed } from '../support/time/size.ts';
import { until } from '../support/time/until.ts';
import { newAccountId, newEndpoint, NOW } from './webhooks.support.ts';
import { forFile } from '../support/world/for-file.ts';

const books = await forFile(openBooks({ maxConnections: 16 }));
afterEach(() => books.owner.deleteFrom('events').where('account_id', 'is', null).execute());

const FACTS = { endpointId: 'ep-1', url: 'https://m.example/', reason: 'GONE', messageId: null } as const;

/** An endpoint that asks for it. */
const subscriber = (accountId: string) =>
  newEndpoint(books.world, accountId, { events: ['endpoint.disabled'] });

/** Writes one event, as a change would. */
async function writeEvent(
  db: WorldDb,
  accountId: string | null,
  key: string = randomUUID(),
): Promise<string> {
  const { rows } = await sql<{ found: string[] | null }>`
    select ${subscribers('endpoint.disabled', sql`${accountId}::text`)} as found`.execute(db);
  const about = { key, subject: null, accountId, subscribers: rows[0]?.found ?? null, at: NOW };
  await enqueueWebhook(db, { event: 'endpoint.disabled', facts: { ...FACTS, url: key }, ...about });
  return key;
}

/**
 * One page, with everything committed by now: transactions of other databases on this server delay it for a
 * moment.
 */
async function read(accountId: string, query: Partial<FeedQuery> = {}): Promise<FeedPage> {
  const { rows } = await sql<{ mine: string }>`select pg_current_xact_id()::text as mine`.execute(
    books.world,
  );
  const isPassed = sql<{ passed: boolean }>`
    select pg_snapshot_xmin(pg_current_snapshot()) > ${rows[0]?.mine}::xid8 as passed`;
  await until(
    () => isPassed.execute(books.world),
    (found) => found.rows[0]?.passed === true,
    { everyMs: 5, what: 'the end of older transactions' },
  );
  return readNow(accountId, query);
}

async function readNow(accountId: string, query: Partial<FeedQuery> = {}): Promise<FeedPage> {
  const page = await readFeed(books.world, { accountId, after: FEED_START, limit: 100, ...query });
  if (page === 'expired') throw new Error('expired');
  return page;
}

/** The arguments of `writeEvent`. */
const keysOf = ({ events }: FeedPage): string[] =>
  events.map(({ body }) => (JSON.parse(body) as { data: { url: string } }).data.url);

const messages = (accountId: string) =>
  books.owner.selectFrom('webhook_messages').selectAll().where('account_id', '=', accountId).execute();

describe('an event', () => {
  it('exists without an endpoint, once however often it is written', async () => {
    const accountId = newAccountId();
    const key = await writeEvent(books.world, accountId);
    await writeEvent(books.world, accountId, key);
    const page = await read(accountId);
    expect(keysOf(page)).toEqual([key]);
    expect(page.events[0]).toMatchObject({
      id: expect.stringMatching(/^evt-[0-9a-f]{32}$/) as string,
      body: webhookBody('endpoint.disabled', { ...FACTS, url: key }, NOW),
    });
    expect(await messages(accountId)).toEqual([]);
  });

  it('that is written again sends nothing to an endpoint that was added since', async () => {
    const accountId = newAccountId();
    const key = await writeEvent(books.world, accountId);
    await subscriber(accountId);
    await writeEvent(books.world, accountId, key);
    expect(await messages(accountId)).toEqual([]);
  });

  it('has one id for all of its messages', async () => {
    const accountId = newAccountId();
    for (let made = 0; made < 3; made += 1) await subscriber(accountId);
    await writeEvent(books.world, accountId);
    const [event] = (await read(accountId)).events;
    const found = await messages(accountId);
    expect(found.map((row) => [row.event_id, row.body])).toEqual(Array(3).fill([event?.id, event?.body]));
  });

  it('is not written if its transaction fails', async () => {
    const accountId = newAccountId();
    const change = books.world.transaction().execute(async (trx) => {
      await writeEvent(trx, accountId);
      throw new Error('the change failed');
    });
    await expect(change).rejects.toThrow('the change failed');
    expect((await read(accountId)).events).toEqual([]);
  });

  it('belongs to its account only, and cannot be changed', async () => {
    const accountId = newAccountId();
    await writeEvent(books.world, accountId);
    expect((await read(newAccountId())).events).toEqual([]);
    const change = sql`update events set body = '{}' where account_id = ${accountId}`.execute(books.world);
    expect(await refusalOf(change)).toBe('permission denied');
    const forged = sql`insert into events (id, account_id, event, event_key, body, position)
      values (${`evt-${'0'.repeat(32)}`}, ${accountId}, 'x', 'x', '{}', 1)`.execute(books.world);
    expect(await refusalOf(forged)).toBe('permission denied');
  });

  it.each([
    ['plain', 'txn-1'],
    ['quotes, tabs and control characters', '"\\ \b\f\n\r\t\u0001\u001f\u007f</script>'],
    ['other scripts', 'é\u2028😀مرحبا'],
    ['nothing', ''],
  ])('has the same body from SQL as from code: %s', async (_name, iccid) => {
    const own = { reference: iccid === '' ? null : iccid, metadata: { b: iccid, a: '2', '1': '' } };
    const facts = { transactionId: 'txn-1', status: 'SUCCESS', iccid, ...own } as const;
    const esim = iccid === '' ? null : iccid;
    const qrCodeUrl = esim && sealedQrCodeUrl(esim);
    const at = new Date('2026-03-01T09:05:07.009Z');
    const { rows } = await sql<{ body: string }>`
      select status_body('txn-1', 'SUCCESS', ${esim}, ${iccid}, ${own.reference}, ${JSON.stringify(own.metadata)}, ${at}) as body`.execute(
      books.world,
    );
    expect(rows[0]?.body).toBe(webhookBody('esim.purchased', { ...facts, esimId: esim, qrCodeUrl }, at));
  });
});

describe('an event for every account', () => {
  it('is one row, in the feed of each account, between its own events', async () => {
    const [one, other] = [newAccountId(), newAccountId()];
    const keys = [
      await writeEvent(books.world, one),
      await writeEvent(books.world, null),
      await writeEvent(books.world, one),
    ];
    expect(keysOf(await read(one)).filter((key) => keys.includes(key))).toEqual(keys);
    expect(keysOf(await read(other))).toContain(keys[1]);
    expect(keysOf(await read(other))).not.toContain(keys[0]);
  });

  it('is sent to all subscribed endpoints', async () => {
    const accounts = Array.from({ length: 5 }, newAccountId);
    for (const accountId of accounts) await subscriber(accountId);
    const [unsubscribed = ''] = accounts.splice(4);
    await books.owner
      .updateTable('webhook_endpoints')
      .set({ events: ['payment.received'] })
      .where('account_id', '=', unsubscribed)
      .execute();
    await writeEvent(books.world, null);
    for (const accountId of accounts)
      expect(await messages(accountId)).toMatchObject([{ status: 'PENDING', attempts: 0 }]);
    expect(await messages(unsubscribed)).toEqual([]);
  });
});

describe('the order', () => {
  it.each([
    ['of an account', newAccountId()],
    ['for all accounts', null],
  ])(
    'puts an event %s after those committed before it, whichever transaction began first',
    async (_name, owner) => {
      const late = await books.world.startTransaction().execute();
      await sql`select pg_current_xact_id()`.execute(late);
      const keys = [await writeEvent(books.world, owner)];
      keys.push(await writeEvent(late, owner));
      await late.commit().execute();
      const found = keysOf(await read(owner ?? newAccountId()));
      expect(found.filter((key) => keys.includes(key))).toEqual(keys);
    },
  );
});

describe('pages', () => {
  it('follow one another without a gap or a repeat, whatever their size', async () => {
    const accountId = newAccountId();
    const keys: string[] = [];
    await books.world.transaction().execute(async (trx) => {
      for (let count = 0; count < 4; count += 1) keys.push(await writeEvent(trx, accountId));
    });
    for (let count = 0; count < 3; count += 1) keys.push(await writeEvent(books.world, accountId));
    for (const limit of [1, 2, 3, 7, 8]) {
      const found: string[] = [];
      let page = await read(accountId, { limit });
      for (;;) {
        found.push(...keysOf(page));
        if (!page.hasMore) break;
        page = await read(accountId, { limit, after: page.next });
      }
      expect(found).toEqual(keys);
      expect(await read(accountId, { limit, after: page.next })).toMatchObject({
        events: [],
        hasMore: false,
      });
    }
  });

  it('with a filter read a bounded number of events and continue', async () => {
    const accountId = newAccountId();
    const rest = sql`'endpoint.disabled', gen_random_uuid()::text, '{}'`;
    await sql`
      insert into events (id, account_id, event, event_key, body)
      select 'evt-' || replace(gen_random_uuid()::text, '-', ''), ${accountId}, ${rest} from generate_series(1, 2500)`.execute(
      books.world,
    );
    await sql`
      insert into events (id, account_id, event, event_key, body)
      values (${`evt-${'7'.repeat(32)}`}, ${accountId}, 'payment.received', ${randomUUID()}, '{}')`.execute(
      books.world,
    );
    const pages: FeedPage[] = [];
    let after = FEED_START;
    do {
      const page = await read(accountId, { after, limit: 5, event: 'payment.received' });
      pages.push(page);
      after = page.next;
    } while (pages.at(-1)?.hasMore);
    expect(pages.map(({ events, hasMore }) => [events.length, hasMore])).toEqual([
      [0, true],
      [0, true],
      [1, false],
    ]);
    expect(await read(accountId, { after, event: 'payment.received' })).toMatchObject({ events: [] });
  });

  it('are read by the index, in order', async () => {
    const accountId = newAccountId();
    await writeEvent(books.world, accountId);
    const { rows } = await sql<{ 'QUERY PLAN': string }>`
      explain (costs off) select id from events
       where account_id = ${accountId} and (position, seq) > (1::bigint, 1::bigint) and position < (select position_offset from event_feed)
       order by position, seq limit 20`.execute(books.owner);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('Index Scan using events_by_account');
    expect(plan).not.toContain('Sort');
  });
});

describe('a reader during writes', () => {
  it('waits for a transaction that has begun and not ended, so that it cannot pass it', async () => {
    const accountId = newAccountId();
    const late = Promise.withResolvers<string>();
    const end = Promise.withResolvers<undefined>();
    const slow = books.world.transaction().execute(async (trx) => {
      late.resolve(await writeEvent(trx, accountId));
      await end.promise;
    });
    const first = await late.promise;
    const second = await writeEvent(books.world, accountId);
    const before = await readNow(accountId);
    expect([before.events, before.hasMore]).toEqual([[], false]);
    end.resolve(undefined);
    await slow;
    expect(keysOf(await read(accountId, { after: before.next }))).toEqual([first, second]);
  });

  it('gets every event once and in one order, however often it dies', () =>
    withSeed(async (seed) => {
      const random = createRandom(seed);
      const accountId = newAccountId();
      const WRITERS = 8;
      const EACH = 30;
      const committed: string[] = [];
      let isWriting = true;
      const write = async (writer: number): Promise<void> => {
        for (let nth = 0; nth < EACH; nth += 1) {
          const key = `${writer}:${nth}`;
          const [before, after] = [random.below(6), random.below(12)];
          const isBroken = random.below(100) < 15;
          const change = books.world.transaction().execute(async (trx) => {
            await setTimeout(before);
            await writeEvent(trx, random.below(10) === 0 ? null : accountId, `${accountId}:${key}`);
            await setTimeout(after);
            if (isBroken) throw new Error('rolled back');
          });
          await change.then(
            () => committed.push(`${accountId}:${key}`),
            () => undefined,
          );
        }
      };
      /**
       * Stores its cursor together with what it has processed, in one step, as a reader does in its database;
       * all else is lost when it dies.
       */
      const follow = async (limit: number): Promise<readonly string[]> => {
        let kept: { readonly cursor: FeedPosition; readonly seen: readonly string[] } = {
          cursor: FEED_START,
          seen: [],
        };
        for (;;) {
          const wasWriting = isWriting;
          const page = await (wasWriting ? readNow : read)(accountId, { after: kept.cursor, limit });
          if (random.below(10) < 3) continue;
          kept = { cursor: page.next, seen: [...kept.seen, ...keysOf(page)] };
          if (!wasWriting && !page.hasMore) return kept.seen;
        }
      };
      const writers = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
      const readers = Promise.all([1, 3, 50].map(follow));
      await writers;
      isWriting = false;
      const [first = [], ...others] = await readers;
      expect(first.toSorted()).toEqual(committed.toSorted());
      for (const other of others) expect(other).toEqual(first);
      for (let writer = 0; writer < WRITERS; writer += 1) {
        const mine = first.filter((key) => key.startsWith(`${accountId}:${writer}:`));
        expect(mine).toEqual(committed.filter((key) => mine.includes(key)));
      }
    }));
});

describe('an old event', () => {
  const age = (key: string, days: number) =>
    books.owner
      .updateTable('events')
      .set({ created_at: sql<Date>`now() - ${days}::int * interval '1 day'` })
      .where('event_key', '=', `endpoint.disabled:${key}`)
      .execute();
  const forget = (isOver = () => false) =>
    forgetEvents(books.world, new Date(Date.now() - 30 * 86_400_000), isOver);

  it('is deleted, and a cursor before it has expired; the start and later cursors have not', async () => {
    const accountId = newAccountId();
    const keys = [];
    for (let count = 0; count < 4; count += 1) keys.push(await writeEvent(books.world, accountId));
    const [first, second, third] = (await read(accountId)).events;
    if (!first || !second || !third) throw new Error('no events');
    const end = (await read(accountId)).next;
    for (const key of keys.slice(0, 2)) await age(key, 31);
    expect(await forget()).toBe(2);
    expect(keysOf(await read(accountId))).toEqual(keys.slice(2));
    expect(keysOf(await read(accountId, { after: third }))).toEqual(keys.slice(3));
    expect((await read(accountId, { after: end })).events).toEqual([]);
    for (const after of [first, second])
      expect(await readFeed(books.world, { accountId, after, limit: 5 })).toBe('expired');
  });

  it('is one written 30 days ago, and no newer', async () => {
    const accountId = newAccountId();
    await age(await writeEvent(books.world, accountId), 29);
    expect(await forget()).toBe(0);
    expect((await read(accountId)).events).toHaveLength(1);
  });

  it('may be the last of a quiet account, whose cursor stays valid', async () => {
    const [quiet, busy] = [newAccountId(), newAccountId()];
    const key = await writeEvent(books.world, busy);
    const { next } = await read(quiet);
    await age(key, 31);
    await forget();
    expect((await read(quiet, { after: next })).events).toEqual([]);
  });

  it('is deleted in batches until the time is over', async () => {
    await sql`
      insert into events (id, account_id, event, event_key, body, created_at)
      select 'evt-' || replace(gen_random_uuid()::text, '-', ''), 'acc-old', 'x', gen_random_uuid()::text, '{}', '2020-01-01'
        from generate_series(1, 2500)`.execute(books.owner);
    expect(await forget(() => true)).toBe(1_000);
    expect(await forget()).toBe(1_500);
  });
});

describe('after a restore', () => {
  const leap = async () => {
    const owner = openSchema(books.url, 'test');
    try {
      await leapAfterRestore(owner);
    } finally {
      await owner.destroy();
    }
  };
  const offset = async () =>
    (await books.owner.selectFrom('event_feed').select('position_offset').executeTakeFirstOrThrow())
      .position_offset;

  it('a cursor of lost events has expired, and no position is used twice', async () => {
    const accountId = newAccountId();
    const kept = await writeEvent(books.world, accountId);
    const { next } = await read(accountId);
    // What a reader saw before the server was lost, and a dump on a server whose transaction ids are far
    // lower.
    const lost = { position: next.position + 500_000n, seq: 3n };
    expect(await readFeed(books.world, { accountId, after: lost, limit: 5 })).toBe('expired');
    await sql`update event_feed set cluster = 'another'`.execute(books.owner);
    await sql`update events set position = position + 10000000`.execute(books.owner);
    expect((await read(accountId)).events).toEqual([]);
    await leap();
    const later = await writeEvent(books.world, accountId);
    expect(keysOf(await read(accountId))).toEqual([kept, later]);
    expect(keysOf(await read(accountId, { after: lost }))).toContain(later);
  });

  it('positions advance once, and only after a restore', async () => {
    await leap();
    const before = await offset();
    await leap();
    expect(await offset()).toBe(before);
    await sql`update event_feed set cluster = null`.execute(books.owner);
    await leap();
    expect(await offset()).toBe(before);
  });
});
