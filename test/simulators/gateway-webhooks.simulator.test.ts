import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import {
  HOUR_MS,
  messagesOf,
  MINUTE_MS,
  SECRET_KEY,
  startGateway,
  startReceiver,
  stopAll,
  until,
  type LoggedEvent,
  type Receiver,
  type TestGateway,
} from './gateway-simulator.support.ts';

afterEach(stopAll);

async function listening(options: Parameters<typeof startGateway>[0] = {}) {
  const receiver = await startReceiver();
  const gateway = await startGateway({ webhookUrls: [receiver.url], ...options });
  return { receiver, gateway };
}

const arrived = (receiver: Receiver, count: number) => until(() => receiver.attempts.length >= count);
const references = (receiver: Receiver) => messagesOf(receiver).map(({ data }) => data['reference']);

async function logged(gateway: TestGateway, query = ''): Promise<LoggedEvent[]> {
  return (await gateway.control('GET', `/webhooks${query}`)).body as LoggedEvent[];
}

describe('the gateway simulator, its webhooks', () => {
  it.each([
    ['compact', /^\{"event":"charge\.success","data":\{"id":/],
    ['pretty', /^\{\n {2}"event": "charge\.success",\n/],
    ['escaped', /"Ad\\u00e9 \\u2603","path":"a\\\/b"/],
    ['reordered', /^\{"data":\{.*\},"event":"charge\.success"\}$/],
  ])('are JSON with the same content in %s bytes, and are signed as sent', async (webhookBytes, pattern) => {
    const { receiver, gateway } = await listening();
    await gateway.setFaults({ webhookBytes });
    const reference = await gateway.paid({ metadata: { name: 'Adé ☃', path: 'a/b' } });
    await arrived(receiver, 1);
    const [{ headers, text } = { headers: {}, text: '' }] = receiver.messages;
    expect(text).toMatch(pattern);
    expect(headers['content-type']).toBe('application/json');
    const signature = createHmac('sha512', SECRET_KEY).update(text).digest('hex');
    expect(headers['x-paystack-signature']).toBe(signature);
    const data = await gateway.verify(reference);
    expect(messagesOf(receiver)).toEqual([{ event: 'charge.success', data }]);
    expect((await gateway.held(reference)).webhooks[0]?.body).toBe(text);
    await until(async () => (await logged(gateway))[0]?.deliveries[0]?.state === 'delivered');
  });

  it('go to every address of the start, and to others after PUT /webhook-urls', async () => {
    const [first, second, third] = [await startReceiver(), await startReceiver(), await startReceiver()];
    const gateway = await startGateway({ webhookUrls: [first.url, second.url] });
    await gateway.paid();
    await Promise.all([arrived(first, 1), arrived(second, 1)]);
    expect((await gateway.control('PUT', '/webhook-urls', { urls: [third.url] })).body).toEqual({
      urls: [third.url],
    });
    await gateway.paid();
    await arrived(third, 1);
    expect([first, second].map(({ attempts }) => attempts.length)).toEqual([1, 1]);
    for (const body of [{}, { urls: 'x' }, { urls: ['ftp://x'] }, { urls: ['http://'] }]) {
      expect((await gateway.control('PUT', '/webhook-urls', body)).status).toBe(400);
    }
  });
});

describe('the gateway simulator, faults of its webhooks', () => {
  const payTwo = async (gateway: TestGateway) => [await gateway.paid(), await gateway.paid()];

  it('drop sends nothing, also later, and the log shows it', async () => {
    const { receiver, gateway } = await listening();
    await gateway.setFaults({ webhooks: 'drop' });
    await gateway.paid();
    await gateway.control('DELETE', '/faults');
    const kept = await gateway.paid();
    await gateway.advance(HOUR_MS * 11);
    expect(references(receiver)).toEqual([kept]);
    expect((await logged(gateway)).map(({ deliveries }) => deliveries[0]?.state)).toEqual([
      'delivered',
      'dropped',
    ]);
  });

  it('duplicate sends the same bytes twice', async () => {
    const { receiver, gateway } = await listening();
    await gateway.setFaults({ webhooks: 'duplicate' });
    await gateway.paid();
    await arrived(receiver, 2);
    expect(receiver.attempts[0]?.text).toBe(receiver.attempts[1]?.text);
  });

  it('reorder swaps pairs, and sends a single webhook after a second', async () => {
    const { receiver, gateway } = await listening();
    await gateway.setFaults({ webhooks: 'reorder' });
    const [first, second] = await payTwo(gateway);
    await gateway.advance(100);
    expect(references(receiver)).toEqual([second, first]);
    const alone = await gateway.paid();
    await gateway.advance(999);
    expect(receiver.attempts).toHaveLength(2);
    await gateway.advance(1);
    expect(references(receiver)).toEqual([second, first, alone]);
  });

  it('delay sends after three seconds', async () => {
    const { receiver, gateway } = await listening();
    await gateway.setFaults({ webhooks: 'delay' });
    await gateway.paid();
    await gateway.advance(2999);
    expect(receiver.attempts).toHaveLength(0);
    await gateway.advance(1);
    expect(receiver.attempts).toHaveLength(1);
  });

  it('GET /webhooks finds webhooks, and POST /webhooks/{id}/resend sends the same bytes again', async () => {
    const { receiver, gateway } = await listening();
    const [first, second] = await payTwo(gateway);
    await arrived(receiver, 2);
    expect((await logged(gateway)).map(({ reference }) => reference)).toEqual([second, first]);
    expect(await logged(gateway, '?event=refund.pending')).toEqual([]);
    const [event] = await logged(gateway, `?reference=${String(first)}`);
    expect(event).toMatchObject({ event: 'charge.success', reference: first });
    expect((await gateway.control('POST', `/webhooks/${String(event?.id)}/resend`)).status).toBe(200);
    await arrived(receiver, 3);
    expect(receiver.attempts[2]?.text).toBe(event?.body);
    expect((await gateway.control('POST', '/webhooks/999/resend')).status).toBe(404);
  });
});

describe('the gateway simulator, retries of its webhooks', () => {
  const hourly = (count: number) => Array.from({ length: count }, () => HOUR_MS);
  const gapsOf = (event: LoggedEvent | undefined) => {
    const times = (event?.deliveries[0]?.attempts ?? []).map(({ at }) => Date.parse(at));
    return times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
  };

  it.each([
    ['test', hourly(10)],
    ['test-72h', hourly(72)],
    ['live', [...Array.from({ length: 3 }, () => 3 * MINUTE_MS), ...hourly(72)]],
  ] as const)('the schedule %s is followed to its end', async (retries, gaps) => {
    const { receiver, gateway } = await listening({ retries });
    receiver.answers.push(...Array.from({ length: 100 }, () => 500));
    await gateway.paid();
    await gateway.advance(80 * HOUR_MS);
    const [event] = await logged(gateway);
    expect(gapsOf(event)).toEqual(gaps);
    expect(receiver.attempts).toHaveLength(gaps.length + 1);
    expect(event?.deliveries[0]).toMatchObject({ state: 'failed', nextAttemptAt: null });
    expect(new Set(receiver.attempts.map(({ text }) => text)).size).toBe(1);
  });

  it('only 200 is a success, which ends the retries', async () => {
    const { receiver, gateway } = await listening();
    receiver.answers.push(201, 204, 302, 404, 200);
    await gateway.paid();
    await gateway.advance(12 * HOUR_MS);
    const [event] = await logged(gateway);
    const attempts = event?.deliveries[0]?.attempts ?? [];
    expect(attempts.map(({ status }) => status)).toEqual([201, 204, 302, 404, 200]);
    expect(event?.deliveries[0]?.state).toBe('delivered');
  });

  it('a closed port is a failure', async () => {
    const gateway = await startGateway({ webhookUrls: ['http://127.0.0.1:9/'] });
    await gateway.paid();
    await gateway.advance(HOUR_MS);
    const [event] = await logged(gateway);
    expect(event?.deliveries[0]?.attempts.map(({ status }) => status)).toEqual([null, null]);
  });

  it('the fault retries changes the schedule', async () => {
    const { receiver, gateway } = await listening();
    await gateway.setFaults({ retries: 'live' });
    receiver.answers.push(500);
    await gateway.paid();
    await gateway.advance(3 * MINUTE_MS);
    expect(receiver.messages).toHaveLength(1);
  });

  it('continue after a restart: planned ones, and one that was being sent', async () => {
    const { receiver, gateway } = await listening();
    receiver.answers.push(500);
    const failed = await gateway.paid();
    await until(async () => (await logged(gateway))[0]?.deliveries[0]?.nextAttemptAt != null);
    receiver.answers.push('hang');
    const hanging = await gateway.paid();
    await arrived(receiver, 2);
    await gateway.stop();
    const { dataDir, clock } = gateway;
    const second = await startGateway({ dataDir, now: () => clock.nowMs });
    await until(() => receiver.messages.length === 1);
    expect(references(receiver)).toEqual([hanging]);
    await second.advance(HOUR_MS);
    expect(references(receiver)).toEqual([hanging, failed]);
  });
});
