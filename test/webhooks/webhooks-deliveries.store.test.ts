/**
 * What a delivery step reads and records: an attempt with all its effects, once; endpoints that are gone or
 * fail for too long; messages sent again with a new schedule and the old log, and deleted.
 */
import { describe, expect, it } from 'vitest';
import { addSample, listAttempts, reopenFailed, reopenMessage } from '../../src/webhooks/store/messages.ts';
import {
  leaseDelivery,
  forgetMessages,
  postpone,
  recordAttempt,
} from '../../src/webhooks/store/deliveries.ts';
import {
  createEndpoint,
  deleteEndpoint,
  findEndpoint,
  updateEndpoint,
  type Endpoint,
} from '../../src/webhooks/store/endpoints.ts';
import { openBooks } from '../support/world/books.ts';
import { forFile } from '../support/world/for-file.ts';
import {
  AGAIN,
  DELIVERED,
  deliveringOn,
  GIVEN_UP,
  made,
  newAccountId,
  newEndpoint,
  newMessage,
  NOW,
  refused,
  setMessage,
  messagesAt,
} from './webhooks.support.ts';

const books = await forFile(openBooks({ maxConnections: 20 }));
const { attempt, load, stateOf, waiting } = deliveringOn(books.world);

const failingSince = async ({ endpoint }: { endpoint: Endpoint }) =>
  (await findEndpoint(books.world, endpoint.accountId, endpoint.id))?.failingSince;

describe('a message that is due', () => {
  it('is leased by one of many callers at once, and is not due for the others', async () => {
    const { messageId } = await waiting();
    const asked = await Promise.all(Array.from({ length: 8 }, () => load(messageId)));
    expect(asked.filter(({ isLeased }) => isLeased)).toHaveLength(1);
    for (const { isLeased, dueInMs } of [...asked, await load(messageId)]) {
      if (isLeased) continue;
      expect(dueInMs).toBeGreaterThan(10_000);
      expect(dueInMs).toBeLessThanOrEqual(35_000);
    }
  });

  it('is not leased while its endpoint is disabled, nor once it has ended', async () => {
    const [one, other] = [await waiting(), await waiting()];
    await deleteEndpoint(books.world, one.endpoint.accountId, one.endpoint.id, NOW);
    await attempt(other.messageId, made(), DELIVERED);
    for (const { messageId } of [one, other])
      expect(await load(messageId)).toMatchObject({ isLeased: false });
  });

  it('is not leased while nothing can be written', async () => {
    const { messageId } = await waiting();
    const readOnly = books.world
      .transaction()
      .setAccessMode('read only')
      .execute((trx) => leaseDelivery(trx, messageId));
    await expect(readOnly).rejects.toThrow(/read-only/);
    expect((await load(messageId)).isLeased).toBe(true);
  });
});

describe('an attempt', () => {
  it('that was accepted closes the message and is in the log', async () => {
    const one = await waiting();
    expect(await attempt(one.messageId, made(), DELIVERED)).toBe(true);
    expect(await stateOf(one)).toEqual({ status: 'DELIVERED', attempts: 1, log: [200] });
    expect(await listAttempts(books.world, one.messageId, { page: 1, limit: 10 })).toEqual({
      items: [
        {
          ...{ attempt: 1, at: NOW, ms: 20, outcome: 'answered', status: 200, answerStart: 'ok' },
          ...{ url: 'https://shop.example/hooks', requestHeaders: [], answerHeaders: [] },
        },
      ],
      total: 1,
      page: 1,
      limit: 10,
    });
  });

  it('that was not accepted makes it due after the wait, and the endpoint failing since the first', async () => {
    const one = await waiting();
    await attempt(one.messageId, refused, AGAIN);
    await attempt(one.messageId, { ...refused, endedAt: new Date(NOW.getTime() + 90_000) }, AGAIN);
    expect(await stateOf(one)).toEqual({ status: 'PENDING', attempts: 2, log: [500, 500] });
    const { dueInMs, attemptsInSeries } = await load(one.messageId);
    expect(dueInMs).toBeGreaterThan(50_000);
    expect(dueInMs).toBeLessThanOrEqual(60_000);
    expect(attemptsInSeries).toBe(2);
    expect(await failingSince(one)).toEqual(refused.endedAt);
    const other = { ...one, messageId: await newMessage(books.world, one.endpoint) };
    await attempt(other.messageId, made(), DELIVERED);
    expect(await failingSince(one)).toBeNull();
  });

  it('that was the last makes it failed', async () => {
    const one = await waiting();
    await attempt(one.messageId, made({ outcome: 'time-limit', status: null }), GIVEN_UP);
    expect(await stateOf(one)).toEqual({ status: 'FAILED', attempts: 1, log: [null] });
  });

  it('is recorded once, even if two runs of a step bring it at once', async () => {
    const one = await waiting();
    const delivery = await load(one.messageId);
    const verdicts = [DELIVERED, AGAIN, DELIVERED, GIVEN_UP];
    const kept = await Promise.all(
      verdicts.map((verdict) => recordAttempt(books.world, delivery, made(), verdict)),
    );
    expect(kept.filter(({ isNew }) => isNew)).toHaveLength(1);
    const { attempts, log } = await stateOf(one);
    expect({ attempts, log }).toEqual({ attempts: 1, log: [200] });
  });

  it('in progress while its endpoint is deleted still counts', async () => {
    const [lost, arrived] = [await waiting(), await waiting()];
    const deliveries = [await load(lost.messageId), await load(arrived.messageId)] as const;
    for (const { endpoint } of [lost, arrived])
      expect(await deleteEndpoint(books.world, endpoint.accountId, endpoint.id, NOW)).toBe(true);
    expect(await stateOf(lost)).toMatchObject({ status: 'FAILED' });
    await recordAttempt(books.world, deliveries[0], refused, AGAIN);
    await recordAttempt(books.world, deliveries[1], made(), DELIVERED);
    expect(await stateOf(lost)).toEqual({ status: 'FAILED', attempts: 1, log: [500] });
    expect(await stateOf(arrived)).toEqual({ status: 'DELIVERED', attempts: 1, log: [200] });
    expect((await load(lost.messageId)).endpoint.isOpen).toBe(false);
  });

  it('without a permit does not count: the message is due later', async () => {
    const one = await waiting();
    await postpone(books.world, [{ delivery: await load(one.messageId), waitMs: 60_000 }]);
    expect(await stateOf(one)).toEqual({ status: 'PENDING', attempts: 0, log: [] });
    expect((await load(one.messageId)).dueInMs).toBeGreaterThan(50_000);
  });
});

describe('an endpoint that is disabled', () => {
  const endpointOf = async ({ endpoint }: { endpoint: Endpoint }) =>
    (await findEndpoint(books.world, endpoint.accountId, endpoint.id))!;

  it('gets no more messages: waiting ones end, and its owner is notified at another endpoint', async () => {
    const one = await waiting();
    const second = { ...one, messageId: await newMessage(books.world, one.endpoint) };
    const watcher = await newEndpoint(books.world, one.endpoint.accountId, { events: ['endpoint.disabled'] });
    await recordAttempt(books.world, await load(one.messageId), made({ status: 410 }), GIVEN_UP, 'GONE');
    expect(await endpointOf(one)).toMatchObject({ enabled: false, disabledReason: 'GONE' });
    expect(await stateOf(one)).toMatchObject({ status: 'FAILED', log: [410] });
    expect(await stateOf(second)).toMatchObject({ status: 'FAILED', log: [] });
    const { id, url } = one.endpoint;
    const notices = await messagesAt(books.owner, watcher.id);
    expect(notices).toMatchObject([{ event: 'endpoint.disabled', subject: null, status: 'PENDING' }]);
    expect(JSON.parse(notices[0]!.body)).toMatchObject({ data: { endpointId: id, url, reason: 'GONE' } });
  });

  it('gets no event about itself', async () => {
    const accountId = newAccountId();
    const endpoint = await newEndpoint(books.world, accountId, { events: ['endpoint.disabled'] });
    const messageId = await newMessage(books.world, endpoint);
    await recordAttempt(books.world, await load(messageId), made({ status: 410 }), GIVEN_UP, 'GONE');
    expect(await messagesAt(books.owner, endpoint.id)).toMatchObject([{ id: messageId }]);
  });

  it('is not disabled for failing if it answered another message meanwhile: the message goes on', async () => {
    const one = await waiting();
    await attempt(one.messageId, refused, AGAIN);
    const delivery = await load(one.messageId);
    const other = await newMessage(books.world, one.endpoint);
    await attempt(other, made(), DELIVERED);
    const kept = await recordAttempt(books.world, delivery, refused, AGAIN, 'FAILING');
    expect(kept).toEqual({ isNew: true, isDisabled: false, verdict: AGAIN });
    expect(await endpointOf(one)).toMatchObject({ enabled: true });
    expect(await stateOf(one)).toMatchObject({ status: 'PENDING', attempts: 2 });
    const failing = await load(one.messageId);
    expect(await recordAttempt(books.world, failing, refused, AGAIN, 'FAILING')).toMatchObject({
      isDisabled: true,
    });
    expect(await endpointOf(one)).toMatchObject({ enabled: false, disabledReason: 'FAILING' });
    expect(await stateOf(one)).toMatchObject({ status: 'FAILED', attempts: 3 });
  });

  it('by many messages at once is disabled once, and none of them is lost or stuck', async () => {
    const one = await waiting();
    const watcher = await newEndpoint(books.world, one.endpoint.accountId, { events: ['endpoint.disabled'] });
    const more = await Promise.all(Array.from({ length: 11 }, () => newMessage(books.world, one.endpoint)));
    const deliveries = await Promise.all([one.messageId, ...more].map(load));
    const kept = await Promise.all(
      deliveries.map((delivery, index) =>
        index % 3 === 0
          ? recordAttempt(books.world, delivery, made({ status: 410 }), AGAIN, 'GONE')
          : recordAttempt(
              books.world,
              delivery,
              index % 3 === 1 ? made() : refused,
              index % 3 === 1 ? DELIVERED : AGAIN,
            ),
      ),
    );
    expect(kept.every(({ isNew }) => isNew)).toBe(true);
    expect(kept.filter(({ isDisabled }) => isDisabled)).toHaveLength(1);
    expect(await endpointOf(one)).toMatchObject({ enabled: false, disabledReason: 'GONE' });
    expect(await messagesAt(books.owner, watcher.id)).toHaveLength(1);
  });

  it.each([
    ['starts with a clean record when it is enabled', true, null],
    ['keeps our reason when its owner disables it as well', false, 'GONE'],
  ])('%s', async (_what, enabled, disabledReason) => {
    const one = await waiting();
    await recordAttempt(books.world, await load(one.messageId), refused, AGAIN, 'GONE');
    const { accountId, id } = one.endpoint;
    const changed = await updateEndpoint(books.world, accountId, id, { enabled, now: NOW });
    expect(changed).toMatchObject({ enabled, disabledReason, ...(enabled && { failingSince: null }) });
  });

  it('by its owner ends waiting messages', async () => {
    const one = await waiting();
    const { accountId, id } = one.endpoint;
    await updateEndpoint(books.world, accountId, id, { enabled: false, now: NOW });
    expect(await stateOf(one)).toMatchObject({ status: 'FAILED' });
  });
});

describe('old messages', () => {
  it('are deleted with their attempts, and open ones never', async () => {
    const [closed, open] = [await waiting(), await waiting()];
    await attempt(closed.messageId, made(), DELIVERED);
    await setMessage(books.owner, closed.messageId, { closed_at: new Date('2020-01-01T00:00:00Z') });
    const before = new Date('2020-01-02T00:00:00Z');
    expect(await forgetMessages(books.world, before, 100)).toBe(1);
    expect(await forgetMessages(books.world, before, 100)).toBe(0);
    expect(await leaseDelivery(books.world, closed.messageId)).toBeUndefined();
    expect((await listAttempts(books.world, closed.messageId, { page: 1, limit: 10 })).total).toBe(0);
    expect(await load(open.messageId)).toMatchObject({ status: 'PENDING' });
  });
});

describe('an account’s endpoints', () => {
  it('are limited, however many are made at once', async () => {
    const accountId = newAccountId();
    const make = (index: number) =>
      createEndpoint(books.world, {
        id: `ep-${index.toString(16).padStart(31, '0')}${accountId.at(-1)}`.replace(/[^-0-9a-fep]/g, '0'),
        accountId,
        url: 'https://m.example',
        events: ['esim.purchased'],
        secretSealed: Buffer.from('s'),
        now: NOW,
        maxPerAccount: 16,
      });
    const outcomes = await Promise.all(Array.from({ length: 24 }, (_, index) => make(index)));
    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(16);
    expect(outcomes.filter((outcome) => outcome === 'too-many')).toHaveLength(8);
  });
});

it('a message that is sent again gets its whole schedule, and keeps its log', async () => {
  const one = await waiting();
  await attempt(one.messageId, refused, AGAIN);
  await attempt(one.messageId, made(), DELIVERED);
  const { accountId } = one.endpoint;
  expect(await reopenMessage(books.world, accountId, one.messageId, NOW)).toMatchObject({
    status: 'PENDING',
    attempts: 2,
    closedAt: null,
  });
  expect(await load(one.messageId)).toMatchObject({ attemptsInSeries: 0, dueInMs: 0 });
  await attempt(one.messageId, refused, AGAIN);
  expect(await load(one.messageId)).toMatchObject({ attempts: 3, attemptsInSeries: 1 });
});

it('a waiting message is due now, and gets its whole schedule again', async () => {
  const one = await waiting();
  await attempt(one.messageId, refused, AGAIN);
  await reopenMessage(books.world, one.endpoint.accountId, one.messageId, NOW);
  expect(await load(one.messageId)).toMatchObject({ attempts: 1, attemptsInSeries: 0, dueInMs: 0 });
});

it('a message that is sent again during its last attempt is not ended by it, and the attempt is not part of the new schedule', async () => {
  const one = await waiting();
  await attempt(one.messageId, refused, AGAIN);
  const last = await load(one.messageId);
  await reopenMessage(books.world, one.endpoint.accountId, one.messageId, NOW);
  expect(await recordAttempt(books.world, last, refused, GIVEN_UP)).toMatchObject({ isNew: true });
  expect(await stateOf(one)).toEqual({ status: 'PENDING', attempts: 2, log: [500, 500] });
  expect(await load(one.messageId)).toMatchObject({ attempts: 2, attemptsInSeries: 0, dueInMs: 0 });
});

it('a message that is sent again during an attempt that succeeds is delivered', async () => {
  const one = await waiting();
  await attempt(one.messageId, refused, AGAIN);
  const last = await load(one.messageId);
  await reopenMessage(books.world, one.endpoint.accountId, one.messageId, NOW);
  await recordAttempt(books.world, last, made(), DELIVERED);
  expect(await stateOf(one)).toEqual({ status: 'DELIVERED', attempts: 2, log: [500, 200] });
});

it('a message of another account is not sent again', async () => {
  const one = await waiting();
  expect(await reopenMessage(books.world, newAccountId(), one.messageId, NOW)).toBeUndefined();
  const range = { from: new Date(0), to: new Date(NOW.getTime() + 1), now: NOW };
  await attempt(one.messageId, refused, GIVEN_UP);
  expect(await reopenFailed(books.world, newAccountId(), one.endpoint.id, range)).toBe(0);
});

it('each failed message of a range is sent again, once, without samples', async () => {
  const { endpoint, messageId: untouched } = await waiting();
  const at = (ms: number) => new Date(NOW.getTime() + ms);
  const ids = await Promise.all([-1, 0, 999, 1_000].map((ms) => newMessage(books.world, endpoint, at(ms))));
  const delivered = await newMessage(books.world, endpoint, at(500));
  for (const id of ids) await attempt(id, refused, GIVEN_UP);
  await attempt(delivered, made(), DELIVERED);
  const tried = { endpoint, event: 'esim.purchased', body: '{}', now: at(500) } as const;
  await attempt(await addSample(books.world, tried), refused, GIVEN_UP);
  const range = { from: at(0), to: at(1_000), now: NOW };
  const reopen = () => reopenFailed(books.world, endpoint.accountId, endpoint.id, range);
  const [first, second] = await Promise.all([reopen(), reopen()]);
  expect(first + second).toBe(2);
  const pending = (await messagesAt(books.owner, endpoint.id)).filter(({ status }) => status === 'PENDING');
  expect(pending.map(({ id }) => id).toSorted()).toEqual([untouched, ids[1], ids[2]].toSorted());
  expect(await reopen()).toBe(0);
});

it('any number of messages can be sent again', async () => {
  const { endpoint } = await waiting();
  await books.owner.deleteFrom('webhook_messages').where('endpoint_id', '=', endpoint.id).execute();
  const count = 4_500;
  await books.owner
    .insertInto('webhook_messages')
    .values(
      Array.from({ length: count }, (_, index) => ({
        id: `msg-${index.toString(16).padStart(32, '0')}`,
        endpoint_id: endpoint.id,
        account_id: endpoint.accountId,
        event: 'esim.purchased' as const,
        event_key: `k${index}`,
        subject: null,
        body: '{}',
        status: 'FAILED' as const,
        next_attempt_at: null,
        created_at: NOW,
        closed_at: NOW,
      })),
    )
    .execute();
  const range = { from: NOW, to: new Date(NOW.getTime() + 1), now: NOW };
  expect(await reopenFailed(books.world, endpoint.accountId, endpoint.id, range)).toBe(count);
  await deleteEndpoint(books.world, endpoint.accountId, endpoint.id, NOW);
  const left = await messagesAt(books.owner, endpoint.id);
  expect(left.filter(({ status }) => status === 'PENDING')).toEqual([]);
});
