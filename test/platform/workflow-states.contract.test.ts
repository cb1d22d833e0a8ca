/**
 * The state of workflows in a real Temporal: which are gone, even if its index lags, and which belong to a
 * purchase.
 */
import { randomUUID } from 'node:crypto';
import { TypedSearchAttributes } from '@temporalio/common';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { connectClient } from '../../src/platform/temporal/connect.ts';
import { createWorkflowStates } from '../../src/app/temporal/workflow-states.ts';
import { FUND_WALLET_WORKFLOW, AFTER_CLOSING_WORKFLOW, PURCHASE_WORKFLOW } from '../../workflows/contract.ts';
import { NEEDS_ATTENTION, REASON, TRANSACTION_ID } from '../../workflows/search-attributes.ts';
import { freePort } from '../../src/dev/ports.ts';
import { TEST_NAMESPACES } from '../support/world/services.ts';
import { until } from '../support/time/until.ts';
import { EngineUnavailable } from '../../src/domain/outcome.ts';

const temporal = connectClient({ address: inject('temporalAddress'), namespace: TEST_NAMESPACES[0] });
const { workflow } = temporal.client;
const states = createWorkflowStates(temporal);
const started: string[] = [];
afterAll(async () => {
  await Promise.all(
    started.map((id) =>
      workflow
        .getHandle(id)
        .terminate('a test')
        .catch(() => undefined),
    ),
  );
  await temporal.close();
});

const newId = (): string => `txn-${randomUUID()}`;

/** Open forever: no worker polls this queue. */
async function start(workflowId: string, type = PURCHASE_WORKFLOW, about = workflowId): Promise<string> {
  await workflow.start(type, {
    workflowId,
    taskQueue: 'no-worker',
    typedSearchAttributes: new TypedSearchAttributes([
      { key: TRANSACTION_ID, value: about },
      { key: NEEDS_ATTENTION, value: true },
      { key: REASON, value: 'SUPPLIER_OUTCOME_UNKNOWN' },
    ]),
  });
  started.push(workflowId);
  return workflowId;
}

const startMany = (count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => start(newId())));

describe('findUncarried', () => {
  // A few are described individually; for many, the open ones are listed first.
  it.each([3, 80])('names workflows that are gone or never existed, among %i open ones', async (open) => {
    const ids = await startMany(open);
    const funding = await start(newId(), FUND_WALLET_WORKFLOW);
    const gone = await start(newId());
    await workflow.getHandle(gone).terminate('a test');
    const never = newId();
    // The index used for a long list may still call a workflow open that has just been terminated.
    const found = await until(
      () => states.findUncarried([...ids, funding, gone, never]),
      (uncarried) => uncarried.has(gone),
      { what: 'the index lists them as closed' },
    );
    expect(found).toEqual(new Set([gone, never]));
  });

  it('does not confuse another workflow of the purchase with the purchase’s own', async () => {
    const id = newId();
    await start(`after-${id}`, AFTER_CLOSING_WORKFLOW, id);
    expect(await states.findUncarried([id])).toEqual(new Set([id]));
  });

  it('reports that Temporal could not be reached', async () => {
    const away = connectClient({ address: `127.0.0.1:${await freePort()}`, namespace: TEST_NAMESPACES[0] });
    const asked = createWorkflowStates(away).findUncarried([newId()]);
    await expect(asked).rejects.toBeInstanceOf(EngineUnavailable);
    await away.close();
  });
});

describe('ofTransaction', () => {
  it('lists each workflow of a purchase, the newest first, and its own at once', async () => {
    const id = await start(newId());
    expect(await states.ofTransaction(id)).toMatchObject([
      {
        workflowId: id,
        type: PURCHASE_WORKFLOW,
        status: 'RUNNING',
        closedAt: null,
        needsAttention: true,
        reason: 'SUPPLIER_OUTCOME_UNKNOWN',
      },
    ]);
    await start(`after-${id}`, AFTER_CLOSING_WORKFLOW, id);
    await workflow.getHandle(id).terminate('a test');
    const both = await until(
      () => states.ofTransaction(id),
      (found) => found.length === 2,
      { what: 'both are in the index' },
    );
    expect(both.map(({ workflowId, status }) => [workflowId, status])).toEqual([
      [`after-${id}`, 'RUNNING'],
      [id, 'TERMINATED'],
    ]);
  });

  it('escapes a quote in the query', async () => {
    expect(await states.ofTransaction(`none' OR WorkflowType = 'purchase`)).toEqual([]);
  });
});
