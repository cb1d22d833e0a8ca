/** An Idempotency-Key 30 days later: it is forgotten, and using it again makes one new purchase. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { DAY_MS } from '../../src/domain/clock.ts';
import { forgetOldKeys } from '../../src/platform/idempotency/store.ts';
import { newBuyer, untilClosed, type Buyer } from '../support/people/buyer.ts';
import type { Answer } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { fund } from '../../src/ledger/fund-by-hand.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const stack = await soundStack({ timings: { answerWithinMs: 3_000 } });

/** Makes every key of this account 31 days older, and runs the sweep. */
async function month({ account }: Buyer): Promise<void> {
  await stack.owner
    .updateTable('idempotency_keys')
    .set({ created_at: sql`created_at - interval '31 days'` })
    .where('account_id', '=', account.accountId)
    .execute();
  await forgetOldKeys(stack.world, new Date(Date.now() - 30 * DAY_MS));
}

const isReplay = (answer: Answer): boolean => answer.headers.get('Idempotent-Replayed') === 'true';
const errorOf = ({ status, body }: Answer): string => `${status} ${body.error.code}`;
const packages = async (buyer: Buyer): Promise<string[]> =>
  (await buyer.purchases()).map(({ package_code }) => package_code);
const settled = (ask: () => Promise<Answer>): Promise<Answer> =>
  until(ask, ({ status }) => status !== 409, { what: 'an answer that is not "still running"' });

it('a forgotten key makes a new purchase with the same body, and another one a month later', async () => {
  const buyer = await newBuyer(stack);
  const ids: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const bought = await buyer.buy('SIM-OK', { idempotencyKey: 'monthly' });
    expect(bought.status).toBe(201);
    expect(isReplay(bought)).toBe(false);
    const again = await buyer.buy('SIM-OK', { idempotencyKey: 'monthly' });
    expect(again.text).toBe(bought.text);
    expect(isReplay(again)).toBe(true);
    ids.push(bought.body.transactionId);
    await untilClosed(stack, bought.body.transactionId);
    await month(buyer);
  }
  expect(new Set(ids).size).toBe(3);
  expect(await packages(buyer)).toEqual(['SIM-OK', 'SIM-OK', 'SIM-OK']);
});

it('a forgotten key makes a new purchase with another body, and refuses a third one within the next 30 days', async () => {
  const buyer = await newBuyer(stack);
  await buyer.buy('SIM-OK', { idempotencyKey: 'k' });
  expect(errorOf(await buyer.buy('SIM-SLOW', { idempotencyKey: 'k' }))).toBe('422 IDEMPOTENCY_KEY_REUSED');
  await month(buyer);
  expect((await buyer.buy('SIM-LOSE-ANSWER', { idempotencyKey: 'k' })).status).toBe(201);
  expect(errorOf(await buyer.buy('SIM-OK', { idempotencyKey: 'k' }))).toBe('422 IDEMPOTENCY_KEY_REUSED');
  expect(await packages(buyer)).toEqual(['SIM-OK', 'SIM-LOSE-ANSWER']);
});

it('a forgotten key makes one new purchase, however many requests come at once', async () => {
  const buyer = await newBuyer(stack, { fundsMinor: 10_000n });
  const first = await buyer.buy('SIM-OK', { idempotencyKey: 'k' });
  await month(buyer);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => buyer.buy('SIM-OK', { idempotencyKey: 'k' })),
  );
  const answered = answers.filter(({ status }) => status !== 409);
  expect(new Set(answered.map(({ text }) => text)).size).toBe(1);
  expect(answered[0]?.status).toBe(201);
  expect(answered[0]?.body.transactionId).not.toBe(first.body.transactionId);
  expect(await packages(buyer)).toEqual(['SIM-OK', 'SIM-OK']);
  expect(await buyer.balanceMinor()).toBe(10_000n - 2n * 230n);
});

it('a forgotten key is tried again after a refusal, and the old refusal is not repeated', async () => {
  const buyer = await newBuyer(stack, { fundsMinor: 1n });
  const { accountId } = buyer.account;
  expect(errorOf(await buyer.buy('SIM-OK', { idempotencyKey: 'k' }))).toBe('400 INSUFFICIENT_BALANCE');
  expect(await packages(buyer)).toEqual([]);
  await month(buyer);
  expect(errorOf(await buyer.buy('SIM-LOSE-ANSWER', { idempotencyKey: 'k' }))).toBe(
    '400 INSUFFICIENT_BALANCE',
  );
  await month(buyer);
  await fund(
    { accounts: stack.accounts, world: stack.world },
    {
      accountId,
      amount: { amountMinor: 10_000n, currency: 'USD' },
      reason: 'a test',
      reference: accountId + '-2',
    },
    'a test',
  );
  const bought = await buyer.buy('SIM-OK', { idempotencyKey: 'k' });
  expect(bought.status).toBe(201);
  expect(await packages(buyer)).toEqual(['SIM-OK']);
});

it('a forgotten key finds the new purchase that it began after a crash, and buys nothing twice', async () => {
  const buyer = await newBuyer(stack);
  const first = await buyer.buy('SIM-OK', { idempotencyKey: 'k' });
  await month(buyer);
  await stack.stopWorker();
  const begun = await buyer.buy('SIM-OK', { idempotencyKey: 'k' });
  expect(begun.body.status).toBe('PROCESSING');
  // As if the API had died between starting the purchase and storing its answer: no row mentions it.
  await stack.owner
    .deleteFrom('idempotency_keys')
    .where('account_id', '=', buyer.account.accountId)
    .execute();
  const again = await buyer.buy('SIM-OK', { idempotencyKey: 'k' });
  expect(again.body.transactionId).toBe(begun.body.transactionId);
  expect(again.body.transactionId).not.toBe(first.body.transactionId);
  await stack.startWorker();
  expect((await untilClosed(stack, begun.body.transactionId)).status).toBe('SUCCESS');
  expect(await packages(buyer)).toEqual(['SIM-OK', 'SIM-OK']);
});

it('a key is not forgotten before the first step of its purchase has run', async () => {
  const buyer = await newBuyer(stack);
  await stack.stopWorker();
  const begun = await buyer.buy('SIM-OK', { idempotencyKey: 'k' });
  await month(buyer);
  const again = await buyer.buy('SIM-OK', { idempotencyKey: 'k' });
  expect(again.body.transactionId).toBe(begun.body.transactionId);
  await stack.startWorker();
  expect((await untilClosed(stack, begun.body.transactionId)).status).toBe('SUCCESS');
  expect(await packages(buyer)).toEqual(['SIM-OK']);
});

it('a forgotten key funds the wallet again', async () => {
  const buyer = await newBuyer(stack);
  const ask = () =>
    stack.call('POST', '/api/wallet/fund', {
      key: buyer.account.apiKey,
      body: { amount: 25, paymentMethod: 'CARD' },
      headers: { 'Idempotency-Key': `funding-${buyer.account.accountId}` },
    });
  const first = await ask();
  expect(first.status).toBe(201);
  await month(buyer);
  const second = await settled(ask);
  expect(second.status).toBe(201);
  expect(second.body.transactionId).not.toBe(first.body.transactionId);
  expect(isReplay(second)).toBe(false);
  expect((await ask()).text).toBe(second.text);
  const fundings = await stack.owner
    .selectFrom('fundings')
    .select('transaction_id')
    .where('account_id', '=', buyer.account.accountId)
    .execute();
  expect(fundings).toHaveLength(2);
});
