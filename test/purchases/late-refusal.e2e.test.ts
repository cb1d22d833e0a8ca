// A buyer with the answer PROCESSING can always read how the purchase ended, even if it is refused only
// afterwards.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newBuyer, untilClosed } from '../support/people/buyer.ts';
import { startStack, type Stack } from '../support/world/stack.ts';

const ANSWER_WITHIN_MS = 1_000;

let stack: Stack;
beforeAll(async () => {
  const timings = { answerWithinMs: ANSWER_WITHIN_MS };
  stack = await startStack({ env: { SIMWAY_TEST_TIMINGS: JSON.stringify(timings) } });
});
afterAll(() => stack.close());

it('a refusal that Postgres delayed until after the answer is read back as FAILED', async () => {
  const poor = await newBuyer(stack, { fundsMinor: 1n });
  const locked = Promise.withResolvers<undefined>();
  const answered = Promise.withResolvers<undefined>();
  const holding = stack.owner.transaction().execute(async (trx) => {
    // The purchase's first step reads this table; the API does not while it waits.
    await sql`lock table esims in access exclusive mode`.execute(trx);
    locked.resolve(undefined);
    await answered.promise;
  });
  await locked.promise;
  const answer = await poor.buy('SIM-OK').finally(() => answered.resolve(undefined));
  await holding;
  expect(answer.status).toBe(201);
  expect(answer.body.status).toBe('PROCESSING');
  await untilClosed(stack, answer.body.transactionId);
  const read = await poor.read(`/api/esim/transactions/${answer.body.transactionId}`);
  expect(read.status).toBe(200);
  expect(read.body).toMatchObject({ status: 'FAILED', reason: 'INSUFFICIENT_BALANCE' });
  expect(await poor.balanceMinor()).toBe(1n);
});
