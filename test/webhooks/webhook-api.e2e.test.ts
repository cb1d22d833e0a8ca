// The webhook routes on the whole service: messages arrive signed at the merchant's server, attempts can be
// read, failed messages are sent again with their own id, and secrets are shown once.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WEBHOOK_EVENTS } from '../../src/webhooks/events.ts';
import { startStack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { isSigned } from '../support/people/webhook-inbox.ts';
import {
  ENDPOINTS,
  isDelivered,
  MESSAGES,
  openShop,
  type Endpoint,
  type List,
  type Message,
  type Reply,
  type Shop,
} from './webhook-api.support.ts';
import { forFile } from '../support/world/for-file.ts';
import { rowOfEndpoint, setEndpoint } from './webhooks.support.ts';
let shop: Shop;

const stack = await forFile(startStack());
beforeEach(async () => {
  shop = await openShop(stack);
});
afterEach(() => shop.inbox.close());

describe('a message', () => {
  it('is sent as a sample of each event, signed, with the shown bytes, and its attempt can be read', async () => {
    const endpoint = await shop.add('/samples');
    for (const event of WEBHOOK_EVENTS) {
      const { id } = await shop.sample(endpoint, event);
      const message = await shop.untilMessage(id, isDelivered);
      const letter = shop.inbox.letters.at(-1)!;
      expect(letter.headers['webhook-id']).toBe(id);
      expect(letter.body).toBe(message.body);
      expect(isSigned(letter, endpoint.secret)).toBe(true);
      expect(JSON.parse(letter.body)).toMatchObject({ event });
      expect(await shop.attemptsAt(id)).toMatchObject([
        { attempt: 1, outcome: 'answered', status: 204, answer: '' },
      ]);
    }
    expect(shop.inbox.letters.length).toBe(WEBHOOK_EVENTS.length);
  });

  it('shows a failed attempt with status, time and the first kibibyte of the answer, then waits for the next', async () => {
    shop.inbox.answerWith({ status: 500, body: `${'é'.repeat(400)}${'x'.repeat(2_000)}` });
    const { id } = await shop.sample(await shop.add('/failing'));
    const message = await shop.untilMessage(id, ({ attempts }) => attempts >= 1);
    expect(message.status).toBe('PENDING');
    expect(Date.parse(message.nextAttemptAt!)).toBeGreaterThan(Date.now());
    const [attempt] = await shop.attemptsAt(id);
    expect(attempt).toMatchObject({ attempt: 1, outcome: 'answered', status: 500 });
    expect(attempt!.answer).toBe(`${'é'.repeat(400)}${'x'.repeat(1_024 - 800)}`);
    expect(attempt!.milliseconds).toBeGreaterThanOrEqual(0);
  });
});

it('an event has one id at every endpoint and in the feed, where it is the same, byte for byte', async () => {
  const [first, second] = [await shop.add('/one'), await shop.add('/other')];
  const id = await shop.bought();
  const [here, there] = [
    (await shop.inbox.untilAt('/one', 1))[0]!,
    (await shop.inbox.untilAt('/other', 1))[0]!,
  ];
  expect(here.body).toBe(there.body);
  const { eventId } = await shop.readMessage(id);
  expect([here, there].map((letter) => letter.headers['webhook-id'])).toEqual([eventId, eventId]);
  const feed = await until(
    () => shop.ask<List<{ id: string }>>('GET', '/api/events'),
    ({ body }) => body.data.items.length > 0,
  );
  expect(feed.text).toContain(`{"id":"${eventId}",${here.body.slice(1)}`);
  const found = await shop.ask<List<Message>>('GET', `${MESSAGES}?eventId=${eventId}`);
  expect(found.body.data.items.map(({ endpointId }) => endpointId).toSorted()).toEqual(
    [first.id, second.id].toSorted(),
  );
  const other = `evt-${'0'.repeat(32)}`;
  for (const none of [other, 'x'])
    expect((await shop.ask<List<Message>>('GET', `${MESSAGES}?eventId=${none}`)).body.data.items).toEqual([]);
});

describe('sending again', () => {
  it('by resend keeps the id, also of a delivered message', async () => {
    const endpoint = await shop.add('/again');
    const { id } = await shop.sample(endpoint);
    await shop.untilMessage(id, isDelivered);
    const again = await shop.ask<Message>('POST', `${MESSAGES}/${id}/resend`);
    expect([again.status, again.body.status]).toEqual([200, 'PENDING']);
    await shop.untilMessage(id, (message) => isDelivered(message) && message.attempts === 2);
    const letters = await shop.inbox.untilAt('/again', 2);
    expect(letters.map((letter) => letter.headers['webhook-id'])).toEqual([id, id]);
    expect(letters[0]!.body).toBe(letters[1]!.body);
    expect((await shop.attemptsAt(id)).map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('by recover sends each failed message of the range once, with its own id, and no sample', async () => {
    const endpoint = await shop.add('/recovered');
    const one = `${ENDPOINTS}/${endpoint.id}`;
    await shop.untilMessage(await shop.bought(), isDelivered);
    shop.inbox.answerWith({ status: 503 });
    const tried = await shop.sample(endpoint);
    const failed: string[] = [];
    for (let n = 0; n < 3; n += 1) failed.push(await shop.bought());
    for (const id of [tried.id, ...failed]) await shop.untilMessage(id, ({ attempts }) => attempts >= 1);
    await shop.ask('PATCH', one, { enabled: false });
    expect(await Promise.all(failed.map(async (id) => (await shop.readMessage(id)).status))).toEqual(
      failed.map(() => 'FAILED'),
    );
    await shop.ask('PATCH', one, { enabled: true });
    shop.inbox.answerWith({ status: 204 });
    // A slow machine had time for more attempts.
    const earlier = shop.inbox.letters.length;

    const from = new Date(Date.now() - 3_600_000).toISOString();
    const before = new Date(Date.now() - 1_800_000).toISOString();
    expect((await shop.ask('POST', `${one}/recover`, { from, to: before })).body).toEqual({ recovered: 0 });
    const key = { idempotencyKey: randomUUID() };
    const recovered = await shop.ask('POST', `${one}/recover`, { from }, key);
    expect([recovered.status, recovered.body]).toEqual([200, { recovered: 3 }]);
    const repeated = await shop.ask('POST', `${one}/recover`, { from }, key);
    expect([repeated.text, repeated.replayed]).toEqual([recovered.text, 'true']);
    expect((await shop.ask('POST', `${one}/recover`, { from })).body).toEqual({ recovered: 0 });

    for (const id of failed) await shop.untilMessage(id, isDelivered);
    const letters = await shop.inbox.untilAt('/recovered', earlier + 3);
    const ids = letters.slice(earlier).map((letter) => letter.headers['webhook-id']);
    const events = await Promise.all(failed.map(async (id) => (await shop.readMessage(id)).eventId));
    expect(ids.toSorted()).toEqual(events.toSorted());
    // The feed has the same events, ids and order. It waits for every transaction that was open before.
    const feed = await until(
      () => shop.ask<List<{ id: string }>>('GET', '/api/events?event=esim.purchased'),
      ({ body }) => body.data.items.length > 3,
    );
    expect(feed.body.data.items.slice(1).map(({ id }) => id)).toEqual(events);
    expect(shop.inbox.letters.length).toBe(earlier + 3);
    expect(await shop.readMessage(tried.id)).toMatchObject({ status: 'FAILED' });
  });
});

it('endpoints that are deleted get no waiting message, their log can be read, and nothing can be started', async () => {
  shop.inbox.answerWith({ status: 500 });
  const endpoint = await shop.add('/deleted');
  const { id } = await shop.sample(endpoint);
  await shop.untilMessage(id, ({ attempts }) => attempts >= 1);
  expect((await shop.ask('DELETE', `${ENDPOINTS}/${endpoint.id}`)).body).toEqual({
    id: endpoint.id,
    deleted: true,
  });
  expect(await shop.readMessage(id)).toMatchObject({ status: 'FAILED', nextAttemptAt: null });
  expect((await shop.attemptsAt(id)).length).toBe(1);
  const resend = await shop.ask('POST', `${MESSAGES}/${id}/resend`);
  expect([resend.status, resend.body]).toMatchObject([
    404,
    { error: { code: 'WEBHOOK_ENDPOINT_NOT_FOUND' } },
  ]);
  expect((await shop.ask('DELETE', `${ENDPOINTS}/${endpoint.id}`)).status).toBe(404);
});

describe('secrets', () => {
  /** As if the day of the last replaced secret were over. */
  const endPrevious = ({ id }: Endpoint): Promise<unknown> =>
    setEndpoint(stack.owner, id, { previous_until: new Date(Date.now() - 1_000) });

  it('both secrets sign for a day after a rotation; a rotation repeated with its key is one', async () => {
    const endpoint = await shop.add('/rotated');
    const rotate = `${ENDPOINTS}/${endpoint.id}/rotate-secret`;
    const key = { idempotencyKey: randomUUID() };
    const rotated = await shop.ask<Endpoint>('POST', rotate, undefined, key);
    const repeated = await shop.ask<Endpoint>('POST', rotate, undefined, key);
    expect([repeated.status, repeated.text, repeated.replayed]).toEqual([200, rotated.text, 'true']);
    expect(rotated.body.secret).not.toBe(endpoint.secret);
    await shop.untilMessage((await shop.sample(endpoint)).id, isDelivered);
    const [letter] = await shop.inbox.untilAt('/rotated', 1);
    for (const secret of [endpoint.secret, rotated.body.secret]) expect(isSigned(letter!, secret)).toBe(true);

    const { previous_until: until, updated_at: at } = await rowOfEndpoint(stack.owner, endpoint.id);
    expect(until!.getTime() - at.getTime()).toBe(24 * 3_600_000);
    expect(Math.abs(Date.now() - at.getTime())).toBeLessThan(60_000);
    await endPrevious(endpoint);
    await shop.untilMessage((await shop.sample(endpoint)).id, isDelivered);
    const [, later] = await shop.inbox.untilAt('/rotated', 2);
    expect([isSigned(later!, endpoint.secret), isSigned(later!, rotated.body.secret)]).toEqual([false, true]);
  });

  it('each replaced secret signs for its own day, four at a time; a repeat shows only one that signs', async () => {
    const endpoint = await shop.add('/chain');
    const rotate = (idempotencyKey = randomUUID()): Promise<Reply<Endpoint>> =>
      shop.ask('POST', `${ENDPOINTS}/${endpoint.id}/rotate-secret`, undefined, { idempotencyKey });
    const firstKey = randomUUID();
    const secrets = [endpoint.secret, (await rotate(firstKey)).body.secret];
    for (let n = 0; n < 3; n += 1) secrets.push((await rotate()).body.secret);
    await shop.untilMessage((await shop.sample(endpoint)).id, isDelivered);
    const [letter] = await shop.inbox.untilAt('/chain', 1);
    expect(secrets.map((secret) => isSigned(letter!, secret))).toEqual(secrets.map(() => true));

    const refusedKey = randomUUID();
    const refused = await rotate(refusedKey);
    expect([refused.status, refused.body]).toMatchObject([400, { error: { code: 'WEBHOOK_SECRET_LIMIT' } }]);
    const firstEnd = await stack.owner
      .selectFrom('webhook_older_secrets')
      .select((eb) => eb.fn.min('until').as('until'))
      .where('endpoint_id', '=', endpoint.id)
      .executeTakeFirstOrThrow();
    expect(refused.text).toContain(firstEnd.until.toISOString());
    expect((await rotate(firstKey)).body.secret).toBe(secrets[1]);

    // A day later, except for the newest: its own time is not over, and it signs together with the new one.
    await stack.owner
      .updateTable('webhook_older_secrets')
      .set({ until: new Date(Date.now() - 1_000) })
      .where('endpoint_id', '=', endpoint.id)
      .execute();
    expect((await rotate(firstKey)).body).toMatchObject({ id: endpoint.id, secret: '' });
    const taken = await rotate(refusedKey);
    expect(taken.status).toBe(200);
    secrets.push(taken.body.secret);
    await shop.untilMessage((await shop.sample(endpoint)).id, isDelivered);
    const [, later] = await shop.inbox.untilAt('/chain', 2);
    expect(secrets.filter((secret) => isSigned(later!, secret))).toEqual(secrets.slice(3));
  });

  it('adding twice with one key makes one endpoint; its secret is repeated only while it is in use', async () => {
    const body = { url: `${shop.inbox.url}/keyed` };
    const key = { idempotencyKey: randomUUID() };
    const first = await shop.ask<Endpoint>('POST', ENDPOINTS, body, key);
    const repeated = await shop.ask<Endpoint>('POST', ENDPOINTS, body, key);
    expect([repeated.status, repeated.text, repeated.replayed]).toEqual([201, first.text, 'true']);
    expect((await shop.ask<List<Endpoint>>('GET', ENDPOINTS)).body.data.pagination.totalItems).toBe(1);

    const { id } = first.body;
    await shop.ask('POST', `${ENDPOINTS}/${id}/rotate-secret`);
    expect((await shop.ask('POST', ENDPOINTS, body, key)).text).toBe(first.text);
    await endPrevious(first.body);
    const old = await shop.ask<Endpoint>('POST', ENDPOINTS, body, key);
    expect([old.status, old.body]).toEqual([201, { ...first.body, secret: '' }]);
  });

  it('a repeat after a lost answer is answered from the rows', async () => {
    const body = { url: `${shop.inbox.url}/lost` };
    const key = { idempotencyKey: randomUUID() };
    const first = await shop.ask<Endpoint>('POST', ENDPOINTS, body, key);
    const forget = (createdAt: Date): Promise<unknown> =>
      stack.owner
        .updateTable('idempotency_keys')
        .set({ answer_status: null, answer_body: null, created_at: createdAt })
        .where('key', '=', key.idempotencyKey)
        .execute();
    await forget(new Date());
    const inUse = await shop.ask('POST', ENDPOINTS, body, key);
    expect([inUse.status, inUse.body]).toMatchObject([409, { error: { code: 'IDEMPOTENCY_KEY_IN_USE' } }]);
    await forget(new Date(Date.now() - 60_000));
    const again = await shop.ask<Endpoint>('POST', ENDPOINTS, body, key);
    expect([again.status, again.text]).toEqual([201, first.text]);
  });
});
