// The supplier announces an allocated order: its purchase is delivered at once, not at its next check.
import { afterAll, expect, it } from 'vitest';
import { newBuyer, untilClosed } from '../support/people/buyer.ts';
import { until } from '../support/time/until.ts';
import { startStack } from '../support/world/stack.ts';
import { createWorkflowHarness, RARE_CHECK_TIMINGS } from '../support/world/workflow-harness.ts';

// Empty: the simulator sends its events to the API of this stack.
const stack = await startStack({ env: { SIMWAY_TEST_SUPPLIER_EVENTS_URL: '' } });
const harness = await createWorkflowHarness(stack);
const buyer = await newBuyer(stack);
afterAll(async () => {
  await harness.close();
  await stack.close();
});

it('an allocation event wakes its purchase', async () => {
  await until(
    () => stack.world.selectFrom('supplier_events').select('note').execute(),
    (rows) => rows.some(({ note }) => note === 'answered'),
    { what: 'the address of the API at the supplier' },
  );
  await stack.faults({ neverAllocate: { next: 1 } });
  // Its own checks are five minutes apart.
  const { transactionId, answer } = await harness.purchase({
    account: buyer.account,
    timings: RARE_CHECK_TIMINGS,
  });
  expect(answer).toEqual({ status: 'PROCESSING' });
  const [order] = await stack.supplierOrders(transactionId);
  await fetch(`${stack.supplierControlUrl}/orders/${order?.orderNo ?? ''}/allocate`, { method: 'POST' });
  expect(await untilClosed(stack, transactionId)).toMatchObject({ status: 'SUCCESS' });
});
