// Secrets of webhook endpoints on the whole service: shown once; replaced ones sign for another day; a repeat
// with the same key is one.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startStack } from '../support/world/stack.ts';
import { isSigned } from '../support/people/webhook-inbox.ts';
import {
  ENDPOINTS,
  isDelivered,
  openShop,
  type Endpoint,
  type List,
  type Reply,
  type Shop,
} from './webhook-api.support.ts';
import { forFile } from '../support/world/for-file.ts';
let shop: Shop;

const stack = await forFile(startStack());
beforeEach(async () => {
  shop = await openShop(stack);
});
afterEach(() => shop.inbox.close());

const rowOf = ({ id }: Endpoint) =>
  stack.owner.selectFrom('webhook_endpoints').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
/** As if the day of the last replaced secret were over. */
const endPrevious = ({ id }: Endpoint): Promise<unknown> =>
  stack.owner
    .updateTable('webhook_endpoints')
    .set({ previous_until: new Date(Date.now() - 1_000) })
    .where('id', '=', id)
    .execute();

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

  const { previous_until: until, updated_at: at } = await rowOf(endpoint);
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
