// A replacement is judged again when it is approved: by the package's cost and availability at that time.
import { afterEach, expect, it } from 'vitest';
import { findPurchaseRow, untilClosed } from '../support/people/buyer.ts';
import { newOperator } from '../support/people/operator-actions.ts';
import { changePackage, untilImported } from '../support/vendors/packages.ts';
import { RARE_CHECK_TIMINGS, startWorkflows } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows({
  env: { SIMWAY_APPROVAL_LIMIT: 'USD=1.00' },
  supplier: { activateAfterMs: null },
});
const operator = newOperator(stack);
await untilImported(stack);
afterEach(async () => {
  await stack.clearFaults();
  await change({ cost_usd_e4: 20_000n, withdrawn_at: null });
});

/** A purchase that its supplier does not deliver, whose replacement by SIM-OK waits for a second person. */
async function replacementWaits(): Promise<{ transactionId: string; actionId: string }> {
  await stack.faults({ loseAnswer: 1 });
  const { transactionId } = await harness.purchase({
    account: buyer.account,
    packageCode: 'SIM-MANUAL-LIFE',
    timings: RARE_CHECK_TIMINGS,
  });
  await stack.clearFaults();
  const asked = await operator.act(transactionId, 'deliver-other', { packageCode: 'SIM-OK' });
  if (asked.outcome !== 'waits-for-approval') throw new Error(JSON.stringify(asked));
  return { transactionId, actionId: asked.actionId };
}

const change = (set: Parameters<typeof changePackage>[2]) => changePackage(stack, 'SIM-OK', set);

it.each([
  ['costs more than was paid by then', { cost_usd_e4: 23_001n }, /costs/],
  ['was withdrawn by then', { withdrawn_at: new Date() }, /withdrawn/],
])('a replacement that %s is refused on approval, and the purchase continues', async (_is, set, words) => {
  const { transactionId, actionId } = await replacementWaits();
  await change(set);
  expect(await operator.approve(actionId, 'bayo')).toMatchObject({
    outcome: 'refused',
    code: 'PACKAGE_DOES_NOT_FIT',
    detail: expect.stringMatching(words) as unknown,
  });
  await operator.act(transactionId, 'retry-delivery');
  expect(await untilClosed(stack, transactionId)).toMatchObject({
    status: 'SUCCESS',
    package_code: 'SIM-MANUAL-LIFE',
  });
  // Nothing was cancelled for a package that could not be delivered.
  const orders = await stack.supplierOrders(transactionId);
  expect(orders.flatMap(({ esims }) => esims.map(({ esimStatus }) => esimStatus))).toEqual(['GOT_RESOURCE']);
});

it('a replacement is ordered at its cost at approval time, if that is within the price', async () => {
  const { transactionId, actionId } = await replacementWaits();
  await change({ cost_usd_e4: 22_000n });
  expect(await operator.approve(actionId, 'bayo')).toMatchObject({ outcome: 'done' });
  expect(await findPurchaseRow(stack, transactionId)).toMatchObject({
    package_code: 'SIM-OK',
    cost_usd_e4: '22000',
  });
});
