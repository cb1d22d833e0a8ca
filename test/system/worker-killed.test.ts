// The worker killed while a purchase is inside each of its steps: before a step's effect, after it, and
// during a call to the supplier. After every interruption the next worker ends the purchase once: one order,
// one debit, or the money refunded.
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdOf, newBuyer, type Buyer } from '../support/people/buyer.ts';
import { plantGates, type Gate, type Gates } from '../support/time/gates.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { startStack, type Answer, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

const PRICE_MINOR = 230n;
const FUNDS_MINOR = 10_000n;

let stack: Stack;
let gates: Gates;
let locker: pg.Client;
beforeAll(async () => {
  stack = await startStack({
    processes: 'own',
    timings: { answerWithinMs: 4_000, checkMaxMs: 300, inFlightGraceMs: 500 },
    env: { SIMWAY_DATABASE_CONNECTIONS: '40' },
  });
  gates = await plantGates(stack.databaseUrl);
  locker = new pg.Client({ connectionString: stack.databaseUrl, options: '-c search_path=test' });
  await locker.connect();
}, 120_000);
afterAll(async () => {
  await locker.end();
  await gates.close();
  await stack.close();
});
afterAll(() => expectSoundBooks(stack));

interface Stats {
  readonly codes: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly inFlight: number;
}

const supplierStats = async (): Promise<Stats> =>
  (await fetch(`${stack.supplierControlUrl}/stats`)).json() as Promise<Stats>;

/** How often the supplier gave this answer to an order. */
const answered = async (code: string): Promise<number> =>
  (await supplierStats()).codes['esim/order']?.[code] ?? 0;

/** A purchase in progress: its buyer, and its later answer. */
interface Running {
  readonly buyer: Buyer;
  readonly answer: Promise<Answer>;
}

const rowOf = async ({ buyer }: Running) => (await buyer.purchases()).at(-1);

async function waitingAt(gate: Gate, go: (buyer: Buyer) => Promise<Answer>, ready?: Buyer): Promise<Running> {
  const buyer = ready ?? (await newBuyer(stack, { fundsMinor: FUNDS_MINOR }));
  await gates.shut(gate, buyer.account.accountId);
  const answer = go(buyer);
  await gates.reached(gate, buyer.account.accountId);
  return { buyer, answer };
}

const base = (code: string) => (buyer: Buyer) => buyer.buy(code);

async function topUpAt(gate: Gate): Promise<Running> {
  const buyer = await newBuyer(stack, { fundsMinor: FUNDS_MINOR });
  const { esimId } = await buyer.activeEsim();
  return waitingAt(gate, () => buyer.buy('TOPUP_SIM-OK', { esimId }), buyer);
}

/** Its merchant has a webhook endpoint: the statement that settles writes the message too. */
async function toldAt(gate: Gate): Promise<Running> {
  const buyer = await newBuyer(stack, { fundsMinor: FUNDS_MINOR });
  const endpoint = await stack.call('POST', '/api/webhooks/endpoints', {
    key: buyer.account.apiKey,
    body: { url: `${stack.supplierControlUrl}/not-a-receiver` },
  });
  expect(endpoint.status, endpoint.text).toBe(201);
  return waitingAt(gate, base('SIM-OK'), buyer);
}

/** Deliver, ordered: the supplier has the order and no profile for it yet. */
async function waitingForProfile(): Promise<Running> {
  const buyer = await newBuyer(stack, { fundsMinor: FUNDS_MINOR });
  await stack.faults({ neverAllocate: { next: 1 } });
  const running = { buyer, answer: buyer.buy('SIM-OK') };
  await until(
    async () => stack.supplierOrders((await rowOf(running))?.transaction_id ?? 'none'),
    (orders) => orders.length === 1,
    { what: 'the order at the supplier' },
  );
  return running;
}

/** Deliver, not ordered: the supplier says busy for the first three calls. */
async function waitingToOrder(): Promise<Running> {
  const before = await answered('900001');
  const buyer = await newBuyer(stack, { fundsMinor: FUNDS_MINOR });
  const answer = buyer.buy('SIM-BUSY');
  await until(
    () => answered('900001'),
    (count) => count > before,
    { what: 'a busy answer', everyMs: 10 },
  );
  return { buyer, answer };
}

/**
 * Open, nothing written: the read before it waits for the packages, which stay locked until the worker is
 * dead. Polls of memory wait for them too.
 */
async function waitingToOpen(): Promise<Running> {
  const buyer = await newBuyer(stack, { fundsMinor: FUNDS_MINOR });
  await locker.query('begin; lock table packages in access exclusive mode');
  const answer = buyer.buy('SIM-OK');
  await until(
    async () => {
      const { rows } = await sql`
        select from pg_stat_activity
         where application_name = 'simway-worker-test' and datname = current_database()
           and wait_event_type = 'Lock' and query like '%left join "packages"%'`.execute(stack.owner);
      return rows.length;
    },
    (waiting) => waiting > 0,
    { what: 'the read before opening', everyMs: 20 },
  );
  return { buyer, answer };
}

/** In the order of their setup: the last ones do not wait long. */
const STEPS = [
  { step: 'open, in its statement', start: () => waitingAt('open:inside', base('SIM-OK')), ends: 'SUCCESS' },
  {
    step: 'open, its commit on the way',
    start: () => waitingAt('open:commit', base('SIM-OK')),
    ends: 'SUCCESS',
  },
  {
    step: 'deliver, keeping the profile',
    start: () => waitingAt('profile:inside', base('SIM-OK')),
    ends: 'SUCCESS',
  },
  {
    step: 'deliver, its commit on the way',
    start: () => waitingAt('profile:commit', base('SIM-OK')),
    ends: 'SUCCESS',
  },
  { step: 'top up, keeping the new totals', start: () => topUpAt('top-up:inside'), ends: 'SUCCESS' },
  { step: 'top up, its commit on the way', start: () => topUpAt('top-up:commit'), ends: 'SUCCESS' },
  {
    step: 'settle, in its statement',
    start: () => waitingAt('close:inside', base('SIM-OK')),
    ends: 'SUCCESS',
  },
  {
    step: 'settle and write the webhook, in its statement',
    start: () => toldAt('close:inside'),
    ends: 'SUCCESS',
  },
  {
    step: 'settle, its commit on the way',
    start: () => waitingAt('close:commit', base('SIM-OK')),
    ends: 'SUCCESS',
  },
  {
    step: 'give back, before its commit',
    start: () => waitingAt('close:inside', base('SIM-OUT-OF-STOCK')),
    ends: 'FAILED',
  },
  {
    step: 'give back, its commit on the way',
    start: () => waitingAt('close:commit', base('SIM-OUT-OF-STOCK')),
    ends: 'FAILED',
  },
  { step: 'deliver, after ordering', start: waitingForProfile, ends: 'SUCCESS' },
  { step: 'deliver, before ordering', start: waitingToOrder, ends: 'SUCCESS' },
  { step: 'open, before its statement', start: waitingToOpen, ends: 'SUCCESS' },
] as const;

describe('the worker killed with a purchase inside every step', () => {
  const running = new Map<string, Running>();
  const leftBehind = new Map<string, string>();
  beforeAll(async () => {
    for (const { step, start } of STEPS) running.set(step, await start());
    await stack.children.worker!.kill();
    await gates.openAll();
    await locker.query('commit');
    await untilWorkerSessionsAreGone();
    for (const [step, it] of running) leftBehind.set(step, await stateOf(it));
    await stack.startWorker();
    await stack.clearFaults();
  }, 120_000);

  it('interrupts each step where it should', () => {
    expect(Object.fromEntries(leftBehind)).toEqual({
      'open, before its statement': 'nothing',
      // Postgres finishes a statement that is a transaction of its own, even without its client.
      'open, in its statement': 'PROCESSING, HELD, no order, no profile',
      'open, its commit on the way': 'PROCESSING, HELD, no order, no profile',
      'deliver, keeping the profile': 'SUCCESS, POSTED, ordered, profile',
      'deliver, its commit on the way': 'SUCCESS, POSTED, ordered, profile',
      // Its merchant may have to be notified in the same transaction, which is rolled back.
      'top up, keeping the new totals': 'PROCESSING, HELD, ordered, profile',
      'top up, its commit on the way': 'SUCCESS, POSTED, ordered, profile',
      'settle, in its statement': 'SUCCESS, POSTED, ordered, profile',
      'settle and write the webhook, in its statement': 'SUCCESS, POSTED, ordered, profile',
      'settle, its commit on the way': 'SUCCESS, POSTED, ordered, profile',
      'give back, before its commit': 'PROCESSING, HELD, no order, no profile',
      'give back, its commit on the way': 'FAILED, VOIDED, no order, no profile',
      'deliver, after ordering': 'PROCESSING, HELD, ordered, no profile',
      'deliver, before ordering': 'PROCESSING, HELD, no order, no profile',
    });
  });

  it.each(STEPS)('$step: ends once, as $ends', async ({ step, ends }) => {
    const purchase = running.get(step)!;
    await expectEnded(purchase, ends);
  });
});

describe('the worker killed during calls to the supplier', () => {
  it('an order, a top-up and the check behind a refusal: each ends once', async () => {
    const [order, topUp, refused] = await Promise.all(
      [1, 2, 3].map(() => newBuyer(stack, { fundsMinor: FUNDS_MINOR })),
    );
    const { esimId } = await topUp!.activeEsim();
    const before = await answered('200011');
    // Long enough for all three to be in progress on a busy machine.
    await stack.faults({ latencyMs: 4_000 });
    const refusal = refused!.buy('SIM-OUT-OF-STOCK');
    await until(
      () => answered('200011'),
      (count) => count > before,
      { what: 'the refusal', everyMs: 10 },
    );
    const running: Running[] = [
      { buyer: order!, answer: order!.buy('SIM-OK') },
      { buyer: topUp!, answer: topUp!.buy('TOPUP_SIM-OK', { esimId }) },
      { buyer: refused!, answer: refusal },
    ];
    await until(
      async () => (await supplierStats()).inFlight,
      (calls) => calls === 3,
      { what: 'three calls at the supplier', everyMs: 10 },
    );
    await stack.children.worker!.kill();
    await stack.clearFaults();
    await stack.startWorker();
    await expectEnded(running[0]!, 'SUCCESS');
    await expectEnded(running[1]!, 'SUCCESS');
    await expectEnded(running[2]!, 'FAILED');
  });
});

/** The visible state of a purchase whose worker has just died. */
async function stateOf(running: Running): Promise<string> {
  const row = await rowOf(running);
  if (!row) return 'nothing';
  const { iccid } = await stack.owner
    .selectFrom('esims')
    .select('iccid')
    .where('id', '=', row.esim_id)
    .executeTakeFirstOrThrow();
  const ordered = (await stack.supplierOrders(row.transaction_id)).length > 0;
  return [
    row.status,
    await holdOf(stack, row.transaction_id),
    ordered ? 'ordered' : 'no order',
    iccid === '' ? 'no profile' : 'profile',
  ].join(', ');
}

async function expectEnded(running: Running, ends: 'SUCCESS' | 'FAILED'): Promise<void> {
  const answer = await running.answer;
  expect([200, 201, 400]).toContain(answer.status);
  const row = await until(
    () => rowOf(running),
    (found) => found !== undefined && found.closed_at !== null,
    { what: 'the purchase closed' },
  );
  expect(row!.status).toBe(ends);
  const id = row!.transaction_id;
  if (answer.status !== 400) expect(answer.body.transactionId).toBe(id);
  expect(await holdOf(stack, id)).toBe(ends === 'SUCCESS' ? 'POSTED' : 'VOIDED');
  expect(await stack.supplierOrders(id)).toHaveLength(ends === 'SUCCESS' ? 1 : 0);
  const delivered = (await running.buyer.purchases()).filter(({ status }) => status === 'SUCCESS').length;
  expect(await running.buyer.balanceMinor()).toBe(FUNDS_MINOR - PRICE_MINOR * BigInt(delivered));
  await until(
    async () => (await stack.temporal.workflow.getHandle(id).describe()).status.name,
    (status) => status === 'COMPLETED',
    { what: 'the workflow completed' },
  );
}

/** A killed worker's sessions finish their statement before they notice. */
async function untilWorkerSessionsAreGone(): Promise<void> {
  await until(
    async () => {
      const { rows } = await sql<{ count: string }>`
        select count(*) from pg_stat_activity
         where application_name = 'simway-worker-test' and datname = current_database()`.execute(stack.owner);
      return Number(rows[0]?.count);
    },
    (sessions) => sessions === 0,
    { what: 'the killed worker’s sessions gone' },
  );
}
