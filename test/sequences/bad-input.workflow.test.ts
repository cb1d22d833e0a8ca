// What people do by hand in the Temporal UI or in SQL, at every stage of a purchase, and what a supplier has
// never said before: a clear outcome, a person told where one should know, and nothing ordered, booked or
// refunded twice.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { ORDERS_QUEUE, PURCHASE_WORKFLOW } from '../../workflows/contract.ts';
import { findPurchaseRow, holdOf, timelineOf, untilClosed } from '../support/people/buyer.ts';
import { commander, hereFinance, jsonOf } from '../support/people/finance.ts';
import { movedBy } from '../support/money/fundings.ts';
import {
  atGateway,
  buyThroughGateway,
  chargeAt,
  confirm,
  gatewayFaults,
  untilStatus,
} from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import {
  expectEndsSoon,
  failedTasks,
  loseWorkflow,
  LONG_CHECKOUT,
  paidPurchase,
  resetWorkflow,
  startSequences,
  untilOrdered,
} from './support.ts';

const sequences = await startSequences({ ...LONG_CHECKOUT, attentionAfterMs: 4_000 });
const { stack, buyer, operator } = sequences;

/** Each stage, and how the purchase goes on from there once it can. */
const STAGES = {
  'awaits its payment': {
    begin: async () => {
      await gatewayFaults(stack, { webhooks: 'drop' });
      return (await buyThroughGateway(stack, buyer.account)).transactionId;
    },
    goOn: async (id: string) => {
      await atGateway(stack, id, 'pay');
      await confirm(stack, buyer.account, id);
    },
    ends: 'SUCCESS',
  },
  'is paid and not ordered': {
    begin: async () => {
      await stack.faults({ busy: 1 });
      return paidPurchase(sequences);
    },
    goOn: () => stack.clearFaults(),
    ends: 'SUCCESS',
  },
  'is paid from the wallet and not ordered': {
    begin: async () => {
      await stack.faults({ busy: 1 });
      return (await buyer.buy('SIM-OK')).body.transactionId;
    },
    goOn: () => stack.clearFaults(),
    ends: 'SUCCESS',
  },
  'is ordered and not allocated': {
    begin: async () => {
      await stack.faults({ neverAllocate: 1 });
      const id = await paidPurchase(sequences);
      await untilOrdered(stack, id);
      return id;
    },
    goOn: () => stack.clearFaults(),
    ends: 'SUCCESS',
  },
  'is refused, and its refund is under way': {
    begin: async () => {
      await stack.faults({ outOfStock: 1 });
      await gatewayFaults(stack, { webhooks: 'drop', refund: 'pending' });
      const { transactionId } = await buyThroughGateway(stack, buyer.account);
      await atGateway(stack, transactionId, 'pay');
      await confirm(stack, buyer.account, transactionId);
      await untilStatus(stack, transactionId, 'FAILED');
      await until(
        () => chargeAt(stack, transactionId),
        ({ refunds }) => refunds.length === 1,
        { what: 'the refund at the gateway' },
      );
      return transactionId;
    },
    goOn: async (id: string) => {
      const { refunds } = await chargeAt(stack, id);
      await fetch(`${stack.gatewayControlUrl}/refunds/${refunds[0]!.id}/process`, { method: 'POST' });
    },
    ends: 'FAILED',
  },
} as const;
type StageName = keyof typeof STAGES;
const STAGE_NAMES = Object.keys(STAGES) as StageName[];

/** It ends as it should, ordered, booked and refunded at most once. */
async function expectEndsOnce(stage: StageName, id: string): Promise<void> {
  await expectEndsSoon(stack, id, STAGES[stage].ends);
  await until(
    async () => (await stack.temporal.workflow.getHandle(id).describe()).status.name,
    (status) => status !== 'RUNNING',
    { what: `the workflow of ${id} has ended` },
  );
  const events = await timelineOf(stack, id);
  for (const what of ['payment-received', 'delivered', 'failed'])
    expect(events.filter((one) => one === what).length).toBeLessThanOrEqual(1);
  const refunds = STAGES[stage].ends === 'SUCCESS' ? 0 : 1;
  const row = await findPurchaseRow(stack, id);
  if (row?.payment_method !== 'WALLET') expect((await chargeAt(stack, id)).refunds).toHaveLength(refunds);
  expect(await holdOf(stack, id)).toBe(refunds === 0 ? 'POSTED' : 'VOIDED');
}

describe.each(STAGE_NAMES)('a purchase that %s', (stage) => {
  const { begin, goOn } = STAGES[stage];

  it('goes on where it is after a reset in the Temporal UI', async () => {
    const id = await begin();
    await resetWorkflow(stack, id);
    await goOn(id);
    await expectEndsOnce(stage, id);
  });

  it('goes on where it is when its lost workflow is started by hand with the same input', async () => {
    const id = await begin();
    const { events } = await stack.temporal.workflow.getHandle(id).fetchHistory();
    const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
    await loseWorkflow(stack, id);
    await stack.temporal.workflow.start(PURCHASE_WORKFLOW, {
      workflowId: id,
      taskQueue: ORDERS_QUEUE,
      args: [JSON.parse(Buffer.from(input!).toString('utf8'))],
    });
    await goOn(id);
    await expectEndsOnce(stage, id);
  });

  it('goes on after replay when its workflow is lost', async () => {
    const id = await begin();
    await loseWorkflow(stack, id);
    await goOn(id);
    const why = { more: ['--reason', 'a test puts it right'] };
    const replayed = await hereFinance((await commander(stack)).env, `replay ${id} --yes --json`, why);
    expect(replayed.code, replayed.stderr).toBe(0);
    await expectEndsSoon(stack, id, STAGES[stage].ends);
    expect((await stack.supplierOrders(id)).length).toBeLessThanOrEqual(1);
  });

  it('is not disturbed by signals and updates that say nothing', async () => {
    const id = await begin();
    const handle = stack.temporal.workflow.getHandle(id);
    const names = await handlersOf(id);
    for (const name of [...names.signals, 'paid', '__proto__'])
      for (const args of [[], [null], [{ actionId: 7 }], ['x'.repeat(1_000)]])
        await handle.signal(name, ...args);
    await Promise.allSettled(
      [...names.updates, 'paid'].map((name) =>
        stack.temporal.withDeadline(Date.now() + 1_500, () => handle.executeUpdate(name, { args: [{}] })),
      ),
    );
    await goOn(id);
    await expectEndsOnce(stage, id);
    expect(await failedTasks(stack, id)).toBe(0);
  });
});

/** What a workflow handles, as the Temporal UI would show it. */
async function handlersOf(id: string): Promise<{ signals: string[]; updates: string[] }> {
  type Definitions = readonly { name?: string }[];
  const metadata = await stack.temporal.workflow
    .getHandle(id)
    .query<{ definition: { signalDefinitions: Definitions; updateDefinitions: Definitions } }>(
      '__temporal_workflow_metadata',
    );
  const namesOf = (all: Definitions): string[] => all.flatMap(({ name }) => (name ? [name] : []));
  const { signalDefinitions, updateDefinitions } = metadata.definition;
  return { signals: namesOf(signalDefinitions), updates: namesOf(updateDefinitions) };
}

describe('a supplier that answers a state which it never had before', () => {
  const say = async (transactionId: string, esimStatus: string | null): Promise<void> => {
    const [order] = await untilOrdered(stack, transactionId);
    await fetch(`${stack.supplierControlUrl}/esims/${order!.esims[0]!.iccid}`, {
      method: 'PUT',
      body: JSON.stringify({ esimStatus }),
    });
  };

  /** How often the worker has said so. */
  const alarms = async (): Promise<number> => {
    const text = await (await fetch(`${stack.workerAdminUrl()}/metrics`)).text();
    return Number(/unknown-status"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };

  it.each(['CARD', 'WALLET'] as const)(
    'delivers a purchase by %s once, and raises an alarm',
    async (method) => {
      const before = await alarms();
      await stack.faults({ neverAllocate: 1 });
      const id =
        method === 'CARD' ? await paidPurchase(sequences) : (await buyer.buy('SIM-OK')).body.transactionId;
      await say(id, 'HALF_READY');
      await stack.clearFaults();
      await until(alarms, (count) => count > before, { what: 'an alarm' });
      await say(id, null);
      await expectEndsSoon(stack, id, 'SUCCESS');
      expect((await stack.supplierOrders(id)).map(({ count }) => count)).toEqual([1]);
      if (method === 'CARD') expect((await chargeAt(stack, id)).refunds).toEqual([]);
    },
  );
});

describe('a row that was changed by hand', () => {
  const untilStuck = async (id: string) => {
    const { env } = await commander(stack);
    await until(
      async () => jsonOf(await hereFinance(env, 'stuck --json')) as { transactionId: string }[],
      (items) => items.some(({ transactionId }) => transactionId === id),
      { what: `${id} on the stuck list` },
    );
  };
  const setStatus = (id: string, status: string) =>
    sql`update purchases set status = ${status}, closed_at = null where transaction_id = ${id}`.execute(
      stack.owner,
    );

  it('to PROCESSING without any money orders nothing, and is on the stuck list', async () => {
    const { transactionId } = await buyThroughGateway(stack, buyer.account);
    await setStatus(transactionId, 'PROCESSING');
    await confirm(stack, buyer.account, transactionId);
    await operator.act(transactionId, 'retry-delivery');
    await untilStuck(transactionId);
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
    expect(await findPurchaseRow(stack, transactionId)).not.toMatchObject({ status: 'SUCCESS' });
    expect(await movedBy(stack, transactionId)).toEqual({});
    await setStatus(transactionId, 'PENDING');
    await operator.act(transactionId, 'cancel');
    await untilClosed(stack, transactionId);
  });

  it.each(['PROCESSING', 'PENDING', 'FAILED'])(
    'from SUCCESS to %s is refused by our database',
    async (status) => {
      const { body } = await buyer.buy('SIM-OK');
      await untilStatus(stack, body.transactionId, 'SUCCESS');
      await expect(setStatus(body.transactionId, status)).rejects.toThrow(/closed purchase/);
    },
  );
});
