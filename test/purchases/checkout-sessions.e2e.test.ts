// Agentic checkout through the whole service: the buyer pays at the gateway, and its event completes the
// session; many completions, a killed API and lost answers buy once.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { atGateway, untilCharged } from '../support/money/payments.ts';
import { newBuyer, untilClosed, type Buyer } from '../support/people/buyer.ts';
import { until } from '../support/time/until.ts';
import { startStack, type Answer, type Stack } from '../support/world/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    processes: 'own',
    timings: { answerWithinMs: 6_000, checkMaxMs: 300 },
  });
}, 120_000);
afterEach(() => stack.clearFaults());
afterAll(() => stack.close());
afterAll(() => expectSoundBooks(stack));

const SESSIONS = '/acp/checkout_sessions';
const CREATE = { line_items: [{ id: 'SIM-OK' }], currency: 'usd', capabilities: {} };
const payBy = (handler_id: string, type: string) => ({
  payment_data: { handler_id, instrument: { type, credential: { type: 'none', token: 'none' } } },
});
const WALLET = payBy('wallet', 'wallet');

interface Session {
  readonly id: string;
  readonly status: string;
  readonly continue_url?: string;
  readonly order?: { readonly id: string; readonly permalink_url: string; readonly status: string };
}
const sessionIn = (answer: Answer) => answer.body as unknown as Session;

function agentOf({ account: { apiKey: key } }: Buyer) {
  const post = (path: string, body: unknown, idempotencyKey: string = randomUUID()): Promise<Answer> =>
    stack.call('POST', `${SESSIONS}${path}`, { key, body, headers: { 'Idempotency-Key': idempotencyKey } });
  return {
    post,
    create: async () => {
      const answer = await post('', CREATE);
      expect(answer.status, answer.text).toBe(201);
      return sessionIn(answer).id;
    },
    read: async (id: string) => sessionIn(await stack.call('GET', `${SESSIONS}/${id}`, { key })),
    untilStatus: (id: string, status: string) =>
      until(
        async () => sessionIn(await stack.call('GET', `${SESSIONS}/${id}`, { key })),
        (session) => session.status === status,
        { what: `the session ${status}` },
      ),
  };
}

it('a buyer pays on the page of the gateway, and its event completes the session', async () => {
  const buyer = await newBuyer(stack);
  const agent = agentOf(buyer);
  const id = await agent.create();
  const first = await agent.post(`/${id}/complete`, payBy('hosted_page', 'card'));
  expect(first.status, first.text).toBe(200);
  const waiting = await agent.untilStatus(id, 'requires_escalation');
  expect(waiting.order).toEqual(sessionIn(first).order);
  const transactionId = waiting.order?.id ?? '';
  await untilCharged(stack, transactionId);
  expect(waiting.continue_url).toMatch(/^http/);
  expect((await fetch(waiting.order?.permalink_url ?? '')).status).toBe(200);
  await atGateway(stack, transactionId, 'pay');
  const done = await agent.untilStatus(id, 'completed');
  expect(done).toMatchObject({ order: { id: transactionId, status: 'completed' } });
  const page = await fetch(done.order?.permalink_url ?? '');
  expect([page.status, (await page.text()).includes('LPA:1$')]).toEqual([200, true]);
  expect(JSON.stringify(done)).not.toContain('LPA:1$');
  expect(await buyer.purchases()).toHaveLength(1);
});

it('64 completions at once, half of them under one key, buy one eSIM at the supplier', async () => {
  const buyer = await newBuyer(stack);
  const agent = agentOf(buyer);
  const id = await agent.create();
  const before = await buyer.balanceMinor();
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, nth) =>
      agent.post(`/${id}/complete`, WALLET, nth % 2 === 0 ? 'the same' : randomUUID()),
    ),
  );
  const done = answers.filter(({ status }) => status === 200);
  expect(done.length).toBeGreaterThan(0);
  expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
  const [transactionId, ...others] = new Set(done.map((answer) => sessionIn(answer).order?.id));
  expect(others).toEqual([]);
  const row = await untilClosed(stack, transactionId ?? '');
  expect(row.status).toBe('SUCCESS');
  expect(await buyer.purchases()).toHaveLength(1);
  expect(before - (await buyer.balanceMinor())).toBe(BigInt(String(row.price_minor)));
  const { length } = await stack.supplierOrders(transactionId ?? '');
  expect(length).toBe(1);
});

it('8 completions by each of two handlers at once are one purchase: the others get it, or wait', async () => {
  const buyer = await newBuyer(stack);
  const agent = agentOf(buyer);
  const id = await agent.create();
  const bodies = Array.from({ length: 8 }, () => [WALLET, payBy('hosted_page', 'card')]).flat();
  const answers = await Promise.all(bodies.map((body) => agent.post(`/${id}/complete`, body)));
  const done = answers.filter(({ status }) => status === 200);
  expect(done.length).toBeGreaterThan(0);
  const [transactionId, ...others] = new Set(done.map((answer) => sessionIn(answer).order?.id));
  expect(others).toEqual([]);
  for (const { status, text } of answers)
    if (status !== 200)
      expect([status, text]).toEqual([409, expect.stringContaining('idempotency_in_flight')]);
  expect(await buyer.purchases()).toHaveLength(1);
  for (const body of bodies.slice(0, 2))
    expect(sessionIn(await agent.post(`/${id}/complete`, body)).order?.id).toBe(transactionId);
});

it('an API that is killed while it completes has bought once, and the same request gets the order', async () => {
  for (const afterMs of [0, 5, 20, 60]) {
    const buyer = await newBuyer(stack);
    const agent = agentOf(buyer);
    const id = await agent.create();
    const key = randomUUID();
    const lost = agent.post(`/${id}/complete`, WALLET, key).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await stack.children.api!.kill();
    await lost;
    await stack.startApi();
    const again = await until(
      () => agent.post(`/${id}/complete`, WALLET, key),
      ({ status }) => status === 200,
      { what: 'the answer after the kill', withinMs: 30_000 },
    );
    const session = await agent.untilStatus(id, 'completed');
    expect(session.order?.id).toBe(sessionIn(again).order?.id);
    expect(await buyer.purchases()).toHaveLength(1);
  }
});

it('without a worker a completion is in progress, cannot be taken back, and ends as one purchase', async () => {
  const buyer = await newBuyer(stack);
  const agent = agentOf(buyer);
  const id = await agent.create();
  await stack.stopWorker();
  const first = await agent.post(`/${id}/complete`, WALLET);
  expect([first.status, sessionIn(first).status]).toEqual([200, 'complete_in_progress']);
  expect((await agent.post(`/${id}/cancel`, {})).status).toBe(405);
  expect((await agent.post(`/${id}`, { line_items: CREATE.line_items })).status).toBe(409);
  expect((await agent.post(`/${id}/complete`, WALLET)).status).toBe(200);
  await stack.startWorker();
  const { order } = await agent.untilStatus(id, 'completed');
  expect(order?.id).toBe(sessionIn(first).order?.id);
  expect(await buyer.purchases()).toHaveLength(1);
});
