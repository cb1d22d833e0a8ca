// What waits for long keeps a small history: a step that our own database refuses, a dispute that nobody
// settles, a sweep of many rows. The workflow continues as new by itself, and goes on afterwards as if
// nothing had been. Signals stand for the months.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { OPS_QUEUE, SWEEP_WORKFLOW } from '../../workflows/contract.ts';
import { findPurchaseRow, untilClosed } from '../support/people/buyer.ts';
import { runConcurrently } from '../support/time/concurrency.ts';
import { until } from '../support/time/until.ts';
import { disputing } from '../support/money/disputing.ts';
import {
  atGateway,
  buyThroughGateway,
  confirm,
  untilCharged,
  untilStatus,
} from '../support/money/payments.ts';
import { untilListed } from '../support/world/workflow-harness.ts';
import { loseWorkflow, paidPurchase, startSequences, untilContinuedAsNew, untilOrdered } from './support.ts';

const sequences = await startSequences();
const { stack, buyer, operator } = sequences;
const { resolve, settle, untilAttention } = disputing(stack, operator);

/** Meanwhile our database refuses every row of this table. */
async function refusing(table: string, meanwhile: () => Promise<void>): Promise<void> {
  await sql`revoke insert on ${sql.table(table)} from simway_test`.execute(stack.owner);
  try {
    await meanwhile();
  } finally {
    await sql`grant insert on ${sql.table(table)} to simway_test`.execute(stack.owner);
  }
}

it('a purchase whose settling is refused by our database continues as new, and is settled once it can be', async () => {
  await stack.faults({ neverAllocate: 1 });
  const transactionId = await paidPurchase(sequences);
  await untilOrdered(stack, transactionId);
  await refusing('purchase_events', async () => {
    await stack.clearFaults();
    await untilContinuedAsNew(stack, transactionId);
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PROCESSING' });
  });
  expect(await untilClosed(stack, transactionId)).toMatchObject({ status: 'SUCCESS' });
});

it('a purchase whose refund is refused by our database continues as new, and is refunded once it can be', async () => {
  await stack.faults({ neverAllocate: 1 });
  const { body } = await buyer.buy('SIM-OK');
  const [order] = await untilOrdered(stack, body.transactionId);
  await refusing('purchase_events', async () => {
    await stack.clearFaults();
    await fetch(`${stack.supplierControlUrl}/esims/${order!.esims[0]!.iccid}`, {
      method: 'PUT',
      body: JSON.stringify({ esimStatus: 'CANCEL' }),
    });
    await untilContinuedAsNew(stack, body.transactionId);
  });
  expect(await untilClosed(stack, body.transactionId)).toMatchObject({ status: 'FAILED' });
});

it('a purchase that our database does not let begin continues as new, and begins once it can', async () => {
  const [id] = await openedLater(async () => (await buyer.buy('SIM-OK')).body.transactionId);
  expect(await untilClosed(stack, id!)).toMatchObject({ status: 'SUCCESS' });
});

it('a payment that our database does not let be booked continues as new, and is booked once it can be', async () => {
  const { transactionId } = await buyThroughGateway(stack, buyer.account);
  // The answer may come before the charge is opened, which writes events as well.
  await untilCharged(stack, transactionId);
  await refusing('purchase_events', async () => {
    await atGateway(stack, transactionId, 'pay', { amountMinor: 1 });
    await untilContinuedAsNew(stack, transactionId);
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PENDING' });
  });
  await confirm(stack, buyer.account, transactionId);
  expect(await untilClosed(stack, transactionId)).toMatchObject({
    status: 'FAILED',
    reason: 'PAYMENT_UNDERPAID',
  });
});

/** Buys while nothing can be opened, and lets the workflow continue as new meanwhile. */
async function openedLater(buy: () => Promise<string>): Promise<string[]> {
  const ids: string[] = [];
  await refusing('purchases', async () => {
    ids.push(await buy());
    await untilContinuedAsNew(stack, ids[0]!);
    expect(await findPurchaseRow(stack, ids[0]!)).toBeUndefined();
  });
  return ids;
}

it('a dispute that waits for a person continues as new, and can still be settled', async () => {
  const { transactionId } = await buyThroughGateway(stack, buyer.account);
  await atGateway(stack, transactionId, 'pay');
  await untilStatus(stack, transactionId, 'SUCCESS');
  await stack.temporal.workflow.getHandle(transactionId).result();
  await atGateway(stack, transactionId, 'dispute');
  const query = `TransactionId = '${transactionId}' AND ExecutionStatus = 'Running' AND NeedsAttention = true`;
  const [workflowId] = await untilListed(stack, query, (ids) => ids.length === 1);
  await untilContinuedAsNew(stack, workflowId!);
  await resolve(transactionId, 'declined');
  expect(await settle(transactionId, 'won')).toMatchObject({ outcome: 'done' });
  await untilAttention(transactionId, null);
});

it('a sweep of many rows keeps each of its histories small, and follows every row', async () => {
  const ROWS = 40;
  const ids = await disputedAndLost(ROWS);
  const workflowId = `sweep-by-hand-${randomUUID()}`;
  await stack.temporal.workflow.start(SWEEP_WORKFLOW, { workflowId, taskQueue: OPS_QUEUE, args: [] });
  await stack.temporal.workflow.getHandle(workflowId).result();
  for await (const { runId, historyLength } of stack.temporal.workflow.list({
    query: `WorkflowId = '${workflowId}'`,
  })) {
    const run = await stack.temporal.workflow.getHandle(workflowId, runId).describe();
    // Not even one event for each row.
    expect(Math.max(run.historyLength, historyLength)).toBeLessThan(ROWS);
  }
  const followed = await untilListed(stack, `ExecutionStatus = 'Running'`, (found) =>
    ids.every((id) => found.some((workflowId) => workflowId.endsWith(id))),
  );
  expect(followed.length).toBeGreaterThanOrEqual(ROWS);
}, 180_000);

/** Delivered purchases with an open dispute whose workflows are lost: nothing follows them. */
async function disputedAndLost(count: number): Promise<string[]> {
  const slots = Array.from({ length: count }, (_, nth) => nth);
  const ids: string[] = [];
  await runConcurrently(slots, 10, async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    // A busy Temporal is answered with 503: the same request is sent again.
    const { transactionId } = await until(
      () => buyThroughGateway(stack, buyer.account, { headers }),
      ({ answer }) => answer.status !== 503,
    );
    ids.push(transactionId);
    await atGateway(stack, transactionId, 'pay');
    await untilStatus(stack, transactionId, 'SUCCESS');
    await atGateway(stack, transactionId, 'dispute');
  });
  const running = await untilListed(
    stack,
    `ExecutionStatus = 'Running' AND Reason = 'PAYMENT_DISPUTED' AND NeedsAttention = true`,
    (found) => ids.every((id) => found.some((workflowId) => workflowId.endsWith(id))),
  );
  for (const workflowId of running) await loseWorkflow(stack, workflowId);
  return ids;
}
