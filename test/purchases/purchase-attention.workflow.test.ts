// A purchase that needs attention: its money held, open, flagged, findable by operations, and continued as
// soon as possible.
import { afterEach, expect, it } from 'vitest';
import { holdOf, timelineOf, untilClosed } from '../support/people/buyer.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { reopenHold } from '../support/money/holds.ts';
import { postHold, voidHold } from '../../src/ledger/store/holds.ts';
import {
  EARLY_ATTENTION_TIMINGS,
  SHORT_ANSWER_TIMINGS,
  startWorkflows,
  untilListed,
  untilRow,
} from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows();
afterEach(() => stack.clearFaults());

const untilFlagged = (transactionId: string) =>
  untilRow(stack, transactionId, (row) => row.needs_attention_since !== null, 'flagged');

/** The filter that operations use in the Temporal UI. */
const untilCalled = (transactionId: string, reason: string) =>
  untilListed(stack, `NeedsAttention = true AND Reason = '${reason}'`, (ids) => ids.includes(transactionId));

const untilNoAttentionNeeded = (transactionId: string) =>
  untilListed(stack, 'NeedsAttention = true', (ids) => !ids.includes(transactionId));

async function expectDeliveredByItself(transactionId: string): Promise<void> {
  const row = await untilClosed(stack, transactionId);
  expect(row).toMatchObject({ status: 'SUCCESS', needs_attention_since: null, attention_reason: null });
  expect(await holdOf(stack, transactionId)).toBe('POSTED');
  expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  await untilNoAttentionNeeded(transactionId);
}

it('a purchase never allocated keeps its money held and needs attention; it is delivered once the supplier allocates', async () => {
  await stack.faults({ neverAllocate: 1 });
  const balance = await buyer.balanceMinor();
  const { transactionId, answer } = await harness.purchase({ timings: EARLY_ATTENTION_TIMINGS });
  expect(answer).toEqual({ status: 'PROCESSING' });
  const flagged = await untilFlagged(transactionId);
  expect(flagged).toMatchObject({ status: 'PROCESSING', attention_reason: 'SUPPLIER_NEVER_ALLOCATED' });
  expect(await holdOf(stack, transactionId)).toBe('HELD');
  expect(await buyer.balanceMinor()).toBe(balance - 230n);
  await untilCalled(transactionId, 'SUPPLIER_NEVER_ALLOCATED');
  expect(await expectSoundBooks(stack)).toMatchObject({ open: 1 });

  await stack.clearFaults();
  await expectDeliveredByItself(transactionId);
  expect(await timelineOf(stack, transactionId)).toEqual([
    'wallet-held',
    'ordered-at-supplier',
    'needs-attention',
    'delivered',
  ]);
});

it('a purchase never answered is not refunded while the outcome is unknown; it is delivered once the supplier answers', async () => {
  await stack.faults({ busy: 1 });
  const { transactionId, answer } = await harness.purchase({ timings: EARLY_ATTENTION_TIMINGS });
  expect(answer).toEqual({ status: 'PROCESSING' });
  expect(await untilFlagged(transactionId)).toMatchObject({ attention_reason: 'SUPPLIER_OUTCOME_UNKNOWN' });
  await untilCalled(transactionId, 'SUPPLIER_OUTCOME_UNKNOWN');
  expect(await holdOf(stack, transactionId)).toBe('HELD');
  await stack.clearFaults();
  await expectDeliveredByItself(transactionId);
});

it('a purchase whose hold was released by hand is not delivered and needs attention; it is delivered once repaired', async () => {
  await stack.faults({ neverAllocate: { next: 1 } });
  // SHORT_ANSWER_TIMINGS: the wait itself raises no alert, however slow the machine, since the first reason
  // stays.
  const { transactionId } = await harness.purchase({ timings: SHORT_ANSWER_TIMINGS });
  await voidHold(stack.world, transactionId);
  await stack.clearFaults();
  await untilRow(stack, transactionId, (row) => row.attention_reason !== null, 'flagged');
  await untilCalled(transactionId, 'DELIVERY_STEP_FAILED');
  expect(await holdOf(stack, transactionId)).toBe('VOIDED');
  await reopenHold(stack.owner, transactionId);
  await expectDeliveredByItself(transactionId);
});

it('a purchase whose hold was posted by hand is not ordered and needs attention; it is refused and refunded once repaired', async () => {
  await stack.faults({ busy: 1 });
  const { transactionId } = await harness.purchase({ timings: SHORT_ANSWER_TIMINGS });
  await postHold(stack.world, transactionId, { supplier: 'esim-access', costUsdE4: 0n });
  await stack.faults({ busy: 0, outOfStock: 1 });
  await untilCalled(transactionId, 'DELIVERY_STEP_FAILED');
  expect(await untilFlagged(transactionId)).toMatchObject({
    status: 'PROCESSING',
    attention_reason: 'DELIVERY_STEP_FAILED',
  });
  expect((await stack.temporal.workflow.getHandle(transactionId).describe()).status.name).toBe('RUNNING');
  await reopenHold(stack.owner, transactionId);
  expect(await untilClosed(stack, transactionId)).toMatchObject({
    status: 'FAILED',
    reason: 'PACKAGE_UNAVAILABLE',
  });
  expect(await holdOf(stack, transactionId)).toBe('VOIDED');
  expect(await harness.result(transactionId)).toEqual({ status: 'FAILED', reason: 'PACKAGE_UNAVAILABLE' });
});
