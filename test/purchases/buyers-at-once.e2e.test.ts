// Promise M2 through the whole service: a wallet that pays for k purchases pays for exactly k, however many ask at once.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newBuyer, untilClosed, type Buyer } from '../support/buyer.ts';
import { expectSoundBooks } from '../support/invariants.ts';
import { startStack, type Answer, type Stack } from '../support/stack.ts';
import { until } from '../support/until.ts';

const BUYERS = 64;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ env: { SIMWAY_TEST_TIMINGS: JSON.stringify({ answerWithinMs: 25_000 }) } });
}, 60_000);
afterAll(() => stack.close());
afterAll(() => expectSoundBooks(stack));

/** As docs/API.md tells callers to: under one key, again after 409 and 503. */
const answerTo = (buyer: Buyer, idempotencyKey: string): Promise<Answer> =>
  until(
    () => buyer.buy('SIM-OK', { idempotencyKey }),
    ({ status }) => ![409, 503].includes(status),
    { withinMs: 90_000, everyMs: 500, what: 'an answer to the purchase' },
  );

it.each([
  { currency: 'USD', pays: 17, priceMinor: 230n },
  // USD 2.30 at 1,600 with 3 % on top.
  { currency: 'NGN', pays: 9, priceMinor: 379_040n },
] as const)(
  '64 at once on a $currency wallet that pays for $pays',
  async ({ currency, pays, priceMinor }) => {
    const left = priceMinor - 1n;
    const buyer = await newBuyer(stack, { currency, fundsMinor: priceMinor * BigInt(pays) + left });
    const answers = await Promise.all(
      Array.from({ length: BUYERS }, (_, nth) => answerTo(buyer, `buyer-${nth}`)),
    );
    const bought = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 400);
    expect(bought).toHaveLength(pays);
    const iccids = await Promise.all(
      bought.map(async ({ body: { transactionId } }) => {
        // A busy machine may answer PROCESSING first.
        expect(await untilClosed(stack, transactionId, { withinMs: 60_000 })).toMatchObject({
          status: 'SUCCESS',
        });
        return (await buyer.read(`/api/esim/transactions/${transactionId}`)).body.esimDetails.iccid;
      }),
    );
    expect(new Set(iccids).size).toBe(pays);
    expect(refused).toHaveLength(BUYERS - pays);
    for (const { body } of refused) {
      expect(body).toMatchObject({ success: false, error: { code: 'INSUFFICIENT_BALANCE' } });
    }
    expect(await buyer.balanceMinor()).toBe(left);
    expect(await buyer.purchases()).toHaveLength(pays);
    const wallet = await buyer.read('/api/wallet/balance');
    expect(wallet.body.data).toMatchObject({ balance: Number(left) / 100, currency });
  },
  180_000,
);
