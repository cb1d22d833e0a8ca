// The API process killed between a request and its answer, at every point that the purchase can have reached;
// and stopped while requests run. The caller's retry with the same Idempotency-Key gets the purchase: one
// order, one debit, never a second one.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdOf, newBuyer, untilClosed, type Buyer } from '../support/people/buyer.ts';
import { plantGates, type Gate, type Gates } from '../support/time/gates.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { startStack, type Answer, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

const PRICE_MINOR = 230n;
const FUNDS_MINOR = 10_000n;
const KEY = 'the-callers-key';

let stack: Stack;
let gates: Gates;
beforeAll(async () => {
  stack = await startStack({
    processes: 'own',
    timings: { checkMaxMs: 300 },
  });
  gates = await plantGates(stack.databaseUrl);
}, 120_000);
afterAll(async () => {
  await gates.close();
  await stack.close();
});
afterAll(() => expectSoundBooks(stack));

interface Cut {
  readonly buyer: Buyer;
  readonly request: Promise<Answer>;
}

const newCut = (buyer: Buyer, idempotencyKey: string | undefined): Cut => {
  const request = buyer.buy('SIM-OK', idempotencyKey === undefined ? {} : { idempotencyKey });
  // Awaited later: until then a rejection must not be reported as unhandled.
  request.catch(() => undefined);
  return { buyer, request };
};

async function waitingAt(gate: Gate, idempotencyKey: string | undefined = KEY): Promise<Cut> {
  const buyer = await newBuyer(stack, { fundsMinor: FUNDS_MINOR });
  await gates.shut(gate, buyer.account.accountId);
  const cut = newCut(buyer, idempotencyKey);
  await gates.reached(gate, buyer.account.accountId);
  return cut;
}

async function waitingForTheSupplier(): Promise<Cut> {
  const buyer = await newBuyer(stack, { fundsMinor: FUNDS_MINOR });
  await stack.faults({ neverAllocate: { next: 1 } });
  const cut = newCut(buyer, KEY);
  await until(
    async () => stack.supplierOrders((await buyer.purchases()).at(-1)?.transaction_id ?? 'none'),
    (orders) => orders.length === 1,
    { what: 'the order at the supplier' },
  );
  return cut;
}

const POINTS = [
  { point: 'while the purchase opens', start: () => waitingAt('open:inside'), replayed: false },
  { point: 'while it is being opened for good', start: () => waitingAt('open:commit'), replayed: false },
  { point: 'while the supplier delivers', start: waitingForTheSupplier, replayed: false },
  { point: 'while it settles', start: () => waitingAt('close:inside'), replayed: false },
  { point: 'with the answer kept and not sent', start: () => waitingAt('answer:commit'), replayed: true },
] as const;

describe('the API killed with requests at every point', () => {
  const cuts = new Map<string, Cut>();
  let withoutKey: Cut;
  beforeAll(async () => {
    for (const { point, start } of POINTS) cuts.set(point, await start());
    withoutKey = await waitingAt('open:commit', undefined);
    await stack.children.api!.kill();
    await gates.openAll();
    await stack.clearFaults();
    await stack.startApi();
  }, 120_000);

  it.each(POINTS)('$point: the retry returns the same purchase', async ({ point, replayed }) => {
    const { buyer, request } = cuts.get(point)!;
    await expect(request).rejects.toThrow();
    const answer = await retryUntilAnswered(buyer);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('Idempotent-Replayed')).toBe(replayed ? 'true' : null);
    await expectOnePurchase(buyer, answer.body.transactionId);
    const read = await buyer.read(`/api/esim/transactions/${answer.body.transactionId}`);
    expect(read.body).toMatchObject(answer.body);
    const again = await until(
      () => buyer.buy('SIM-OK', { idempotencyKey: KEY }),
      ({ status }) => status !== 409,
    );
    expect(again.text).toBe(answer.text);
  });

  it('without an Idempotency-Key: the purchase completes once, and the caller finds it in the list', async () => {
    await expect(withoutKey.request).rejects.toThrow();
    const [row] = await withoutKey.buyer.purchases();
    await expectOnePurchase(withoutKey.buyer, row!.transaction_id);
    const mine = await withoutKey.buyer.read('/api/esim/my-esims');
    expect(mine.body).toMatchObject({ total: 1, esims: [{ transactionId: row!.transaction_id }] });
  });
});

describe('the API stopped under load', () => {
  it('finishes running requests, refuses new ones and exits with code 0', async () => {
    const buyers = await Promise.all(
      Array.from({ length: 20 }, () => newBuyer(stack, { fundsMinor: FUNDS_MINOR })),
    );
    await stack.faults({ latencyMs: 800 });
    const answers = Promise.all(buyers.map((buyer) => buyer.buy('SIM-OK')));
    await until(
      async () =>
        (await Promise.all(buyers.map((buyer) => buyer.purchases()))).filter((rows) => rows.length > 0)
          .length,
      (open) => open === buyers.length,
      { what: 'all purchases open' },
    );
    const api = stack.children.api!;
    const stopping = api.stop();
    await until(
      () =>
        fetch(`${stack.apiUrl}/api/settings/exchange-rate`).then(
          () => 'taken',
          () => 'refused',
        ),
      (outcome) => outcome === 'refused',
      { what: 'new connections refused' },
    );
    const all = await answers;
    expect(all.map(({ status, body }) => `${status} ${body.status}`)).toEqual(
      buyers.map(() => '201 SUCCESS'),
    );
    await stopping;
    expect(await api.exited).toEqual({ code: 0, signal: null });
    await stack.clearFaults();
    await stack.startApi();
    for (const [index, buyer] of buyers.entries())
      await expectOnePurchase(buyer, all[index]!.body.transactionId);
  });
});

/**
 * Like a caller whose connection broke: sends the same request until it is answered. 409 means "still
 * running".
 */
function retryUntilAnswered(buyer: Buyer): Promise<Answer> {
  return until(
    () => buyer.buy('SIM-OK', { idempotencyKey: KEY }),
    ({ status }) => status !== 409,
    { what: 'an answer to the retry', everyMs: 200 },
  );
}

async function expectOnePurchase(buyer: Buyer, transactionId: string): Promise<void> {
  expect((await untilClosed(stack, transactionId)).status).toBe('SUCCESS');
  expect((await buyer.purchases()).map((row) => row.transaction_id)).toEqual([transactionId]);
  expect(await buyer.balanceMinor()).toBe(FUNDS_MINOR - PRICE_MINOR);
  expect(await holdOf(stack, transactionId)).toBe('POSTED');
  expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
}
