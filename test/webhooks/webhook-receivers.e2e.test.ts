// Receivers with too large or too slow answers, and one that was disabled while it failed: each attempt is
// recorded correctly, and missed messages can be recovered.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAttempts, type StoredAttempt } from '../../src/webhooks/store/messages.ts';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';
import { startStack, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import {
  answerStatus,
  startReceiver,
  type Answering,
  type Listener,
  type Receiver,
} from '../support/people/webhook-receiver.ts';

let stack: Stack;
let receiver: Receiver;
beforeAll(async () => {
  [stack, receiver] = await Promise.all([startStack(), startReceiver()]);
});
afterAll(async () => {
  await stack.close();
  await receiver.close();
});

const messagesOf = ({ endpointId }: Listener) =>
  stack.owner
    .selectFrom('webhook_messages')
    .selectAll()
    .where('endpoint_id', '=', endpointId)
    .orderBy('created_at')
    .execute();

/**
 * The first attempt at the message of a purchase whose receiver answers so; the message waits for its next
 * one.
 */
async function firstAttempt(answer: Answering, withinMs = 20_000): Promise<StoredAttempt> {
  const buyer = await newBuyer(stack);
  const listener = await receiver.listen(stack, buyer.account, { answer });
  await buyer.buy('SIM-OK');
  const [message] = await until(
    () => messagesOf(listener),
    (messages) => messages[0]?.attempts === 1,
    { what: 'a message that was tried', withinMs },
  );
  expect(message).toMatchObject({ status: 'PENDING', attempts: 1 });
  const { items } = await listAttempts(stack.world, message!.id, { page: 1, limit: 10 });
  // So that it is not attempted during the next test.
  await stack.call('DELETE', `/api/webhooks/endpoints/${listener.endpointId}`, { key: buyer.account.apiKey });
  return items[0]!;
}

describe('an unusable answer', () => {
  it('of 10 MB is a failed attempt, even with status 200, and not read to its end', async () => {
    const part = Buffer.alloc(1_024 * 1_024, 'x');
    let sentBytes = 0;
    const attempt = await firstAttempt((response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = (): void => {
        while (sentBytes < 10 * part.length && !response.destroyed) {
          sentBytes += part.length;
          if (!response.write(part)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    expect(attempt).toMatchObject({ attempt: 1, outcome: 'answer-too-long', status: 200 });
    expect(attempt.answerStart).toBe('x'.repeat(1_024));
    expect(sentBytes).toBeLessThan(10 * part.length);
  });

  it('that trickles is a failed attempt after 15 s, however steadily it comes', async () => {
    const timers: NodeJS.Timeout[] = [];
    const attempt = await firstAttempt((response) => {
      response.writeHead(200);
      timers.push(setInterval(() => response.write('.'), 100));
    });
    for (const timer of timers) clearInterval(timer);
    expect(attempt).toMatchObject({ attempt: 1, outcome: 'time-limit', status: 200 });
    expect(attempt.ms).toBeGreaterThanOrEqual(14_900);
    expect(attempt.ms).toBeLessThan(18_000);
    expect(attempt.answerStart).toMatch(/^\.+$/);
  });
});

it('an attempt shows its merchant the request and the answer, without secrets', async () => {
  const buyer = await newBuyer(stack);
  const key = buyer.account.apiKey;
  const listener = await receiver.listen(stack, buyer.account, {
    answer: (response) => {
      response.writeHead(503, {
        'Content-Type': 'text/plain',
        'X-Trace': 't'.repeat(500),
        'Set-Cookie': 'session=very-secret',
      });
      response.end('Sorry');
    },
  });
  await buyer.buy('SIM-OK');
  const [message] = await until(
    () => messagesOf(listener),
    (messages) => messages[0]?.attempts === 1,
    { what: 'a message that was tried' },
  );
  const path = `/api/webhooks/messages/${message!.id}`;
  const { body } = JSON.parse((await stack.call('GET', path, { key })).text) as { body: string };
  const reply = await stack.call('GET', `${path}/attempts`, { key });
  const [attempt] = (JSON.parse(reply.text) as { data: { items: [AttemptJson] } }).data.items;
  expect(attempt).toMatchObject({ outcome: 'answered', status: 503, answer: 'Sorry' });
  const received = listener.received[0]!;
  expect(attempt.request).toMatchObject({ method: 'POST', url: listener.url, body });
  const sent = Object.fromEntries(attempt.request.headers.map(({ name, value }) => [name, value]));
  expect(sent).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': received.headers['webhook-id'],
    'webhook-timestamp': received.headers['webhook-timestamp'],
    'content-length': String(Buffer.byteLength(body)),
  });
  const signature = String(received.headers['webhook-signature']);
  expect(sent['webhook-signature']).toBe(`${signature.slice(0, 'v1,'.length + 8)}…`);
  const answered = Object.fromEntries(attempt.answerHeaders.map(({ name, value }) => [name, value]));
  expect(answered).toMatchObject({
    'content-type': 'text/plain',
    'x-trace': `${'t'.repeat(199)}…`,
    'set-cookie': '(hidden)',
  });
  expect(reply.text).not.toContain('very-secret');
  expect(reply.text).not.toContain(signature);
});

interface AttemptJson {
  readonly request: { readonly headers: readonly { readonly name: string; readonly value: string }[] };
  readonly answerHeaders: readonly { readonly name: string; readonly value: string }[];
}

describe('an endpoint that was disabled for failing', () => {
  const patch = (buyer: Buyer, { endpointId }: Listener, body: object) =>
    stack.call('PATCH', `/api/webhooks/endpoints/${endpointId}`, { key: buyer.account.apiKey, body });

  it('can recover the messages since then, each once; while it is disabled nothing is sent', async () => {
    const buyer = await newBuyer(stack);
    const listener = await receiver.listen(stack, buyer.account, { answer: answerStatus(204) });
    const began = new Date();
    await stack.owner
      .updateTable('webhook_endpoints')
      .set({ enabled: false, disabled_reason: 'FAILING', disabled_at: began, failing_since: began })
      .where('id', '=', listener.endpointId)
      .execute();
    await Promise.all([1, 2].map(() => buyer.buy('SIM-OK')));
    // On a slow machine the answer may be 503 although the purchase goes on, and there is a PROCESSING event
    // as well.
    const bought = await until(
      () => buyer.purchases(),
      (rows) => rows.length === 2 && rows.every(({ closed_at }) => closed_at !== null),
      { what: 'two purchases closed' },
    );
    const written = await messagesOf(listener);
    const count = written.length;
    expect(count).toBeGreaterThanOrEqual(2);
    for (const message of written) expect(message).toMatchObject({ status: 'FAILED', attempts: 0 });
    expect((await patch(buyer, listener, { enabled: true })).status).toBe(200);
    expect(listener.received).toEqual([]);
    const recover = () =>
      stack.call('POST', `/api/webhooks/endpoints/${listener.endpointId}/recover`, {
        key: buyer.account.apiKey,
        body: { from: began.toISOString() },
      });
    expect((await recover()).body).toEqual({ recovered: count });
    const received = await listener.untilReceived(count);
    expect(received.map(({ id }) => id).toSorted()).toEqual(
      written.map(({ event_id }) => event_id).toSorted(),
    );
    const ended = received.filter(({ data }) => data['status'] === 'SUCCESS');
    expect(ended.map(({ data }) => data['transactionId']).toSorted()).toEqual(
      bought.map((row) => row.transaction_id).toSorted(),
    );
    await until(
      () => messagesOf(listener),
      (messages) => messages.every(({ status }) => status === 'DELIVERED'),
      { what: 'all of them delivered' },
    );
    expect((await recover()).body).toEqual({ recovered: 0 });
  }, 120_000);
});
