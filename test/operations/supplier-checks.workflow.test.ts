// Operators' checks of the supplier have their own part of its rate limit: however many are requested, orders
// keep theirs.
import { expect, it } from 'vitest';
import { findPurchaseRow } from '../support/people/buyer.ts';
import { newOperator } from '../support/people/operator-actions.ts';
import { untilStatus } from '../support/money/payments.ts';
import { RARE_CHECK_TIMINGS, startWorkflows } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows();
const operator = newOperator(stack);

/** How often a rate limit permit was requested, by the kind of work. */
async function turns(work: string): Promise<number> {
  const text = await (await fetch(`${stack.workerAdminUrl()}/metrics`)).text();
  const series = new RegExp(
    `^simway_vendor_allowance_wait_seconds_count\\{environment="test",vendor="supplier",work="${work}"\\} (\\d+)$`,
    'm',
  );
  return Number(series.exec(text)?.[1] ?? 0);
}

async function delivered(): Promise<string> {
  const { transactionId } = await harness.purchase({ account: buyer.account });
  await untilStatus(stack, transactionId, 'SUCCESS');
  await harness.result(transactionId);
  return transactionId;
}

async function failed(): Promise<string> {
  const { transactionId } = await harness.purchase({
    account: buyer.account,
    packageCode: 'SIM-OUT-OF-STOCK',
  });
  await untilStatus(stack, transactionId, 'FAILED');
  await harness.result(transactionId);
  return transactionId;
}

/** Accepted by the supplier, and its answer was lost. */
async function ofUnknownOutcome(): Promise<string> {
  await stack.faults({ loseAnswer: 1 });
  const { transactionId } = await harness.purchase({ account: buyer.account, timings: RARE_CHECK_TIMINGS });
  await stack.clearFaults();
  expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PROCESSING' });
  return transactionId;
}

it.each([
  ['delivered', delivered],
  ['refused', failed],
  ['of unknown outcome', ofUnknownOutcome],
])('an operator’s check of a purchase that is %s uses no permit of orders', async (_state, purchase) => {
  const transactionId = await purchase();
  const before = { orders: await turns('orders'), checks: await turns('checks') };
  expect(await operator.act(transactionId, 'check-supplier')).toMatchObject({ outcome: 'done' });
  expect(await turns('orders')).toBe(before.orders);
  expect(await turns('checks')).toBeGreaterThan(before.checks);
});
