// Payments through the gateway while Postgres or the worker is down: begun payments are completed afterwards,
// and money paid meanwhile counts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningPostgres } from '../../src/dev/postgres.ts';
import { fundThroughGateway, untilBalance, untilFunding } from '../support/money/fundings.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { ownPostgres, type OwnServer } from '../support/world/own-servers.ts';
import { atGateway, buyThroughGateway, confirm, untilStatus, type Paid } from '../support/money/payments.ts';
import { startStack, type Stack, type TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

let postgres: OwnServer<RunningPostgres>;
let stack: Stack;
let account: TestAccount;
beforeAll(async () => {
  postgres = await ownPostgres();
  stack = await startStack({
    processes: 'own',
    databaseUrl: postgres.server.url,
    timings: { answerWithinMs: 2_500, pollFirstMs: 500 },
  });
  account = await stack.account({ fundsMinor: 0n });
}, 120_000);
afterAll(async () => {
  await expectSoundBooks(stack);
  await stack.close();
  await postgres.close();
});

/** Waits for the payment instructions, and pays. */
async function payOnceTold({ transactionId }: Paid): Promise<void> {
  const opened = await until(
    () => confirm(stack, account, transactionId),
    ({ body }) => 'paymentUrl' in body,
    { what: 'the payment instructions', withinMs: 40_000 },
  );
  expect(opened.body.status).toBe('PENDING');
  await atGateway(stack, opened.body.gatewayReference, 'pay');
}

it('without Postgres a known caller is answered PENDING with an id, and can pay once Postgres is back', async () => {
  expect((await stack.call('GET', '/api/wallet/balance', { key: account.apiKey })).status).toBe(200);
  await postgres.server.stop();
  const [funding, bought] = await Promise.all([
    fundThroughGateway(stack, account, { amount: 25, method: 'CARD' }),
    buyThroughGateway(stack, account),
  ]);
  await postgres.server.start();
  for (const { answer } of [funding, bought]) {
    expect(answer).toMatchObject({ status: 201, body: { status: 'PENDING' } });
    expect(answer.body.transactionId).toMatch(/^txn-/);
    expect(answer.body).not.toHaveProperty('paymentUrl');
  }
  await payOnceTold(funding);
  await untilFunding(stack, funding.transactionId, 'SUCCESS');
  await untilBalance(stack, account, 2_500);
  await payOnceTold(bought);
  await untilStatus(stack, bought.transactionId, 'SUCCESS');
}, 120_000);

it('a payment made while no worker runs is delivered once one is back', async () => {
  const bought = await buyThroughGateway(stack, account);
  expect(bought.answer.body.status).toBe('PENDING');
  await stack.children.worker!.kill();
  await atGateway(stack, bought.reference, 'pay');
  expect((await confirm(stack, account, bought.transactionId)).body.status).toBe('PENDING');
  await stack.startWorker();
  await untilStatus(stack, bought.transactionId, 'SUCCESS');
  expect(await stack.supplierOrders(bought.transactionId)).toHaveLength(1);
}, 120_000);
