// The webhook routes on the whole service: what is asked for over HTTP arrives at the merchant's server, signed; every attempt can be read;
// what failed is sent again under its own id; a secret is told once and kept sealed.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WEBHOOK_EVENTS } from '../../src/domain/webhooks.ts';
import { startStack, type Stack, type TestAccount } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { isSigned, startInbox, type Inbox } from '../support/webhook-inbox.ts';

let stack: Stack;
let inbox: Inbox;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());
let me: TestAccount;
beforeEach(async () => {
  [inbox, me] = await Promise.all([startInbox(), stack.account()]);
});
afterEach(() => inbox.close());

const ENDPOINTS = '/api/webhooks/endpoints';
const MESSAGES = '/api/webhooks/messages';

interface Reply<T> {
  readonly status: number;
  readonly text: string;
  readonly replayed: string | null;
  readonly body: T;
}

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly secret: string;
}

interface Message {
  readonly id: string;
  readonly event: string;
  readonly transactionId: string | null;
  readonly status: string;
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly body: string;
}

interface Attempt {
  readonly attempt: number;
  readonly milliseconds: number;
  readonly outcome: string;
  readonly status: number | null;
  readonly answer: string;
}

interface List<T> {
  readonly data: { readonly items: readonly T[]; readonly pagination: { readonly totalItems: number } };
}

async function ask<T>(
  method: string,
  path: string,
  body?: unknown,
  { key = me.apiKey, idempotencyKey = '' } = {},
): Promise<Reply<T>> {
  const answer = await stack.call(method, path, {
    key,
    body,
    ...(idempotencyKey === '' ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }),
  });
  return {
    status: answer.status,
    text: answer.text,
    replayed: answer.headers.get('idempotent-replayed'),
    body: answer.body as unknown as T,
  };
}

async function add(path: string, events?: readonly string[]): Promise<Endpoint> {
  const url = inbox.url + path;
  const { status, body } = await ask<Endpoint>('POST', ENDPOINTS, { url, ...(events ? { events } : {}) });
  expect(status).toBe(201);
  return body;
}

const sample = async ({ id }: Endpoint, event = 'esim.purchased'): Promise<Message> => {
  const { status, body } = await ask<Message>('POST', `${ENDPOINTS}/${id}/sample`, { event });
  expect(status).toBe(201);
  return body;
};

/** A purchase from the wallet; answers the id of its message. */
async function bought(): Promise<string> {
  const body = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' };
  const { transactionId } = (await stack.call('POST', '/api/esim/buy', { key: me.apiKey, body })).body;
  const found = await until(
    () => ask<List<Message>>('GET', `${MESSAGES}?transactionId=${transactionId}`),
    ({ body: { data } }) => data.items.length > 0,
    { what: `the message of ${transactionId}` },
  );
  return found.body.data.items[0]!.id;
}

const readMessage = async (id: string): Promise<Message> =>
  (await ask<Message>('GET', `${MESSAGES}/${id}`)).body;
const attemptsAt = async (id: string): Promise<readonly Attempt[]> =>
  (await ask<List<Attempt>>('GET', `${MESSAGES}/${id}/attempts`)).body.data.items;
const untilMessage = (id: string, isSo: (message: Message) => boolean): Promise<Message> =>
  until(() => readMessage(id), isSo, { what: id });
const isDelivered = ({ status }: Message): boolean => status === 'DELIVERED';

const rowOf = ({ id }: Endpoint) =>
  stack.owner.selectFrom('webhook_endpoints').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
/** As if the day of the secret that was replaced last were over. */
const endPrevious = ({ id }: Endpoint): Promise<unknown> =>
  stack.owner
    .updateTable('webhook_endpoints')
    .set({ previous_until: new Date(Date.now() - 1_000) })
    .where('id', '=', id)
    .execute();

describe('what is sent', () => {
  it('a sample of each event arrives, signed, with the bytes that the message shows, and its attempt can be read', async () => {
    const endpoint = await add('/samples');
    for (const event of WEBHOOK_EVENTS) {
      const { id } = await sample(endpoint, event);
      const message = await untilMessage(id, isDelivered);
      const letter = inbox.letters.at(-1)!;
      expect(letter.headers['webhook-id']).toBe(id);
      expect(letter.body).toBe(message.body);
      expect(isSigned(letter, endpoint.secret)).toBe(true);
      expect(JSON.parse(letter.body)).toMatchObject({ event });
      expect(await attemptsAt(id)).toMatchObject([
        { attempt: 1, outcome: 'answered', status: 204, answer: '' },
      ]);
    }
    expect(inbox.letters.length).toBe(WEBHOOK_EVENTS.length);
  });

  it("a purchase's message is found by its transaction, only at endpoints that ask", async () => {
    const [asking, other] = [await add('/asking'), await add('/other', ['payment.received'])];
    const bought = await stack.call('POST', '/api/esim/buy', {
      key: me.apiKey,
      body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
    });
    const { transactionId } = bought.body;
    const [letter] = await inbox.untilAt('/asking', 1);
    expect(isSigned(letter!, asking.secret)).toBe(true);
    expect(JSON.parse(letter!.body)).toMatchObject({ data: { transactionId, status: 'SUCCESS' } });
    const found = await ask<List<Message>>('GET', `${MESSAGES}?transactionId=${transactionId}`);
    expect(found.body.data.items).toMatchObject([{ event: 'esim.purchased', transactionId }]);
    const none = await ask<List<Message>>('GET', `${MESSAGES}?endpointId=${other.id}`);
    expect(none.body.data.items).toEqual([]);
  });

  it('a failed attempt: status, time and the first kibibyte of the answer; then it waits for the next', async () => {
    inbox.answerWith({ status: 500, body: `${'é'.repeat(400)}${'x'.repeat(2_000)}` });
    const { id } = await sample(await add('/failing'));
    const message = await untilMessage(id, ({ attempts }) => attempts === 1);
    expect(message.status).toBe('PENDING');
    expect(Date.parse(message.nextAttemptAt!)).toBeGreaterThan(Date.now());
    const [attempt] = await attemptsAt(id);
    expect(attempt).toMatchObject({ attempt: 1, outcome: 'answered', status: 500 });
    expect(attempt!.answer).toBe(`${'é'.repeat(400)}${'x'.repeat(1_024 - 800)}`);
    expect(attempt!.milliseconds).toBeGreaterThanOrEqual(0);
  });

  it('410 disables: the endpoint says so, nothing can be begun until it is enabled again', async () => {
    inbox.answerWith({ status: 410 });
    const endpoint = await add('/gone');
    const { id } = await sample(endpoint);
    await untilMessage(id, ({ status }) => status === 'FAILED');
    const one = `${ENDPOINTS}/${endpoint.id}`;
    expect((await ask<Endpoint>('GET', one)).body).toMatchObject({ enabled: false, disabledReason: 'GONE' });
    for (const [path, body] of [
      [`${one}/sample`, { event: 'esim.purchased' }],
      [`${one}/recover`, { from: new Date(Date.now() - 60_000).toISOString() }],
      [`${MESSAGES}/${id}/resend`, undefined],
    ] as const) {
      const refused = await ask('POST', path, body);
      expect([refused.status, refused.body]).toMatchObject([
        400,
        { error: { code: 'WEBHOOK_ENDPOINT_DISABLED' } },
      ]);
    }
    inbox.answerWith({ status: 200 });
    expect((await ask<Endpoint>('PATCH', one, { enabled: true })).body).toMatchObject({
      enabled: true,
      disabledReason: null,
    });
    await untilMessage((await sample(endpoint)).id, isDelivered);
  });
});

describe('again', () => {
  it('resend keeps the id, also of what was delivered', async () => {
    const endpoint = await add('/again');
    const { id } = await sample(endpoint);
    await untilMessage(id, isDelivered);
    const again = await ask<Message>('POST', `${MESSAGES}/${id}/resend`);
    expect([again.status, again.body.status]).toEqual([200, 'PENDING']);
    await untilMessage(id, (message) => isDelivered(message) && message.attempts === 2);
    const letters = await inbox.untilAt('/again', 2);
    expect(letters.map((letter) => letter.headers['webhook-id'])).toEqual([id, id]);
    expect(letters[0]!.body).toBe(letters[1]!.body);
    expect((await attemptsAt(id)).map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('recover sends each failed message of the range once, under its own id, and no sample', async () => {
    const endpoint = await add('/recovered');
    const one = `${ENDPOINTS}/${endpoint.id}`;
    await untilMessage(await bought(), isDelivered);
    inbox.answerWith({ status: 503 });
    const tried = await sample(endpoint);
    const failed: string[] = [];
    for (let n = 0; n < 3; n += 1) failed.push(await bought());
    for (const id of [tried.id, ...failed]) await untilMessage(id, ({ attempts }) => attempts === 1);
    await ask('PATCH', one, { enabled: false });
    expect(await Promise.all(failed.map(async (id) => (await readMessage(id)).status))).toEqual(
      failed.map(() => 'FAILED'),
    );
    await ask('PATCH', one, { enabled: true });
    inbox.answerWith({ status: 204 });

    const from = new Date(Date.now() - 3_600_000).toISOString();
    const before = new Date(Date.now() - 1_800_000).toISOString();
    expect((await ask('POST', `${one}/recover`, { from, to: before })).body).toEqual({ recovered: 0 });
    const key = { idempotencyKey: randomUUID() };
    const recovered = await ask('POST', `${one}/recover`, { from }, key);
    expect([recovered.status, recovered.body]).toEqual([200, { recovered: 3 }]);
    const repeated = await ask('POST', `${one}/recover`, { from }, key);
    expect([repeated.text, repeated.replayed]).toEqual([recovered.text, 'true']);
    expect((await ask('POST', `${one}/recover`, { from })).body).toEqual({ recovered: 0 });

    for (const id of failed) await untilMessage(id, isDelivered);
    const letters = await inbox.untilAt('/recovered', 8);
    const ids = letters.slice(5).map((letter) => letter.headers['webhook-id']);
    expect(ids.toSorted()).toEqual(failed.toSorted());
    expect(letters.length).toBe(8);
    expect(await readMessage(tried.id)).toMatchObject({ status: 'FAILED', attempts: 1 });
  });

  it.each([
    [{ from: 15 * 24 * 60, to: undefined }, 'from: must be at most 14 days ago'],
    [{ from: -1, to: undefined }, 'from: must be in the past'],
    [{ from: 1, to: 2 }, 'to: must be after from'],
    [{ from: 15 * 24 * 60, to: 16 * 24 * 60 }, 'from: must be at most 14 days ago; to: must be after from'],
  ])('not a range: %j minutes ago', async ({ from, to }, message) => {
    const { id } = await add('/range');
    const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
    const range = { from: ago(from), ...(to === undefined ? {} : { to: ago(to) }) };
    const refused = await ask('POST', `${ENDPOINTS}/${id}/recover`, range);
    expect([refused.status, refused.body]).toMatchObject([400, { error: { message } }]);
  });
});

describe('secrets', () => {
  it('both sign for a day after a rotation; a rotation that is repeated under its key is one', async () => {
    const endpoint = await add('/rotated');
    const rotate = `${ENDPOINTS}/${endpoint.id}/rotate-secret`;
    const key = { idempotencyKey: randomUUID() };
    const rotated = await ask<Endpoint>('POST', rotate, undefined, key);
    const repeated = await ask<Endpoint>('POST', rotate, undefined, key);
    expect([repeated.status, repeated.text, repeated.replayed]).toEqual([200, rotated.text, 'true']);
    expect(rotated.body.secret).not.toBe(endpoint.secret);
    await untilMessage((await sample(endpoint)).id, isDelivered);
    const [letter] = await inbox.untilAt('/rotated', 1);
    for (const secret of [endpoint.secret, rotated.body.secret]) expect(isSigned(letter!, secret)).toBe(true);

    const { previous_until: until, updated_at: at } = await rowOf(endpoint);
    expect(until!.getTime() - at.getTime()).toBe(24 * 3_600_000);
    expect(Math.abs(Date.now() - at.getTime())).toBeLessThan(60_000);
    await endPrevious(endpoint);
    await untilMessage((await sample(endpoint)).id, isDelivered);
    const [, later] = await inbox.untilAt('/rotated', 2);
    expect([isSigned(later!, endpoint.secret), isSigned(later!, rotated.body.secret)]).toEqual([false, true]);
  });

  it('each that was replaced signs for its own day, four at a time; a repeat shows only one that signs', async () => {
    const endpoint = await add('/chain');
    const rotate = (idempotencyKey = randomUUID()): Promise<Reply<Endpoint>> =>
      ask('POST', `${ENDPOINTS}/${endpoint.id}/rotate-secret`, undefined, { idempotencyKey });
    const firstKey = randomUUID();
    const secrets = [endpoint.secret, (await rotate(firstKey)).body.secret];
    for (let n = 0; n < 3; n += 1) secrets.push((await rotate()).body.secret);
    await untilMessage((await sample(endpoint)).id, isDelivered);
    const [letter] = await inbox.untilAt('/chain', 1);
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

    // A day later but for the newest: its own time is not over, and it signs beside the new one.
    await stack.owner
      .updateTable('webhook_older_secrets')
      .set({ until: new Date(Date.now() - 1_000) })
      .where('endpoint_id', '=', endpoint.id)
      .execute();
    expect((await rotate(firstKey)).body).toMatchObject({ id: endpoint.id, secret: '' });
    const taken = await rotate(refusedKey);
    expect(taken.status).toBe(200);
    secrets.push(taken.body.secret);
    await untilMessage((await sample(endpoint)).id, isDelivered);
    const [, later] = await inbox.untilAt('/chain', 2);
    expect(secrets.filter((secret) => isSigned(later!, secret))).toEqual(secrets.slice(3));
  });

  it('adding twice under one key is one endpoint; its secret is in no row, and repeated only while it is in use', async () => {
    const body = { url: `${inbox.url}/keyed` };
    const key = { idempotencyKey: randomUUID() };
    const first = await ask<Endpoint>('POST', ENDPOINTS, body, key);
    const repeated = await ask<Endpoint>('POST', ENDPOINTS, body, key);
    expect([repeated.status, repeated.text, repeated.replayed]).toEqual([201, first.text, 'true']);
    expect((await ask<List<Endpoint>>('GET', ENDPOINTS)).body.data.pagination.totalItems).toBe(1);

    const { id, secret } = first.body;
    const rows = await Promise.all(
      (['webhook_endpoints', 'idempotency_keys', 'webhook_messages'] as const).map((table) =>
        stack.owner.selectFrom(table).selectAll().execute(),
      ),
    );
    const [plain, base64] = [secret, secret.slice('whsec_'.length)];
    const dump = JSON.stringify(rows);
    expect(dump).toContain(id);
    expect(dump).not.toContain(plain);
    expect(dump).not.toContain(base64);
    for (const { secret_sealed: sealed } of rows[0] as { secret_sealed: Buffer }[]) {
      expect(sealed.includes(base64)).toBe(false);
      expect(sealed.includes(Buffer.from(base64, 'base64'))).toBe(false);
    }

    await ask('POST', `${ENDPOINTS}/${id}/rotate-secret`);
    expect((await ask('POST', ENDPOINTS, body, key)).text).toBe(first.text);
    await endPrevious(first.body);
    const old = await ask<Endpoint>('POST', ENDPOINTS, body, key);
    expect([old.status, old.body]).toEqual([201, { ...first.body, secret: '' }]);
  });

  it('a try whose answer was lost is answered from the rows', async () => {
    const body = { url: `${inbox.url}/lost` };
    const key = { idempotencyKey: randomUUID() };
    const first = await ask<Endpoint>('POST', ENDPOINTS, body, key);
    const forget = (createdAt: Date): Promise<unknown> =>
      stack.owner
        .updateTable('idempotency_keys')
        .set({ answer_status: null, answer_body: null, created_at: createdAt })
        .where('key', '=', key.idempotencyKey)
        .execute();
    await forget(new Date());
    const inUse = await ask('POST', ENDPOINTS, body, key);
    expect([inUse.status, inUse.body]).toMatchObject([409, { error: { code: 'IDEMPOTENCY_KEY_IN_USE' } }]);
    await forget(new Date(Date.now() - 60_000));
    const again = await ask<Endpoint>('POST', ENDPOINTS, body, key);
    expect([again.status, again.text]).toEqual([201, first.text]);
  });

  it('of two requests with one key at once, one adds', async () => {
    const body = { url: `${inbox.url}/at-once` };
    const key = { idempotencyKey: randomUUID() };
    const all = await Promise.all(
      Array.from({ length: 8 }, () => ask<Endpoint>('POST', ENDPOINTS, body, key)),
    );
    const statuses = new Set(all.map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 201 && status !== 409)).toEqual([]);
    const added = all.filter(({ status }) => status === 201).map(({ body: { id } }) => id);
    expect(new Set(added).size).toBe(1);
    expect((await ask<List<Endpoint>>('GET', ENDPOINTS)).body.data.pagination.totalItems).toBe(1);
  });
});

describe('endpoints', () => {
  it.each([
    ['http://10.0.0.1/', 'address'],
    ['http://169.254.169.254/latest/meta-data', 'address'],
    ['http://[::ffff:10.0.0.1]/', 'plain form'],
    ['http://0x7f.1/', 'plain form'],
    ['http://localhost/', 'host name'],
    ['http://user:pw@203.0.113.7/', 'user name'],
    ['ftp://203.0.113.7/', 'must begin with'],
    ['http://93.184.215.14:8080/', 'port'],
    ['not a url', 'URL'],
  ])('%s is refused with the reason', async (url, reason) => {
    const refused = await ask<{ error: { code: string; message: string } }>('POST', ENDPOINTS, { url });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(refused.body.error.message).toMatch(/^url: must /);
    expect(refused.body.error.message).toContain(reason);
    const { id } = await add('/to-be-changed');
    expect((await ask('PATCH', `${ENDPOINTS}/${id}`, { url })).text).toBe(refused.text);
  });

  it('at most 16, also when they are added at once', async () => {
    const body = { url: `${inbox.url}/many` };
    const all = await Promise.all(Array.from({ length: 20 }, () => ask('POST', ENDPOINTS, body)));
    expect(all.filter(({ status }) => status === 201).length).toBe(16);
    for (const { status, body: refused } of all.filter((one) => one.status !== 201))
      expect([status, refused]).toMatchObject([400, { error: { code: 'WEBHOOK_ENDPOINT_LIMIT' } }]);
  });

  it('deleting: what waited is not sent, what was can be read, and nothing can be begun', async () => {
    inbox.answerWith({ status: 500 });
    const endpoint = await add('/deleted');
    const { id } = await sample(endpoint);
    await untilMessage(id, ({ attempts }) => attempts === 1);
    expect((await ask('DELETE', `${ENDPOINTS}/${endpoint.id}`)).body).toEqual({
      id: endpoint.id,
      deleted: true,
    });
    expect(await readMessage(id)).toMatchObject({ status: 'FAILED', nextAttemptAt: null });
    expect((await attemptsAt(id)).length).toBe(1);
    const resend = await ask('POST', `${MESSAGES}/${id}/resend`);
    expect([resend.status, resend.body]).toMatchObject([
      404,
      { error: { code: 'WEBHOOK_ENDPOINT_NOT_FOUND' } },
    ]);
    expect((await ask('DELETE', `${ENDPOINTS}/${endpoint.id}`)).status).toBe(404);
  });

  it('low balance: told once when a purchase crosses it, to those who ask', async () => {
    const path = '/api/wallet/low-balance';
    const endpoint = await add('/low', ['wallet.low_balance']);
    const balance = (await stack.call('GET', '/api/wallet/balance', { key: me.apiKey })).body.data.balance;
    expect((await ask('PUT', path, { amount: balance })).body).toEqual({ amount: balance, currency: 'USD' });
    expect((await ask('GET', path)).body).toEqual({ amount: balance, currency: 'USD' });
    const buy = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' };
    for (let n = 0; n < 2; n += 1)
      expect((await stack.call('POST', '/api/esim/buy', { key: me.apiKey, body: buy })).status).toBe(201);
    const [letter] = await inbox.untilAt('/low', 1);
    expect(isSigned(letter!, endpoint.secret)).toBe(true);
    expect(JSON.parse(letter!.body)).toMatchObject({
      event: 'wallet.low_balance',
      data: { threshold: balance },
    });
    const told = await ask<List<Message>>('GET', `${MESSAGES}?event=wallet.low_balance`);
    expect(told.body.data.pagination.totalItems).toBe(1);
    expect((await ask('PUT', path, { amount: null })).body).toEqual({ amount: null, currency: 'USD' });
  });
});
