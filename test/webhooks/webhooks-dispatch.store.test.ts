/**
 * Messages that are sent from their rows: which are leased, and by turns of their endpoints; those that were
 * delivered, recorded together; and those that a workflow carries, until they come back.
 */
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { WorldDb } from '../../src/platform/database/tables.ts';
import {
  failUnsent,
  leaseDue,
  postpone,
  recordAttempt,
  recordDelivered,
  takeBack,
  takeBackOverdue,
  type WebhookDelivery,
} from '../../src/webhooks/store/deliveries.ts';
import { readFigures } from '../../src/operations/store/figures.ts';
import { findEndpoint, type Endpoint } from '../../src/webhooks/store/endpoints.ts';
import { listAttempts, reopenFailed, reopenMessage } from '../../src/webhooks/store/messages.ts';
import { openBooks } from '../support/world/books.ts';
import { explain, rowsReadBy } from '../support/world/explain.ts';
import { forFile } from '../support/world/for-file.ts';
import {
  AGAIN,
  DELIVERED,
  deliveringOn,
  GIVEN_UP,
  made,
  messagesAt,
  newAccountId,
  newEndpoint,
  newMessage,
  NOW,
  refused,
  setEndpoint,
  setMessage,
} from './webhooks.support.ts';

const books = await forFile(openBooks({ maxConnections: 20 }));
const { attempt, load, stateOf, waiting } = deliveringOn(books.world);
beforeEach(() => books.owner.deleteFrom('webhook_messages').execute());

const ago = (ms: number): Date => new Date(Date.now() - ms);
const lease = async (limit = 100, perEndpoint = 100) =>
  (await leaseDue(books.world, { after: '', limit, perEndpoint })).due;
const idsOf = (deliveries: readonly WebhookDelivery[]): string[] =>
  deliveries.map(({ messageId }) => messageId).toSorted();
const countOf = (deliveries: readonly WebhookDelivery[], accountId: string): number =>
  deliveries.filter((delivery) => delivery.accountId === accountId).length;
const rowOf = (id: string) =>
  books.owner.selectFrom('webhook_messages').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
/** As the dispatcher does with messages of slow endpoints. */
const handOver = async (ids: readonly string[], waitMs = 0) =>
  postpone(
    books.world,
    (await Promise.all(ids.map(load))).map((delivery) => ({ delivery, waitMs, isHandedOver: true })),
  );
const waitOf = async (id: string): Promise<number> =>
  (await rowOf(id)).next_attempt_at!.getTime() - Date.now();

/** Many messages of an endpoint, the first one due the longest. */
async function plant(
  { id, accountId }: Endpoint,
  count: number,
  { status = 'PENDING', dueAt = ago(3_600_000), isHandedOver = false } = {},
): Promise<void> {
  const isPending = status === 'PENDING';
  await sql`
    insert into webhook_messages (id, endpoint_id, account_id, event, event_key, body, status, next_attempt_at, closed_at, handed_over_at)
    select 'msg-' || replace(gen_random_uuid()::text, '-', ''), ${id}, ${accountId}, 'esim.purchased', gen_random_uuid(), '{}', ${status},
           case when ${isPending} then ${dueAt}::timestamptz + i * interval '1 ms' end, case when not ${isPending} then now() end,
           case when ${isHandedOver} then now() end
      from generate_series(1, ${count}::int) i`.execute(books.owner);
}

/** An account with so many messages that are due. */
async function flooded(count: number): Promise<Endpoint> {
  const endpoint = await newEndpoint(books.world, newAccountId());
  await plant(endpoint, count);
  return endpoint;
}

it('we are as late as the message is overdue that is due the longest, of those that no workflow carries', async () => {
  const lag = async () =>
    (await readFigures(books.world)).find(({ figure }) => figure === 'messages-lag')?.value;
  expect(await lag()).toBe(0);
  const endpoint = await newEndpoint(books.world, newAccountId());
  await plant(endpoint, 1, { dueAt: ago(7_200_000), isHandedOver: true });
  await plant(endpoint, 1, { dueAt: ago(7_200_000), status: 'DELIVERED' });
  await plant(endpoint, 1, { dueAt: ago(-600_000) });
  expect(await lag()).toBe(0);
  await plant(endpoint, 3, { dueAt: ago(3_600_000) });
  expect(await lag()).toBeGreaterThanOrEqual(3_600);
  expect(await lag()).toBeLessThan(3_700);
});

describe('a lease of what is due', () => {
  it('has the messages that are pending and due, and that no workflow carries, once until it expires', async () => {
    const { endpoint, messageId } = await waiting();
    const [later, carried, delivered, failed] = [
      await newMessage(books.world, endpoint),
      await newMessage(books.world, endpoint),
      await newMessage(books.world, endpoint),
      await newMessage(books.world, endpoint),
    ];
    await setMessage(books.owner, later, { next_attempt_at: ago(-5_000) });
    await handOver([carried]);
    await attempt(delivered, made(), DELIVERED);
    await attempt(failed, refused, GIVEN_UP);
    expect(idsOf(await lease())).toEqual([messageId]);
    expect(await waitOf(messageId)).toBeGreaterThan(10_000);
    expect(await waitOf(messageId)).toBeLessThanOrEqual(35_000);
    expect(await lease()).toEqual([]);
    await setMessage(books.owner, messageId, { next_attempt_at: ago(0) });
    expect(idsOf(await lease())).toEqual([messageId]);
  });

  it('has what an attempt needs, as the lease of a single message has it', async () => {
    const { endpoint, messageId } = await waiting();
    await attempt(messageId, refused, AGAIN);
    const due = { next_attempt_at: ago(0), handed_over_at: null, subject: 'txn-1' };
    await setMessage(books.owner, messageId, due);
    const { isLeased, dueInMs, ...single } = await load(messageId);
    expect({ isLeased, dueInMs }).toEqual({ isLeased: true, dueInMs: 0 });
    await setMessage(books.owner, messageId, due);
    expect(await lease()).toEqual([single]);
    expect(single).toMatchObject({
      ...{ messageId, transactionId: 'txn-1', body: '{"a":1}', attempts: 1, attemptsInSeries: 1 },
      endpoint: { id: endpoint.id, url: endpoint.url, isOpen: true, failingSince: refused.endedAt },
    });
  });

  it('says which endpoints are closed, whose messages then fail unless they are open again', async () => {
    const [off, gone, open, again] = [await waiting(), await waiting(), await waiting(), await waiting()];
    const disabled = { enabled: false, disabled_reason: 'FAILING', disabled_at: NOW } as const;
    await setEndpoint(books.owner, off.endpoint.id, disabled);
    await setEndpoint(books.owner, again.endpoint.id, disabled);
    await setEndpoint(books.owner, gone.endpoint.id, { deleted_at: NOW });
    const leased = await lease();
    const isOpen = new Map(leased.map(({ endpoint }) => [endpoint.id, endpoint.isOpen]));
    expect([off, gone, open].map(({ endpoint }) => isOpen.get(endpoint.id))).toEqual([false, false, true]);
    await attempt(open.messageId, made(), DELIVERED);
    const enabled = { enabled: true, disabled_reason: null, disabled_at: null };
    await setEndpoint(books.owner, again.endpoint.id, enabled);
    await failUnsent(books.world, idsOf(leased));
    expect((await rowOf(again.messageId)).status).toBe('PENDING');
    expect(await stateOf(off)).toEqual({ status: 'FAILED', attempts: 0, log: [] });
    expect((await rowOf(gone.messageId)).status).toBe('FAILED');
  });

  it('is of one caller, however many ask at once', async () => {
    for (let account = 0; account < 4; account += 1) await flooded(50);
    const leased: WebhookDelivery[] = [];
    for (let rounds = 0; leased.length < 200 && rounds < 50; rounds += 1)
      leased.push(...(await Promise.all(Array.from({ length: 8 }, () => lease(20, 20)))).flat());
    expect(leased).toHaveLength(200);
    expect(new Set(idsOf(leased)).size).toBe(200);
    expect(await lease()).toEqual([]);
  });
});

describe('endpoints take turns', () => {
  it('so that a thousand messages for one do not delay the message for another of the same account', async () => {
    const { accountId, id } = await flooded(1_000);
    const other = await newEndpoint(books.world, accountId);
    const messageId = await newMessage(books.world, other);
    const leased = await lease(20, 10);
    expect(idsOf(leased)).toContain(messageId);
    expect(leased).toHaveLength(11);
    const flood = leased.filter(({ endpoint }) => endpoint.id === id);
    const rows = (await messagesAt(books.owner, id)).toSorted(
      (one, next) => one.next_attempt_at!.getTime() - next.next_attempt_at!.getTime(),
    );
    // The rest waits in its order: the ten that were due the longest are leased.
    expect(
      rows
        .slice(-10)
        .map((row) => row.id)
        .toSorted(),
    ).toEqual(idsOf(flood));
    expect(await lease(20, 10)).toHaveLength(10);
  });

  it('and have as many each as there is room', async () => {
    const [one, other, third] = [await flooded(50), await flooded(50), await flooded(3)];
    const leased = await lease(20, 12);
    expect(leased).toHaveLength(20);
    expect(countOf(leased, third.accountId)).toBe(3);
    expect([one, other].map(({ accountId }) => countOf(leased, accountId)).toSorted()).toEqual([8, 9]);
    expect(countOf(await lease(100, 12), one.accountId)).toBe(12);
  });

  it('five hundred at a time, and the next turn goes on behind them', async () => {
    const { id } = await flooded(1);
    await sql`
      insert into webhook_endpoints (id, account_id, url, events, enabled, secret_sealed, created_at, updated_at)
      select 'ep-' || md5(i::text), account_id, url, events, enabled, secret_sealed, created_at, updated_at
        from webhook_endpoints, generate_series(1, 600) i where id = ${id}`.execute(books.owner);
    await sql`
      insert into webhook_messages (id, endpoint_id, account_id, event, event_key, body, status, next_attempt_at)
      select 'msg-' || md5(id), id, account_id, 'esim.purchased', id, '{}', 'PENDING', now()
        from webhook_endpoints where id in (select 'ep-' || md5(i::text) from generate_series(1, 600) i)`.execute(
      books.owner,
    );
    const first = await leaseDue(books.world, { after: '', limit: 1_000, perEndpoint: 1 });
    expect(first.due).toHaveLength(500);
    const last = first.due
      .map(({ endpoint }) => endpoint.id)
      .toSorted()
      .at(-1);
    expect(first.after).toBe(last);
    const second = await leaseDue(books.world, { after: first.after, limit: 1_000, perEndpoint: 1 });
    expect(second.due).toHaveLength(101);
    expect(second.after).toBe('');
  });
});

describe('attempts that were accepted', () => {
  const HEADERS = {
    requestHeaders: [{ name: 'content-type', value: 'application/json' }],
    answerHeaders: [{ name: 'x-quote', value: `"it's" \\ é` }],
  };

  it('are recorded together, each with its log, and their endpoints work', async () => {
    const [one, other, watched] = [await waiting(), await waiting(), await waiting()];
    const second = { ...one, messageId: await newMessage(books.world, one.endpoint) };
    for (const { endpoint } of [one, other, watched])
      await setEndpoint(books.owner, endpoint.id, { failing_since: NOW });
    const [first, none, last] = [
      made({ ...HEADERS, answerStart: `"ok"\n'1'`, url: 'https://a.example/1' }),
      made({ requestHeaders: null, answerHeaders: null, status: 204, answerStart: '', ms: 0 }),
      made({ at: new Date('2026-03-01T10:00:00.123Z') }),
    ];
    const attempts = [
      { delivery: await load(one.messageId), made: first },
      { delivery: await load(second.messageId), made: none },
      { delivery: await load(other.messageId), made: last },
    ];
    const recorded = await recordDelivered(books.world, attempts);
    expect([...recorded].toSorted()).toEqual(idsOf(attempts.map(({ delivery }) => delivery)));
    for (const { delivery, made: attempted } of attempts) {
      const { items } = await listAttempts(books.world, delivery.messageId, { page: 1, limit: 10 });
      const { endedAt: _endedAt, ...logged } = attempted;
      expect(items).toEqual([{ attempt: 1, ...logged }]);
      expect(await rowOf(delivery.messageId)).toMatchObject({ status: 'DELIVERED', next_attempt_at: null });
    }
    const failing = await Promise.all(
      [one, other, watched].map(({ endpoint: { accountId, id } }) =>
        findEndpoint(books.world, accountId, id),
      ),
    );
    expect(failing.map((endpoint) => endpoint?.failingSince)).toEqual([null, null, NOW]);
  });

  const acceptedBy = (some: readonly { readonly messageId: string }[]) =>
    Promise.all(some.map(async ({ messageId }) => ({ delivery: await load(messageId), made: made() })));

  it.each<[string, (attempts: Awaited<ReturnType<typeof acceptedBy>>) => Promise<ReadonlySet<string>[]>]>([
    [
      'by two dispatchers at once',
      (attempts) => Promise.all([1, 2, 3].map(() => recordDelivered(books.world, attempts))),
    ],
    [
      'twice in one batch, whose lease was over in between',
      async (attempts) => [await recordDelivered(books.world, [...attempts, ...attempts])],
    ],
  ])('are recorded once when they come %s', async (_how, record) => {
    const some = [await waiting(), await waiting(), await waiting()];
    const attempts = await acceptedBy(some);
    const recorded = await record(attempts);
    expect(recorded.flatMap((ids) => [...ids]).toSorted()).toEqual(
      some.map(({ messageId }) => messageId).toSorted(),
    );
    expect(await recordDelivered(books.world, attempts)).toEqual(new Set());
    for (const one of some)
      expect(await stateOf(one)).toEqual({ status: 'DELIVERED', attempts: 1, log: [200] });
  });

  it('are left out where another attempt of that number is on record, and count for the others', async () => {
    const [one, other] = [await waiting(), await waiting()];
    const attempts = await acceptedBy([one, other]);
    await recordAttempt(books.world, attempts[0]!.delivery, refused, AGAIN);
    expect(await recordDelivered(books.world, attempts)).toEqual(new Set([other.messageId]));
    expect(await stateOf(one)).toEqual({ status: 'PENDING', attempts: 1, log: [500] });
    const { failingSince } = (await findEndpoint(books.world, one.endpoint.accountId, one.endpoint.id))!;
    expect(failingSince).toEqual(refused.endedAt);
  });
});

it('messages are postponed together, each by its own wait, unless they were attempted or have ended', async () => {
  const some = [await waiting(), await waiting(), await waiting(), await waiting()];
  const [soon, late, attempted, ended] = some.map(({ messageId }) => messageId) as [
    string,
    string,
    string,
    string,
  ];
  const deliveries = await Promise.all([soon, late, attempted, ended].map(load));
  await recordAttempt(books.world, deliveries[2]!, refused, AGAIN);
  await setEndpoint(books.owner, some[3]!.endpoint.id, { deleted_at: NOW });
  await failUnsent(books.world, [ended]);
  const waits = [1_000, 600_000.5, 5_000_000, 5_000_000];
  await postpone(
    books.world,
    deliveries.map((delivery, index) => ({ delivery, waitMs: waits[index]! })),
  );
  expect(await waitOf(soon)).toBeLessThanOrEqual(1_000);
  expect(await waitOf(late)).toBeGreaterThan(590_000);
  expect(await waitOf(attempted)).toBeLessThanOrEqual(60_000);
  expect(await rowOf(ended)).toMatchObject({ status: 'FAILED', next_attempt_at: null });
});

describe('a message that a workflow carries', () => {
  it('is one that waits for its next attempt, or was postponed so, and is not leased when it is due', async () => {
    const [failed, slow] = [await waiting(), await waiting()];
    await attempt(failed.messageId, refused, { status: 'PENDING', waitMs: 0, isHandedOver: true });
    await handOver([slow.messageId]);
    for (const { messageId } of [failed, slow])
      expect((await rowOf(messageId)).handed_over_at).toBeInstanceOf(Date);
    expect(await lease()).toEqual([]);
    // Its own attempts and waits leave it with the workflow.
    await attempt(failed.messageId, refused, { status: 'PENDING', waitMs: 0, isHandedOver: true });
    await postpone(books.world, [{ delivery: await load(slow.messageId), waitMs: 0 }]);
    expect(await lease()).toEqual([]);
  });

  it('is none that waits for a moment only, and stays one if it is', async () => {
    const [ours, carried] = [await waiting(), await waiting()];
    await handOver([carried.messageId]);
    for (const { messageId } of [ours, carried])
      await attempt(messageId, refused, { status: 'PENDING', waitMs: 0, isHandedOver: false });
    expect(idsOf(await lease())).toEqual([ours.messageId]);
  });

  it('is taken back when none took it, and is due when it was', async () => {
    const [soon, late, again] = [await waiting(), await waiting(), await waiting()];
    await handOver([soon.messageId]);
    await attempt(late.messageId, refused, AGAIN);
    await handOver([again.messageId]);
    await reopenMessage(books.world, again.endpoint.accountId, again.messageId, new Date());
    await takeBack(books.world, [soon.messageId, late.messageId, again.messageId]);
    const rows = await Promise.all([soon, late, again].map(({ messageId }) => rowOf(messageId)));
    expect(rows.map((row) => row.handed_over_at)).toEqual([null, null, null]);
    expect(await waitOf(late.messageId)).toBeGreaterThan(30_000);
    expect(idsOf(await lease())).toEqual([soon.messageId, again.messageId].toSorted());
  });

  it('is taken back when it is overdue for so long, the longest first, and then leased', async () => {
    const { endpoint, messageId: ours } = await waiting();
    const add = async (dueAt: Date): Promise<string> => {
      const id = await newMessage(books.world, endpoint);
      await handOver([id]);
      await setMessage(books.owner, id, { next_attempt_at: dueAt });
      return id;
    };
    const [due, longest, long, ended] = [
      await add(ago(1_000)),
      await add(ago(90_000)),
      await add(ago(35_000)),
      await add(ago(90_000)),
    ];
    await setMessage(books.owner, ours, { next_attempt_at: ago(90_000) });
    await attempt(ended, made(), DELIVERED);
    expect(await lease()).toHaveLength(1);
    const takeBackOld = (limit = 10) => takeBackOverdue(books.world, { overdueMs: 30_000, limit });
    expect(await takeBackOld(1)).toBe(1);
    expect(idsOf(await lease())).toEqual([longest]);
    expect(await takeBackOld()).toBe(1);
    expect(idsOf(await lease())).toEqual([long]);
    expect(await takeBackOld()).toBe(0);
    expect((await rowOf(due)).handed_over_at).not.toBeNull();
  });

  it('is taken back alone where one may be, also while the database takes the table for a small one', async () => {
    const endpoint = await newEndpoint(books.world, newAccountId());
    await plant(endpoint, 1);
    await sql`vacuum analyze webhook_messages`.execute(books.owner);
    await plant(endpoint, 4, { isHandedOver: true });
    expect(await takeBackOverdue(books.world, { overdueMs: 30_000, limit: 1 })).toBe(1);
  });

  it('is taken back once by two sweeps at once', async () => {
    await plant(await newEndpoint(books.world, newAccountId()), 40, { isHandedOver: true });
    const takeBackOld = () => takeBackOverdue(books.world, { overdueMs: 30_000, limit: 40 });
    const counts = await Promise.all([takeBackOld(), takeBackOld(), takeBackOld()]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(40);
    expect(await lease()).toHaveLength(40);
  });

  it('is sent from its row again once it is sent again by hand', async () => {
    const [one, failed] = [await waiting(), await waiting()];
    for (const { messageId } of [one, failed]) await attempt(messageId, refused, AGAIN);
    await setMessage(books.owner, failed.messageId, { next_attempt_at: ago(0) });
    await attempt(failed.messageId, refused, GIVEN_UP);
    expect(await lease()).toEqual([]);
    await reopenMessage(books.world, one.endpoint.accountId, one.messageId, new Date());
    const { accountId, id } = failed.endpoint;
    const range = { from: NOW, to: new Date(NOW.getTime() + 1), now: new Date() };
    expect(await reopenFailed(books.world, accountId, id, range)).toBe(1);
    const leased = await lease();
    expect(idsOf(leased)).toEqual([one.messageId, failed.messageId].toSorted());
    expect(leased.map(({ attemptsInSeries }) => attemptsInSeries)).toEqual([0, 0]);
  });
});

describe('with 50,000 delivered messages in the table, and thousands that wait', () => {
  const ENDPOINTS = 20;

  async function fill(): Promise<void> {
    for (let made = 0; made < ENDPOINTS; made += 1) {
      const endpoint = await newEndpoint(books.world, newAccountId());
      await plant(endpoint, 2_500, { status: 'DELIVERED' });
      await plant(endpoint, 100);
      await plant(endpoint, 200, { dueAt: ago(-3_600_000) });
      await plant(endpoint, 100, { dueAt: ago(-3_600_000), isHandedOver: true });
    }
    await plant(await newEndpoint(books.world, newAccountId()), 300, { isHandedOver: true });
    await sql`vacuum analyze webhook_messages`.execute(books.owner);
  }

  async function scansOf(run: (db: WorldDb) => Promise<unknown>) {
    const { scans } = await explain(books, run);
    const own = scans.filter((node) => node['Relation Name'] === 'webhook_messages');
    const kinds = own.map((node) => node['Node Type']);
    return { indexes: new Set(own.map((node) => node['Index Name'])), kinds, rows: rowsReadBy(own) };
  }

  it('the due ones are found through their index, and no more of them are read than may be leased', async () => {
    await fill();
    const { indexes, rows } = await scansOf((db) => leaseDue(db, { after: '', limit: 50, perEndpoint: 5 }));
    expect(indexes).toEqual(new Set(['webhook_messages_to_dispatch', 'webhook_messages_pkey']));
    // One for each endpoint and the end, five of each, and twice those that are leased.
    expect(rows).toBeLessThanOrEqual((ENDPOINTS + 1) * (1 + 5) + 2 * 50);
    for (;;) if ((await lease(1_000, 100)).length === 0) break;
    const idle = await scansOf((db) => leaseDue(db, { after: '', limit: 50, perEndpoint: 5 }));
    expect(idle.indexes).toContain('webhook_messages_to_dispatch');
    expect(idle.rows).toBeLessThanOrEqual(ENDPOINTS + 1);
  });

  it('the overdue ones of workflows are found through an index, and no others are read', async () => {
    await fill();
    for (;;) if ((await lease(1_000, 100)).length === 0) break;
    const { kinds, rows } = await scansOf((db) => takeBackOverdue(db, { overdueMs: 30_000, limit: 100 }));
    expect(kinds).not.toContain('Seq Scan');
    // Each is read to be found, and to be changed. Where they are sorted, all 300 that are overdue are read.
    expect(rows).toBeLessThanOrEqual(300 + 2 * 100);
  });
});
