/**
 * A retry under the same Idempotency-Key, while the first request still buys, gets the first one's answer:
 * the quote has expired meanwhile, the package is gone, or as many payments are unpaid as the plan allows.
 */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';
import { changePackage, untilImported } from '../support/vendors/packages.ts';
import { type Answer, type TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const UNPAID_LIMIT = 1;

const stack = await soundStack({
  env: {
    SIMWAY_UNPAID_PAYMENTS: `STANDARD=${UNPAID_LIMIT}`,
  },
});
beforeAll(async () => {
  await untilImported(stack);
});

function post(account: TestAccount, path: string, body: object, key?: string): Promise<Answer> {
  const headers = key === undefined ? undefined : { 'Idempotency-Key': key };
  return stack.call('POST', path, { key: account.apiKey, body, ...(headers ? { headers } : {}) });
}

interface Present {
  /** From here on a new request would be refused. */
  readonly refuses: () => Promise<unknown>;
  /** Before the first request is opened. */
  readonly acceptsAgain?: () => Promise<unknown>;
}

/** Sends the request while no worker runs, and again when it would be refused; then starts the worker. */
async function askTwice(
  { accountId }: TestAccount,
  ask: () => Promise<Answer>,
  present: Present,
): Promise<readonly [Answer, Answer]> {
  await stack.stopWorker();
  let isStarted = false;
  try {
    const first = ask();
    // Its workflow is there, and nothing is written.
    await until(
      () => countRunning(accountId),
      (count) => count > 0,
      { what: 'the first request started' },
    );
    await present.refuses();
    const second = ask();
    const early = await Promise.race([second, new Promise((resolve) => setTimeout(resolve, 1_500))]);
    await present.acceptsAgain?.();
    await stack.startWorker();
    isStarted = true;
    const answers = await Promise.all([first, second]);
    expect((early as Answer | undefined)?.text, 'answered before the first request was').toBeUndefined();
    return answers;
  } finally {
    if (!isStarted) await stack.startWorker();
  }
}

async function countRunning(accountId: string): Promise<number> {
  const query = `ExecutionStatus = 'Running' AND AccountId = '${accountId}'`;
  return (await stack.temporal.workflow.count(query)).count;
}

function expectSame([first, second]: readonly [Answer, Answer], status: string): void {
  expect([first.status, first.body.status]).toEqual([201, status]);
  expect([second.status, second.body.transactionId]).toEqual([201, first.body.transactionId]);
}

async function expectBoughtOnce(buyer: Buyer): Promise<void> {
  expect((await buyer.purchases()).map(({ status }) => status)).toEqual(['SUCCESS']);
  expect(await buyer.balanceMinor()).toBe(10_000n - 230n);
}

describe('a purchase', () => {
  const wallet = { packageType: 'BASE', paymentMethod: 'WALLET' };

  it('whose quote expired', async () => {
    const buyer = await newBuyer(stack, { fundsMinor: 10_000n });
    const { body } = await post(buyer.account, '/api/esim/quotes', {
      packageCode: 'SIM-OK',
      packageType: 'BASE',
    });
    const quoteId = (body as unknown as { data: { quoteId: string } }).data.quoteId;
    const order = { packageCode: 'SIM-OK', quoteId, ...wallet };
    const answers = await askTwice(
      buyer.account,
      () => post(buyer.account, '/api/esim/buy', order, 'quoted'),
      {
        refuses: () =>
          stack.owner
            .updateTable('quotes')
            .set({ expires_at: new Date(Date.now() - 60_000), created_at: new Date(Date.now() - 960_000) })
            .where('id', '=', quoteId)
            .execute(),
      },
    );
    expectSame(answers, 'SUCCESS');
    await expectBoughtOnce(buyer);
  });

  it('whose price rose above maxPrice', async () => {
    const buyer = await newBuyer(stack, { fundsMinor: 10_000n });
    const order = { packageCode: 'SIM-OK', maxPrice: 2.3, maxPriceCurrency: 'USD', ...wallet };
    /** The service has read what follows from this cost. */
    const costNow = async (cost_usd_e4: bigint, isRead: (price: number) => boolean): Promise<void> => {
      await changePackage(stack, 'SIM-OK', { cost_usd_e4 });
      await until(
        () => post(buyer.account, '/api/esim/quotes', { packageCode: 'SIM-OK', packageType: 'BASE' }),
        ({ body }) => isRead((body as unknown as { data: { price: number } }).data.price),
        { what: 'the new price' },
      );
    };
    const answers = await askTwice(
      buyer.account,
      () => post(buyer.account, '/api/esim/buy', order, 'capped'),
      {
        refuses: () => costNow(90_000n, (price) => price > 10),
      },
    );
    await costNow(20_000n, (price) => price < 10);
    expectSame(answers, 'SUCCESS');
    await expectBoughtOnce(buyer);
  });

  it('to be paid by card, with the last place among the unpaid', async () => {
    const { account } = await newBuyer(stack, { plan: 'STANDARD' });
    const order = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'CARD' };
    const answers = await askTwice(
      account,
      () => post(account, '/api/esim/buy', order, 'card'),
      takeLastPlace(account),
    );
    expectSame(answers, 'PENDING');
  });
});

it('a first request that is slower than the refusal of its retry buys nothing, and the key is free', async () => {
  const buyer = await newBuyer(stack, { fundsMinor: 10_000n });
  const { esimId } = await buyer.activeEsim();
  const topUp = { packageCode: 'TOPUP_SIM-OK', packageType: 'TOPUP', esimId, paymentMethod: 'WALLET' };
  const { body } = await post(buyer.account, '/api/esim/quotes', topUp);
  const { quoteId } = (body as unknown as { data: { quoteId: string } }).data;
  const ask = () => post(buyer.account, '/api/esim/buy', { ...topUp, quoteId }, 'slow');
  // It has read its quote, and waits for the supplier before its workflow is started.
  await stack.faults({ latencyMs: 1_000 });
  const first = ask();
  await new Promise((resolve) => setTimeout(resolve, 400));
  await stack.owner
    .updateTable('quotes')
    .set({ expires_at: new Date(Date.now() - 60_000), created_at: new Date(Date.now() - 960_000) })
    .where('id', '=', quoteId)
    .execute();
  const second = await ask();
  await stack.clearFaults();
  expect([second.status, second.text]).toEqual([400, expect.stringContaining('QUOTE_EXPIRED')]);
  expect([(await first).status, (await first).text]).toEqual([
    409,
    expect.stringContaining('IDEMPOTENCY_KEY_IN_USE'),
  ]);
  expect(await buyer.purchases()).toHaveLength(1);
  const again = await post(buyer.account, '/api/esim/buy', topUp, 'slow');
  expect([again.status, again.body.status]).toEqual([200, 'SUCCESS']);
  expect(await buyer.balanceMinor()).toBe(10_000n - 2n * 230n);
});

describe('a funding', () => {
  it('with the last place among the unpaid', async () => {
    const { account } = await newBuyer(stack, { plan: 'STANDARD' });
    const order = { amount: 100, paymentMethod: 'CARD' };
    const answers = await askTwice(
      account,
      () => post(account, '/api/wallet/fund', order, 'funding'),
      takeLastPlace(account),
    );
    expectSame(answers, 'PENDING');
  });
});

/** Another payment of the account is unpaid, until the first request is opened. */
function takeLastPlace({ accountId }: TestAccount): Present {
  const transactionId = `txn-${randomUUID()}`.slice(0, 36);
  return {
    refuses: () =>
      stack.owner
        .insertInto('fundings')
        .values({
          ...{ transaction_id: transactionId, account_id: accountId, payment_method: 'CARD' },
          ...{ status: 'PENDING', amount_minor: 100n, currency: 'USD' },
          ...{ request_id: 'a-test', created_at: new Date() },
        })
        .execute(),
    acceptsAgain: () =>
      stack.owner
        .updateTable('fundings')
        .set({ status: 'FAILED', reason: 'PAYMENT_EXPIRED', closed_at: new Date() })
        .where('transaction_id', '=', transactionId)
        .execute(),
  };
}
