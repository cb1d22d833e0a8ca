// Webhooks through the whole service: each status of each kind of purchase, correctly signed and with ids
// that stay, to a receiver that uses the unmodified `standardwebhooks` package; and no secret at rest.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { WEBHOOK_EVENTS } from '../../src/webhooks/events.ts';
import type { attemptPageSchema } from '../../src/webhooks/http/messages.ts';
import { newBuyer, untilClosed } from '../support/people/buyer.ts';
import { eventTypes, fetchHistory } from '../support/world/history.ts';
import { installOf } from '../support/vendors/install-data.ts';
import { atGateway, buyThroughGateway, untilStatus } from '../support/money/payments.ts';
import { type TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { startReceiver, type Listener, type Received } from '../support/people/webhook-receiver.ts';
import { forFile } from '../support/world/for-file.ts';
import { soundStack } from '../support/world/sound-stack.ts';
import { messagesAt } from './webhooks.support.ts';

const stack = await soundStack({
  // Two buyers wait that long for what does not come.
  timings: { pollFirstMs: 400, inFlightGraceMs: 500, answerWithinMs: 8_000 },
  env: { SIMWAY_TEST_WEBHOOK_SPEED: '500' },
});
const receiver = await forFile(startReceiver());
afterEach(() => stack.clearFaults());

/** An account with an endpoint for every event. */
async function merchant(fundsMinor = 1_000_000n): Promise<{ account: TestAccount; listener: Listener }> {
  const account = await stack.account({ fundsMinor });
  return { account, listener: await receiver.listen(stack, account, { events: WEBHOOK_EVENTS }) };
}

const statusesIn = (received: readonly Received[]) =>
  received.filter(({ event }) => event === 'esim.purchased').map(({ data }) => data['status']);

/** The received messages, once there are this many and no delivery is in progress. */
async function allOf({ account, listener }: { account: TestAccount; listener: Listener }, count: number) {
  await listener.untilReceived(count);
  await until(
    () =>
      stack.owner
        .selectFrom('webhook_messages')
        .select('id')
        .where('account_id', '=', account.accountId)
        .where('status', '<>', 'DELIVERED')
        .execute(),
    (open) => open.length === 0,
    { what: 'every message delivered' },
  );
  expect(listener.received.every(({ isGenuine }) => isGenuine)).toBe(true);
  return listener.received;
}

/** The ids of the messages that bring an event to the endpoints, which are also those of their workflows. */
const messagesOf = async (eventId: string): Promise<string[]> => {
  const found = await stack.owner
    .selectFrom('webhook_messages')
    .select('id')
    .where('event_id', '=', eventId)
    .execute();
  return found.map(({ id }) => id);
};

const esimOf = async (transactionId: string) => {
  const { esim_id: esimId } = await untilClosed(stack, transactionId);
  const { iccid } = await stack.owner
    .selectFrom('esims')
    .select('iccid')
    .where('id', '=', esimId)
    .executeTakeFirstOrThrow();
  const { qr_code_url: qrCodeUrl } = await installOf(stack, esimId);
  return { esimId, iccid, qrCodeUrl };
};

const NO_OWN = { reference: '', metadata: {} };
const OWN = { reference: 'order-1', metadata: { b: '1', a: '2' } };

describe('a purchase by card', () => {
  it('sends PROCESSING when it is paid, SUCCESS when it is delivered, and its payment when it arrives', async () => {
    const shop = await merchant(0n);
    const { transactionId, reference } = await buyThroughGateway(stack, shop.account, OWN);
    await atGateway(stack, reference, 'pay');
    await untilStatus(stack, transactionId, 'SUCCESS');
    const received = await allOf(shop, 3);
    expect(statusesIn(received).toSorted()).toEqual(['PROCESSING', 'SUCCESS']);
    const dataOf = (of: string) => received.find(({ data }) => data['status'] === of)?.data;
    expect(dataOf('PROCESSING')).toEqual({
      transactionId,
      status: 'PROCESSING',
      esimId: '',
      iccid: '',
      qrCodeUrl: '',
      ...OWN,
    });
    expect(dataOf('SUCCESS')).toEqual({
      ...{ transactionId, status: 'SUCCESS', ...OWN },
      ...(await esimOf(transactionId)),
    });
    expect(received.find(({ event }) => event === 'payment.received')?.data).toEqual({
      transactionId,
      purpose: 'purchase',
      paymentMethod: 'CARD',
      gatewayReference: reference,
      amount: 2.3,
      currency: 'USD',
      ...OWN,
    });
  });

  it('that cannot be delivered sends FAILED, and its refund when it was sent', async () => {
    const shop = await merchant(0n);
    const { transactionId, reference } = await buyThroughGateway(stack, shop.account, {
      packageCode: 'SIM-OUT-OF-STOCK',
    });
    await atGateway(stack, reference, 'pay');
    await untilStatus(stack, transactionId, 'FAILED');
    const received = await allOf(shop, 4);
    expect(statusesIn(received).toSorted()).toEqual(['FAILED', 'PROCESSING']);
    expect(received.find(({ event }) => event === 'payment.refunded')?.data).toEqual({
      transactionId,
      gatewayReference: reference,
      amount: 2.3,
      currency: 'USD',
      refundedTo: 'SOURCE',
      ...NO_OWN,
    });
  });
});

describe('a purchase from the wallet', () => {
  it('sends one event: SUCCESS with the eSIM', async () => {
    const shop = await merchant();
    const buyer = await stack.call('POST', '/api/esim/buy', {
      key: shop.account.apiKey,
      body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
    });
    const { transactionId } = buyer.body;
    const received = await allOf(shop, 1);
    expect(received.map(({ data }) => data)).toEqual([
      { transactionId, status: 'SUCCESS', ...(await esimOf(transactionId)), ...NO_OWN },
    ]);
    expect(received[0]?.headers['user-agent']).toBe('Simway-Webhooks/1');
  });

  it('sends one event: FAILED, even if its buyer already has that answer', async () => {
    const buyer = await newBuyer(stack);
    const listener = await receiver.listen(stack, buyer.account);
    expect((await buyer.buy('SIM-OUT-OF-STOCK')).status).toBe(400);
    const received = await allOf({ account: buyer.account, listener }, 1);
    expect(received.map(({ data }) => data)).toMatchObject([{ status: 'FAILED', esimId: '', iccid: '' }]);
  });

  it('sends PROCESSING too if its buyer got that answer, BASE and TOPUP alike', async () => {
    const buyer = await newBuyer(stack);
    const esim = await buyer.activeEsim();
    await until(
      () => buyer.read(`/api/esim/${esim.esimId}`),
      ({ body }) => body.esimStatus === 'ACTIVE',
      { what: 'the eSIM in use by our rows' },
    );
    // Listed once, top-ups are known while the supplier is busy.
    await buyer.read('/api/esim/packages?type=TOPUP&regionCode=ZZ&packageCode=SIM-OK');
    const listener = await receiver.listen(stack, buyer.account);
    await stack.faults({ neverAllocate: { next: 1 } });
    const base = await buyer.buy('SIM-OK');
    expect(base.body.status).toBe('PROCESSING');
    await stack.clearFaults();
    await untilClosed(stack, base.body.transactionId);
    await stack.faults({ busy: 1 });
    const topUp = await buyer.buy('TOPUP_SIM-OK', { esimId: esim.esimId });
    expect(topUp.body, topUp.text).toMatchObject({ status: 'PROCESSING' });
    await stack.clearFaults();
    await untilClosed(stack, topUp.body.transactionId);
    const received = await allOf({ account: buyer.account, listener }, 4);
    const of = (transactionId: string) =>
      received.filter(({ data }) => data['transactionId'] === transactionId);
    expect(statusesIn(of(base.body.transactionId)).toSorted()).toEqual(['PROCESSING', 'SUCCESS']);
    expect(statusesIn(of(topUp.body.transactionId)).toSorted()).toEqual(['PROCESSING', 'SUCCESS']);
    for (const { data } of of(topUp.body.transactionId))
      expect(data).toMatchObject({ esimId: esim.esimId, iccid: esim.iccid });
  });

  it('costs no event more in Temporal with an endpoint, and its message no workflow', async () => {
    const buyer = await newBuyer(stack);
    const buy = async () => {
      const { transactionId } = (await buyer.buy('SIM-OK')).body;
      await stack.temporal.workflow.getHandle(transactionId).result();
      return eventTypes(await fetchHistory(stack, transactionId));
    };
    // The shortest of three: a busy machine needs more tasks for some.
    const eventsOfThree = async () =>
      Math.min(...[await buy(), await buy(), await buy()].map((types) => types.length));
    expect(await eventsOfThree()).toBe(10);
    const listener = await receiver.listen(stack, buyer.account);
    expect(await eventsOfThree()).toBe(10);
    const events = await listener.untilReceived(3);
    const messages = (await Promise.all(events.map(({ id }) => messagesOf(id)))).flat();
    for (const id of messages)
      await expect(stack.temporal.workflow.getHandle(id).describe()).rejects.toThrow(/not found/i);
  });
});

describe('a signing secret', () => {
  it('is nowhere in the database, in any form, whether it signs or was replaced', async () => {
    const { apiKey: key } = await stack.account();
    const post = async (path: string, body?: object): Promise<Record<string, string>> => {
      const headers = { 'idempotency-key': randomUUID() };
      return (await stack.call('POST', `/api/webhooks/endpoints${path}`, { key, headers, body }))
        .body as unknown as Record<string, string>;
    };
    const made = await post('', { url: `${receiver.baseUrl}/scanned` });
    const rotated = [await post(`/${made['id']}/rotate-secret`), await post(`/${made['id']}/rotate-secret`)];
    const forms = [made, ...rotated].flatMap(({ secret = '' }) => {
      expect(secret).toMatch(/^whsec_/);
      const bytes = Buffer.from(secret.slice(6), 'base64');
      return [secret, secret.slice(6), bytes.toString('hex'), Buffer.from(secret).toString('hex')];
    });
    const { rows: tables } = await sql<{ name: string }>`
      select table_schema || '.' || table_name as name from information_schema.tables
       where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`.execute(
      stack.owner,
    );
    const names = tables.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['test.webhook_older_secrets', 'test.idempotency_keys']));
    for (const { name } of tables) {
      const { rows } = await sql<{ found: string }>`
        select row::text as found from ${sql.table(name)} row
         where ${sql.join(
           forms.map((form) => sql`position(${form} in row::text) > 0`),
           sql` or `,
         )}`.execute(stack.owner);
      expect(rows, name).toEqual([]);
    }
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
    () => messagesAt(stack.owner, listener.endpointId),
    (messages) => (messages[0]?.attempts ?? 0) >= 1,
    { what: 'a message that was tried' },
  );
  const path = `/api/webhooks/messages/${message!.id}`;
  const { body } = JSON.parse((await stack.call('GET', path, { key })).text) as { body: string };
  const reply = await stack.call('GET', `${path}/attempts`, { key });
  const [attempt] = (JSON.parse(reply.text) as z.infer<typeof attemptPageSchema>).data.items;
  expect(attempt).toMatchObject({ outcome: 'answered', status: 503, answer: 'Sorry' });
  const received = listener.received[0]!;
  expect(attempt!.request).toMatchObject({ method: 'POST', url: listener.url, body });
  const sent = Object.fromEntries(attempt!.request.headers.map(({ name, value }) => [name, value]));
  expect(sent).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': received.headers['webhook-id'],
    'webhook-timestamp': received.headers['webhook-timestamp'],
    'content-length': String(Buffer.byteLength(body)),
  });
  const signature = String(received.headers['webhook-signature']);
  expect(sent['webhook-signature']).toBe(`${signature.slice(0, 'v1,'.length + 8)}…`);
  const answered = Object.fromEntries(attempt!.answerHeaders!.map(({ name, value }) => [name, value]));
  expect(answered).toMatchObject({
    'content-type': 'text/plain',
    'x-trace': `${'t'.repeat(199)}…`,
    'set-cookie': '(hidden)',
  });
  expect(reply.text).not.toContain('very-secret');
  expect(reply.text).not.toContain(signature);
});
