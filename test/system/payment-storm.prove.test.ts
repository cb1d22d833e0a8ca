/**
 * Promise M5: one payment, at most one order at the supplier, and exactly one of delivered, refunded and an
 * operator's queue. Each paid order is requested twice, gets the gateway's event five times, three
 * confirmations and our own polling together, and old events again; once with the worker killed in between.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { runConcurrently } from '../support/time/concurrency.ts';
import { dropped, eventsOf, postEvent } from '../support/money/payers.ts';
import { countRows } from '../support/money/payment-books.ts';
import {
  atGateway,
  buyThroughGateway,
  confirm,
  gatewayFaults,
  type Paid,
} from '../support/money/payments.ts';
import { createRandom, seedOfRun, size, type Random } from '../support/time/size.ts';
import {
  startStack,
  type Answer,
  type Stack,
  type StackOptions,
  type TestAccount,
} from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

/** Books are checked as a whole: more orders mean more stacks. */
const STACKS = size({ ci: 1, prove: 4 });
const ORDERS = size({ ci: 8, prove: 2_500 });
const ORDERS_WITH_KILLS = size({ ci: 4, prove: 500 });
const AT_ONCE = 25;
const SEED = seedOfRun();
/** Unending purchases are checked slowly, so that they do not delay the others. */
const TIMINGS = { pollFirstMs: 500, attentionAfterMs: 6_000, slowCheckMs: 10_000, checkMaxMs: 300 };

/** How a paid order ends, as the supplier decides. */
const ENDS = {
  'SIM-OK': 'delivered',
  'SIM-LOSE-ANSWER': 'delivered',
  'SIM-BUSY': 'delivered',
  'SIM-OUT-OF-STOCK': 'refunded',
  'SIM-NEVER-ALLOCATE': "in an operator's queue",
} as const;
const PACKAGES = [
  'SIM-OK',
  'SIM-OK',
  'SIM-OK',
  'SIM-OK',
  'SIM-LOSE-ANSWER',
  'SIM-BUSY',
  'SIM-OUT-OF-STOCK',
  'SIM-NEVER-ALLOCATE',
] as const;

interface Order {
  readonly account: TestAccount;
  readonly bought: Paid;
  readonly packageCode: (typeof PACKAGES)[number];
}

async function bringUp(options: StackOptions): Promise<Stack> {
  const stack = await startStack({ ...options, timings: TIMINGS });
  // The test delivers the events, as often and as late as it wants.
  await gatewayFaults(stack, { webhooks: 'drop' });
  return stack;
}

/** Bought by a caller who sends two requests at once, and paid without an event yet. */
async function paidOrder(stack: Stack, account: TestAccount, random: Random): Promise<Order> {
  const packageCode = random.pick(PACKAGES);
  const method = random.pick(['CARD', 'BANK_TRANSFER', 'MOBILE_MONEY'] as const);
  const headers = { 'Idempotency-Key': randomUUID() };
  const ask = () => buyThroughGateway(stack, account, { method, packageCode, headers });
  const withShortTimeout = await Promise.all([ask(), ask()]);
  const bought = await until(ask, ({ answer }) => answer.status === 201, {
    what: 'bought',
    withinMs: 90_000,
    everyMs: 200,
  });
  expect(bought.answer.body.status, bought.answer.text).toBe('PENDING');
  for (const { answer, transactionId } of withShortTimeout)
    expect([bought.transactionId, undefined]).toContain(answer.status === 201 ? transactionId : undefined);
  await atGateway(stack, bought.reference, 'pay');
  return { account, bought, packageCode };
}

/** Everything at once: events ×5, confirmations ×3, and our own polling meanwhile. */
async function storm(stack: Stack, { account, bought }: Order): Promise<void> {
  const [event] = await eventsOf(stack, bought.reference);
  const answers = await Promise.all([
    ...Array.from({ length: 5 }, () => postEvent(stack, event!.body)),
    ...Array.from({ length: 3 }, () => confirmed(stack, account, bought.transactionId)),
  ]);
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
}

/** Retries when asked to: on a busy machine, or while no worker runs. */
function confirmed(stack: Stack, account: TestAccount, transactionId: string): Promise<Answer> {
  return until(
    () => confirm(stack, account, transactionId),
    ({ status }) => status !== 503,
    { what: 'an answer to confirm-payment', withinMs: 90_000, everyMs: 200 },
  );
}

/** The state of the order in the promise's words; undefined while it is in progress. */
async function endOf(stack: Stack, { bought }: Order): Promise<string | undefined> {
  const row = await stack.world
    .selectFrom('purchases as p')
    .leftJoin('refunds as r', 'r.transaction_id', 'p.transaction_id')
    .select(['p.status', 'p.needs_attention_since', 'r.status as refund'])
    .where('p.transaction_id', '=', bought.transactionId)
    .executeTakeFirstOrThrow();
  if (row.status === 'SUCCESS') return row.refund === null ? 'delivered' : 'delivered and refunded';
  if (row.status === 'FAILED') return row.refund === 'DONE' ? 'refunded' : undefined;
  return row.needs_attention_since === null ? undefined : "in an operator's queue";
}

async function expectEnded(stack: Stack, order: Order): Promise<void> {
  const { bought, packageCode } = order;
  await until(
    () => endOf(stack, order),
    (end) => end === ENDS[packageCode],
    { what: `${bought.transactionId} (${packageCode}) ${ENDS[packageCode]}`, withinMs: 90_000 },
  );
  const atSupplier = await stack.supplierOrders(bought.transactionId);
  expect(atSupplier.map((one) => one.count)).toEqual(ENDS[packageCode] === 'refunded' ? [] : [1]);
  const settled = await stack.world
    .selectFrom('ledger_transactions')
    .select('kind')
    .where('transaction_id', '=', bought.transactionId)
    .orderBy('id')
    .execute();
  const after = { delivered: ['post'], refunded: ['void', 'refund'], "in an operator's queue": [] };
  expect(settled.map((one) => one.kind)).toEqual(['payment-received', ...after[ENDS[packageCode]]]);
}

/** Old events and confirmations once more: not a row may change. */
async function expectReplaysChangeNothing(stack: Stack, orders: readonly Order[]): Promise<void> {
  const ended = orders.filter(({ packageCode }) => ENDS[packageCode] !== "in an operator's queue");
  await until(
    async () => {
      const running = stack.temporal.workflow.list({ query: `ExecutionStatus = 'Running'` });
      let count = 0;
      for await (const { workflowId } of running)
        if (ended.some(({ bought }) => workflowId.endsWith(bought.transactionId))) count += 1;
      return count;
    },
    (count) => count === 0,
    { what: 'the workflows of what has ended', withinMs: 60_000, everyMs: 1_000 },
  );
  const before = await countRows(stack.owner);
  await runConcurrently(ended, AT_ONCE, async (order) => {
    const [event] = await eventsOf(stack, order.bought.reference);
    await Promise.all([postEvent(stack, event!.body), postEvent(stack, event!.body)]);
    expect((await confirmed(stack, order.account, order.bought.transactionId)).status).toBe(200);
  });
  expect(await countRows(stack.owner)).toEqual(before);
}

async function expectNothingLost(stack: Stack, orders: readonly Order[]): Promise<void> {
  await runConcurrently(orders, AT_ONCE, (order) => expectEnded(stack, order));
  await expectReplaysChangeNothing(stack, orders);
  expect(await dropped(stack)).toEqual([]);
  expect(await stack.world.selectFrom('payments').select('reference').execute()).toHaveLength(orders.length);
  expect(await expectSoundBooks(stack)).toMatchObject({ purchases: orders.length });
}

describe.each(Array.from({ length: STACKS }, (_, nth) => SEED + nth))('SIMWAY_TEST_SEED=%i', (seed) => {
  let stack: Stack;
  beforeAll(async () => {
    // A process for each role gives a long run the whole machine.
    stack = await bringUp({ processes: size({ ci: 'in-test', prove: 'own' }) });
  }, 120_000);
  afterAll(() => stack.close());

  it(`${ORDERS} paid orders with everything at once end once each, none twice, none lost`, async () => {
    const random = createRandom(seed);
    const account = await stack.account({ fundsMinor: 0n, currency: random.pick(['USD', 'NGN'] as const) });
    const orders: Order[] = [];
    const slots = Array.from({ length: ORDERS }, () => 0);
    await runConcurrently(slots, AT_ONCE, async () => {
      const order = await paidOrder(stack, account, random);
      orders.push(order);
      await storm(stack, order);
    });
    await expectNothingLost(stack, orders);
  });
});

describe('with the worker killed in the middle', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await bringUp({ processes: 'own' });
  }, 120_000);
  afterAll(() => stack.close());

  it(`${ORDERS_WITH_KILLS} paid orders end once each, none twice, none lost`, async () => {
    const random = createRandom(SEED);
    const account = await stack.account({ fundsMinor: 0n });
    const orders: Order[] = [];
    for (let from = 0; from < ORDERS_WITH_KILLS; from += 10) {
      const batch = await Promise.all(Array.from({ length: 10 }, () => paidOrder(stack, account, random)));
      orders.push(...batch);
      const storms = batch.map((order) => storm(stack, order));
      const killing = (async () => {
        await new Promise((resolve) => setTimeout(resolve, random.below(600)));
        await stack.children.worker!.kill();
        await stack.startWorker();
      })();
      await Promise.all([...storms, killing]);
    }
    await expectNothingLost(stack, orders);
  });
});
