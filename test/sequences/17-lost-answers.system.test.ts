// Whatever is lost on the way, a purchase that its row calls paid is being delivered within seconds of the
// recovery. If it cannot be, it is on the stuck list after a minute, and goes on by itself.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findPurchaseRow, newBuyer, type Buyer } from '../support/people/buyer.ts';
import { createTestDatabase, type TestDatabase } from '../support/world/database.ts';
import { fundThroughGateway, untilFunding } from '../support/money/fundings.ts';
import { plantGates, type Gates } from '../support/time/gates.ts';
import { commander, hereFinance, jsonOf } from '../support/people/finance.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { startLossyPostgres, type LossyPostgres } from '../support/world/lossy-postgres.ts';
import {
  atGateway,
  buyThroughGateway,
  gatewayFaults,
  type GatewayMethod,
} from '../support/money/payments.ts';
import { startStack, type Stack, type StackOptions } from '../support/world/stack.ts';
import { STOCKED } from '../support/world/stocked.ts';
import { until } from '../support/time/until.ts';
import { expectEndsSoon, LONG_CHECKOUT } from './support.ts';

const METHODS: readonly GatewayMethod[] = ['CARD', 'BANK_TRANSFER'];
/** How long a paid purchase may be without an attempt to order until it is listed. */
const LISTED_AFTER_MS = 60_000;

interface Ground {
  readonly stack: Stack;
  readonly gates: Gates;
  readonly database: TestDatabase;
  close(): Promise<void>;
}

async function startGround(database: TestDatabase, options: StackOptions): Promise<Ground> {
  const stack = await startStack({
    databaseUrl: database.url,
    supplier: { activateAfterMs: null },
    timings: LONG_CHECKOUT,
    ...options,
  });
  const gates = await plantGates(database.url);
  // Nothing but one check at a time asks the gateway.
  await gatewayFaults(stack, { webhooks: 'drop' });
  return {
    stack,
    gates,
    database,
    close: async () => {
      await gates.openAll();
      try {
        await expectSoundBooks(stack);
      } finally {
        await gates.close();
        await stack.close();
        await database.drop();
      }
    },
  };
}

/** Paid at the gateway; the step that books it waits for its commit. */
async function untilBooking({ stack, gates }: Ground, buyer: Buyer, transactionId: string): Promise<void> {
  await gates.shut('booked:commit', buyer.account.accountId);
  await atGateway(stack, transactionId, 'pay');
  void stack
    .call('POST', '/api/esim/confirm-payment', { key: buyer.account.apiKey, body: { transactionId } })
    .catch(() => undefined);
  await gates.reached('booked:commit', buyer.account.accountId);
}

const untilPaid = (stack: Stack, transactionId: string) =>
  until(
    () => findPurchaseRow(stack, transactionId),
    (row) => row !== undefined && row.status !== 'PENDING',
    { what: `${transactionId} paid`, everyMs: 10 },
  );

describe('the answer of Postgres to the booking of a payment is lost', () => {
  let ground: Ground;
  let postgres: LossyPostgres;
  // Before any answer is lost: the proxy cuts connections of the test as well.
  const buyers = new Map<GatewayMethod | 'funding', Buyer>();
  beforeAll(async () => {
    const database = await createTestDatabase({ template: STOCKED });
    postgres = await startLossyPostgres(database.url);
    ground = await startGround(database, { env: { DATABASE_URL: postgres.url } });
    for (const method of METHODS) buyers.set(method, await newBuyer(ground.stack));
    buyers.set('funding', await newBuyer(ground.stack, { fundsMinor: 0n }));
  }, 120_000);
  afterEach(() => postgres.loseNoMoreAnswers());
  afterAll(async () => {
    await ground.close();
    await postgres.close();
  });

  const loseTheAnswer = async (buyer: Buyer, transactionId: string): Promise<void> => {
    await untilBooking(ground, buyer, transactionId);
    const before = postgres.lost;
    postgres.loseNextAnswers();
    await ground.gates.openAll();
    await until(
      () => postgres.lost,
      (lost) => lost > before,
      { what: 'an answer lost', everyMs: 10 },
    );
  };

  it.each(METHODS)('a purchase paid by %s is delivered within seconds', async (method) => {
    const { stack } = ground;
    const buyer = buyers.get(method)!;
    const { transactionId, answer } = await buyThroughGateway(stack, buyer.account, { method });
    expect(answer.status, answer.text).toBe(201);
    await loseTheAnswer(buyer, transactionId);
    await untilPaid(stack, transactionId);
    await expectEndsSoon(stack, transactionId, 'SUCCESS');
  });

  it('a funding is credited, and its caller is told', async () => {
    const { stack } = ground;
    const buyer = buyers.get('funding')!;
    const { transactionId, answer } = await fundThroughGateway(stack, buyer.account, {
      amount: 10,
      method: 'CARD',
    });
    expect(answer.status, answer.text).toBe(201);
    await loseTheAnswer(buyer, transactionId);
    await untilFunding(stack, transactionId, 'SUCCESS');
    await until(
      async () => (await stack.temporal.workflow.getHandle(transactionId).describe()).status.name,
      (status) => status === 'COMPLETED',
      { what: 'the funding’s workflow has ended' },
    );
    expect(await buyer.balanceMinor()).toBe(1_000n);
  });
});

describe('the worker is killed after it has booked a payment', () => {
  let ground: Ground;
  beforeAll(async () => {
    const database = await createTestDatabase({ template: STOCKED });
    ground = await startGround(database, { processes: 'own' });
  }, 120_000);
  afterAll(() => ground.close());
  beforeEach(async () => {
    if (ground.stack.children.worker?.isRunning() !== true) await ground.stack.startWorker();
  });

  /** Paid by its row, and nothing of ours runs that could deliver it. */
  const paidWithoutWorker = async (method: GatewayMethod): Promise<string> => {
    const { stack, gates } = ground;
    const buyer = await newBuyer(stack);
    const { transactionId } = await buyThroughGateway(stack, buyer.account, { method });
    await untilBooking(ground, buyer, transactionId);
    await stack.children.worker!.kill();
    await gates.openAll();
    expect(await untilPaid(stack, transactionId)).toMatchObject({ status: 'PROCESSING' });
    return transactionId;
  };
  const stuck = async (): Promise<string[]> => {
    const { env } = await commander(ground.stack);
    const items = jsonOf(await hereFinance(env, 'stuck --json')) as { transactionId: string }[];
    return items.map(({ transactionId }) => transactionId);
  };

  it('the purchase is delivered within seconds of the next worker’s start', async () => {
    const transactionId = await paidWithoutWorker('CARD');
    await ground.stack.startWorker();
    // The dead worker is missed after 5 s, and Temporal offers it the next task for 10 s more.
    await expectEndsSoon(ground.stack, transactionId, 'SUCCESS');
  }, 120_000);

  it('the purchase is on the stuck list after a minute, and goes on by itself when a worker is back', async () => {
    const { stack } = ground;
    const transactionId = await paidWithoutWorker('BANK_TRANSFER');
    expect(await stuck()).not.toContain(transactionId);
    await until(stuck, (ids) => ids.includes(transactionId), {
      what: `${transactionId} on the stuck list`,
      withinMs: LISTED_AFTER_MS + 10_000,
      everyMs: 1_000,
    });
    await stack.startWorker();
    await expectEndsSoon(stack, transactionId, 'SUCCESS');
    expect(await stuck()).not.toContain(transactionId);
  }, 180_000);
});
