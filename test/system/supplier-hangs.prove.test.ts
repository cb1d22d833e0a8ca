// A supplier that accepts calls and does not answer: reads serve stored data and wait a second once, a top-up
// is answered in time and succeeds later, and a late answer is stored. Bounds on time are generous; calls
// that reach the supplier are counted.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newBuyer, untilClosed, type Buyer } from '../support/people/buyer.ts';
import { startStack, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

/** Longer than the adapter waits for any call. */
const HANGS_MS = 20_000;
/** More than two of the time limits of a read. */
const OLD_WAIT_MS = 4_500;
const ANSWER_WITHIN_MS = 3_000;
/** What a busy machine may add. */
const SLACK_MS = 3_500;

const GB = 1024 ** 3;

let stack: Stack;
let buyer: Buyer;
let esimId: string;
let iccid: string;
// After a slow read the API pauses further ones, in its memory, so each test has its own API.
beforeEach(async () => {
  stack = await startStack({
    timings: { answerWithinMs: ANSWER_WITHIN_MS, checkMaxMs: 300 },
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

/** Long enough ago that a read checks at the supplier first. */
async function seenLongAgo(): Promise<void> {
  await stack.owner
    .updateTable('esims')
    .set({ checked_at: new Date(Date.now() - 60_000) })
    .where('id', '=', esimId)
    .execute();
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const startedAtMs = performance.now();
  return { result: await work(), ms: performance.now() - startedAtMs };
}

/** Calls that the supplier has received. */
async function callsAtSupplier(): Promise<number> {
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
  ])(
    'delays one read of %s by a second and the next ones not at all: stored data is served',
    async (_what, read) => {
      await stack.faults({ latencyMs: HANGS_MS });
      const before = await callsAtSupplier();
      const first = await timed(read);
      expect(first.result.status).toBe(200);
      expect(first.result.text).toContain(iccid);
      expect(first.ms).toBeLessThan(OLD_WAIT_MS);
      const more = await timed(async () => {
        for (let i = 0; i < 5; i += 1) expect((await read()).text).toContain(iccid);
      });
      expect(more.ms).toBeLessThan(OLD_WAIT_MS);
      expect((await callsAtSupplier()) - before).toBe(1);
    },
  );

  it('does not delay the answer to a top-up, which succeeds once the supplier answers again', async () => {
    const list = await buyer.read('/api/esim/packages?type=TOPUP&regionCode=ZZ&packageCode=SIM-OK');
    expect(list.text).toContain('TOPUP_SIM-OK');
    await stack.faults({ latencyMs: HANGS_MS });
    const { result, ms } = await timed(() => buyer.buy('TOPUP_SIM-OK', { esimId }));
    expect(result.status).toBe(200);
    expect(result.body.status).toBe('PROCESSING');
    expect(ms).toBeLessThan(ANSWER_WITHIN_MS + SLACK_MS);
    await stack.clearFaults();
    const { transactionId } = result.body;
    expect(await untilClosed(stack, transactionId, { withinMs: 60_000 })).toMatchObject({
      status: 'SUCCESS',
    });
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  });
});

describe('a supplier that is slow', () => {
  it('answers too late for the first read, and its answer is stored for the next', async () => {
    await useData(GB / 2);
    await stack.faults({ latencyMs: 2_000 });
    expect((await buyer.read(`/api/esim/${esimId}`)).body).toMatchObject({ orderUsage: 0 });
    await until(
      () => buyer.read(`/api/esim/${esimId}`),
      ({ body }) => (body as unknown as { orderUsage: number }).orderUsage === GB / 2,
      { withinMs: 8_000, what: 'the data of the late answer' },
    );
  });
});
