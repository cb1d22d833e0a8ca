/** Messages that are sent again: one, or each failed one of a range, with a new schedule and the old log. */
import { afterAll, expect, it } from 'vitest';
import { recordAttempt } from '../../src/webhooks/store/deliveries.ts';
import { deleteEndpoint } from '../../src/webhooks/store/endpoints.ts';
import { addSample, reopenFailed, reopenMessage } from '../../src/webhooks/store/messages.ts';
import { openBooks } from '../support/world/books.ts';
import {
  AGAIN,
  DELIVERED,
  deliveringOn,
  GIVEN_UP,
  made,
  newAccountId,
  newMessage,
  NOW,
  refused,
} from './webhooks.support.ts';

const books = await openBooks();
afterAll(() => books.close());
const { attempt, load, stateOf, waiting } = deliveringOn(books.world);

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
  expect(await reopenFailed(books.world, newAccountId(), one.endpoint.id, range)).toEqual([]);
});

it('each failed message of a range is sent again, once, without samples', async () => {
  const { endpoint } = await waiting();
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
  expect([...first, ...second].toSorted()).toEqual([ids[1], ids[2]].toSorted());
  expect(await reopen()).toEqual([]);
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
        swept_at: null,
        created_at: NOW,
        closed_at: NOW,
      })),
    )
    .execute();
  const range = { from: NOW, to: new Date(NOW.getTime() + 1), now: NOW };
  const ids = await reopenFailed(books.world, endpoint.accountId, endpoint.id, range);
  expect(new Set(ids).size).toBe(count);
  await deleteEndpoint(books.world, endpoint.accountId, endpoint.id, NOW);
  const left = await books.owner
    .selectFrom('webhook_messages')
    .select('id')
    .where('endpoint_id', '=', endpoint.id)
    .where('status', '=', 'PENDING')
    .execute();
  expect(left).toEqual([]);
});
