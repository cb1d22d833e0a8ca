// Promise M2 through the whole service: a wallet that pays for k purchases pays for exactly k, however many
// buyers come at once.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newBuyer } from '../support/people/buyer.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { startStack, type Stack } from '../support/world/stack.ts';

/** 64 of them are in M2's own test. */
const BUYERS = 32;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ env: { SIMWAY_TEST_TIMINGS: JSON.stringify({ answerWithinMs: 60_000 }) } });
});
afterAll(() => stack.close());
afterAll(() => expectSoundBooks(stack));

it.each([
  { currency: 'USD', pays: 17, priceMinor: 230n },
  // USD 2.30 at 1,600 with 3 % on top.
  { currency: 'NGN', pays: 9, priceMinor: 379_040n },
] as const)(
  '32 at once on a $currency wallet that pays for $pays',
  async ({ currency, pays, priceMinor }) => {
    const left = priceMinor - 1n;
    const buyer = await newBuyer(stack, { currency, fundsMinor: priceMinor * BigInt(pays) + left });
    const answers = await Promise.all(Array.from({ length: BUYERS }, () => buyer.buy('SIM-OK')));
    const bought = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 400);
    expect(bought.map(({ body }) => body.status)).toEqual(Array.from({ length: pays }, () => 'SUCCESS'));
    expect(new Set(bought.map(({ body }) => body.esimDetails.iccid)).size).toBe(pays);
    expect(refused).toHaveLength(BUYERS - pays);
    for (const { body } of refused) {
      expect(body).toMatchObject({ success: false, error: { code: 'INSUFFICIENT_BALANCE' } });
    }
    expect(await buyer.balanceMinor()).toBe(left);
    // A late refusal, under load, is stored as a failed purchase without a hold, so that its caller can read
    // it.
    const opened = await buyer.purchases();
    expect(opened.filter(({ status }) => status !== 'FAILED')).toHaveLength(pays);
    const wallet = await buyer.read('/api/wallet/balance');
    expect(wallet.body.data).toMatchObject({ balance: Number(left) / 100, currency });
  },
);
