// A supplier that takes calls and does not answer: reads serve what is known and cost a second once, a top-up is answered in time and
// ends well, an answer that comes late is kept. Bounds on time are generous; what reached the supplier is counted.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newBuyer, untilClosed, type Buyer } from '../support/buyer.ts';
import { startStack, type Stack } from '../support/stack.ts';
import { until } from '../support/until.ts';

/** Longer than the adapter waits for anything. */
const HANGS_MS = 20_000;
/** What a look used to cost every reader, and more than two of the new limits. */
const OLD_WAIT_MS = 4_500;
const ANSWER_WITHIN_MS = 3_000;

const GB = 1024 ** 3;

let stack: Stack;
let buyer: Buyer;
let esimId: string;
let iccid: string;
// Looks rest after a slow one, in the API's memory: an API of its own for each.
beforeEach(async () => {
  stack = await startStack({
    env: { SIMWAY_TEST_TIMINGS: JSON.stringify({ answerWithinMs: ANSWER_WITHIN_MS, lookMaxMs: 300 }) },
  });
  buyer = await newBuyer(stack);
  ({ esimId, iccid } = await buyer.activeEsim());
  await seenLongAgo();
  expect((await buyer.read(`/api/esim/${esimId}`)).body).toMatchObject({ esimStatus: 'ACTIVE' });
  await seenLongAgo();
});
afterEach(async () => {
  await stack.clearFaults();
  await stack.close();
});

/** Too long for what is known to be served unasked. */
async function seenLongAgo(): Promise<void> {
  await stack.owner
    .updateTable('esims')
    .set({ looked_at: new Date(Date.now() - 60_000) })
    .where('id', '=', esimId)
    .execute();
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const startedAtMs = performance.now();
  return { result: await work(), ms: performance.now() - startedAtMs };
}

/** Looks that the supplier has received. */
async function looksAtSupplier(): Promise<number> {
  const answer = await fetch(`${stack.supplierControlUrl}/stats`);
  const { calls, inFlight } = (await answer.json()) as { calls: Record<string, number>; inFlight: number };
  return Object.values(calls).reduce((sum, count) => sum + count, inFlight);
}

async function useData(orderUsage: number): Promise<void> {
  const answer = await fetch(`${stack.supplierControlUrl}/esims/${iccid}`, {
    method: 'PUT',
    body: JSON.stringify({ orderUsage }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

describe('a supplier that hangs', () => {
  it.each([
    ['an eSIM', () => buyer.read(`/api/esim/${esimId}`)],
    ['a list', () => buyer.read('/api/esim/my-esims')],
  ])('costs one read of %s a moment and the next ones none: what is known is served', async (_what, read) => {
    await stack.faults({ latencyMs: HANGS_MS });
    const before = await looksAtSupplier();
    const first = await timed(read);
    expect(first.result.status).toBe(200);
    expect(first.result.text).toContain(iccid);
    expect(first.ms).toBeLessThan(OLD_WAIT_MS);
    const more = await timed(async () => {
      for (let i = 0; i < 5; i += 1) expect((await read()).text).toContain(iccid);
    });
    expect(more.ms).toBeLessThan(OLD_WAIT_MS);
    expect((await looksAtSupplier()) - before).toBe(1);
  });

  it('does not hold up the answer to a top-up, which ends well once it is back', async () => {
    const list = await buyer.read('/api/esim/packages?type=TOPUP&regionCode=ZZ&packageCode=SIM-OK');
    expect(list.text).toContain('TOPUP_SIM-OK');
    await stack.faults({ latencyMs: HANGS_MS });
    const { result, ms } = await timed(() => buyer.buy('TOPUP_SIM-OK', { esimId }));
    expect(result.status).toBe(200);
    expect(result.body.status).toBe('PROCESSING');
    expect(ms).toBeLessThan(ANSWER_WITHIN_MS + 3_500);
    await stack.clearFaults();
    const { transactionId } = result.body;
    expect(await untilClosed(stack, transactionId, { withinMs: 60_000 })).toMatchObject({
      status: 'SUCCESS',
    });
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  });
});

describe('a supplier that is slow', () => {
  it('answers too late for one reader, and in time for the next', async () => {
    await useData(GB / 2);
    await stack.faults({ latencyMs: 2_000 });
    expect((await buyer.read(`/api/esim/${esimId}`)).body).toMatchObject({ orderUsage: 0 });
    await until(
      () => buyer.read(`/api/esim/${esimId}`),
      ({ body }) => (body as unknown as { orderUsage: number }).orderUsage === GB / 2,
      { withinMs: 8_000, what: 'what the late answer said' },
    );
  });
});
