// A step that our own database keeps refusing is kept and shown, and its history stays small.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { untilClosed } from '../support/people/buyer.ts';
import { eventTypes, fetchHistory } from '../support/world/history.ts';
import { until } from '../support/time/until.ts';
import { startWorkflows, SHORT_ANSWER_TIMINGS, untilListed } from '../support/world/workflow-harness.ts';

const { stack, harness } = await startWorkflows();

it('a failing step needs attention after a minute, is retried less and less often, and succeeds when the database is back', async () => {
  await stack.faults({ neverAllocate: 1 });
  const { transactionId } = await harness.purchase({ timings: SHORT_ANSWER_TIMINGS });
  await sql`revoke insert on purchase_events from simway_test`.execute(stack.owner);
  try {
    // Refused by the supplier, so it must be refunded, which our database refuses.
    const { esims } = (await stack.supplierOrders(transactionId))[0]!;
    await stack.clearFaults();
    await fetch(`${stack.supplierControlUrl}/esims/${esims[0]!.iccid}`, {
      method: 'PUT',
      body: JSON.stringify({ esimStatus: 'CANCEL' }),
    });
    const query = `WorkflowId = '${transactionId}' AND NeedsAttention = true AND Reason = 'OWN_STEP_FAILS'`;
    await until(
      async () => (await stack.temporal.workflow.count(query)).count,
      (count) => count === 1,
      { what: 'shown', everyMs: 1_000 },
    );
  } finally {
    await sql`grant insert on purchase_events to simway_test`.execute(stack.owner);
  }
  await untilClosed(stack, transactionId);
  await untilListed(
    stack,
    `WorkflowId = '${transactionId}' AND NeedsAttention = false`,
    (ids) => ids.length === 1,
  );
  const types = eventTypes(await fetchHistory(stack, transactionId));
  // Fewer tasks than one every few seconds.
  expect(types.filter((type) => type === 'WORKFLOW_TASK_COMPLETED').length).toBeLessThan(40);
  await until(
    () => types.length,
    (length) => length < 200,
    { what: 'a short history' },
  );
}, 180_000);
