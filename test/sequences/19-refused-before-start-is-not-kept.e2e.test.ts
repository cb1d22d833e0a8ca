/** A refusal without an effect is not kept under its key: once its cause is gone, the same key buys, once. */
import { describe, expect, it } from 'vitest';
import { fund } from '../../src/ledger/fund-by-hand.ts';
import { newBuyer, untilClosed, type Buyer } from '../support/people/buyer.ts';
import type { Answer } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';

const stack = await soundStack({
  env: {
    SIMWAY_UNPAID_PAYMENTS: 'STANDARD=1',
  },
});

async function fill({ account: { accountId } }: Buyer): Promise<void> {
  const amount = { amountMinor: 10_000n, currency: 'USD' } as const;
  const reference = `more-${accountId}`;
  const into = { accountId, amount, reason: 'a test', reference };
  await fund({ accounts: stack.accounts, world: stack.world }, into, 'a test');
}

async function expectBoughtOnce(buyer: Buyer, bought: Answer): Promise<void> {
  expect([bought.status, bought.body.status]).toEqual([201, 'SUCCESS']);
  expect(bought.headers.get('Idempotent-Replayed')).toBeNull();
  const replayed = await until(
    () => buyer.buy('SIM-OK', { idempotencyKey: 'broke' }),
    ({ status }) => status !== 409,
    { what: 'no longer in use' },
  );
  expect([replayed.text, replayed.headers.get('Idempotent-Replayed')]).toEqual([bought.text, 'true']);
  const paid = (await buyer.purchases()).filter(({ status }) => status !== 'FAILED');
  expect(paid.map(({ transaction_id }) => transaction_id)).toEqual([bought.body.transactionId]);
  expect(await buyer.balanceMinor()).toBe(10_001n - 230n);
}

describe('a wallet too small', () => {
  it('is filled, and the same key buys', async () => {
    const buyer = await newBuyer(stack, { fundsMinor: 1n });
    const buy = () => buyer.buy('SIM-OK', { idempotencyKey: 'broke' });
    for (let again = 0; again < 3; again += 1) {
      const refused = await buy();
      expect([refused.status, refused.body.error.code]).toEqual([400, 'INSUFFICIENT_BALANCE']);
      expect(refused.headers.get('Idempotent-Replayed')).toBeNull();
    }
    await fill(buyer);
    await expectBoughtOnce(buyer, await buy());
  });

  it('is filled, and twenty requests with the same key buy once', async () => {
    const buyer = await newBuyer(stack, { fundsMinor: 1n });
    const buy = () => buyer.buy('SIM-OK', { idempotencyKey: 'broke' });
    expect((await buy()).status).toBe(400);
    await fill(buyer);
    const answers = await Promise.all(Array.from({ length: 20 }, buy));
    const bought = answers.filter(({ status }) => status !== 409);
    expect(new Set(bought.map(({ text }) => text)).size).toBe(1);
    await expectBoughtOnce(
      buyer,
      bought.find(({ headers }) => !headers.has('Idempotent-Replayed'))!,
    );
  });

  it('frees the key for another body', async () => {
    const buyer = await newBuyer(stack, { fundsMinor: 1n });
    expect((await buyer.buy('SIM-SLOW', { idempotencyKey: 'broke' })).status).toBe(400);
    await fill(buyer);
    await expectBoughtOnce(buyer, await buyer.buy('SIM-OK', { idempotencyKey: 'broke' }));
  });

  it('of a caller who was answered PROCESSING keeps that answer, and reads show the refusal', async () => {
    const buyer = await newBuyer(stack, { fundsMinor: 1n });
    await stack.stopWorker();
    const early = await buyer.buy('SIM-OK', { idempotencyKey: 'early' });
    await stack.startWorker();
    expect([early.status, early.body.status]).toEqual([201, 'PROCESSING']);
    expect((await untilClosed(stack, early.body.transactionId)).reason).toBe('INSUFFICIENT_BALANCE');
    await fill(buyer);
    expect((await buyer.buy('SIM-OK', { idempotencyKey: 'early' })).text).toBe(early.text);
    expect(await buyer.purchases()).toHaveLength(1);
  });
});

describe('too many unpaid payments', () => {
  it('of a funding leave its key free', async () => {
    const { account } = await newBuyer(stack, { plan: 'STANDARD' });
    const ask = (key: string): Promise<Answer> =>
      stack.call('POST', '/api/wallet/fund', {
        key: account.apiKey,
        body: { amount: 100, paymentMethod: 'CARD' },
        headers: { 'Idempotency-Key': key },
      });
    const first = await ask('first');
    expect(first.status).toBe(201);
    for (let again = 0; again < 2; again += 1) expect((await ask('second')).status).toBe(429);
    await stack.owner
      .updateTable('fundings')
      .set({ status: 'FAILED', reason: 'PAYMENT_EXPIRED', closed_at: new Date() })
      .where('transaction_id', '=', first.body.transactionId)
      .execute();
    const second = await ask('second');
    expect(second.status).toBe(201);
    expect(second.body.transactionId).not.toBe(first.body.transactionId);
  });
});
