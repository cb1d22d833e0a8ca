// A worker is stopped while another serves, as at every release, and the supplier restarts. Callers notice
// neither.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectNothingLost, newBuyers, startShopping } from '../support/people/shoppers.ts';
import { startStack, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    processes: 'own',
    timings: { checkMaxMs: 300 },
  });
}, 120_000);
afterAll(() => stack.close());

it('a stopped worker finishes its work while the next one takes over: every answer is 201 SUCCESS', async () => {
  const old = stack.children.worker!;
  const buyers = await newBuyers(stack);
  const shopping = startShopping(buyers);
  await shopping.more(4);
  await stack.startWorker();
  await old.stop();
  expect(await old.exited).toEqual({ code: 0, signal: null });
  await shopping.more(4);
  const report = await shopping.stop();
  expect(Object.keys(report.answers)).toEqual(['201 SUCCESS']);
  await expectNothingLost(stack, report);
});

it('purchases wait while the supplier restarts, and are delivered once', async () => {
  const buyers = await newBuyers(stack);
  const shopping = startShopping(buyers);
  await shopping.more(4);
  await stack.stopSupplier();
  await untilOpen(buyers.length);
  await stack.startSupplier();
  await shopping.more(8);
  const report = await shopping.stop();
  await expectNothingLost(stack, report);
});

/** Purchases are open while the supplier does not answer. */
async function untilOpen(count: number): Promise<void> {
  await until(
    () => stack.owner.selectFrom('purchases').select('status').where('closed_at', 'is', null).execute(),
    (open) => open.length === count,
    { what: 'every buyer waiting for the supplier' },
  );
}
