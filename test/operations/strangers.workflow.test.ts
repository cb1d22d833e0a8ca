// A stranger who reaches Temporal starts workflows by hand, sends updates, schedules activities with false input, and takes tasks from our
// workers. Nothing moves, and an alarm is raised.
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { runWorker } from '../../src/cli/processes/worker.ts';
import { makeId } from '../../src/domain/ids.ts';
import { ensureWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import { newTransactionId } from '../../src/platform/idempotency/transaction-id.ts';
import type { FundingInput } from '../../src/payments/rules.ts';
import { QUEUE_NAMES } from '../../src/platform/temporal/workers.ts';
import { connectClient } from '../../src/platform/temporal/connect.ts';
import { createWorkflowStates } from '../../src/platform/temporal/workflow-states.ts';
import { findStuck } from '../../src/operations/stuck.ts';
import { stuckLimits } from '../../src/operations/stuck-rules.ts';
import { GATEWAY_QUEUE, CHECK_SIGNAL, ORDERS_QUEUE, SUPPLIER_QUEUE } from '../../workflows/contract.ts';
import { findPurchaseRow, holdOf, newBuyer, untilClosed } from '../support/buyer.ts';
import { fundThroughGateway } from '../support/fundings.ts';
import { EVIDENCE, newOperator, REASON } from '../support/operator-actions.ts';
import { atGateway, chargeAt, clearGatewayFaults, gatewayFaults, untilStatus } from '../support/payments.ts';
import { alarms, createStranger } from '../support/stranger.ts';
import { until } from '../support/until.ts';
import {
  EARLY_ATTENTION_TIMINGS,
  SHORT_ANSWER_TIMINGS,
  RARE_CHECK_TIMINGS,
  startWorkflows,
  untilRow,
  type Order,
} from '../support/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows({ supplier: { activateAfterMs: null } });
const stranger = await createStranger(stack);
const operator = newOperator(stack);
afterEach(async () => {
  await stack.clearFaults();
  await clearGatewayFaults(stack);
});
const temporal = connectClient({
  address: stack.env['TEMPORAL_ADDRESS'] ?? '',
  namespace: stack.namespace,
});
const workflows = createWorkflowStates(temporal);
const VENDOR_QUEUES = { supplier: SUPPLIER_QUEUE, gateway: GATEWAY_QUEUE } as const;
afterAll(async () => {
  await temporal.close();
  await stranger.close();
});

/** Held, accepted by the supplier, and never answered. */
async function withUnknownOutcome(more: Partial<Order> = {}): Promise<string> {
  await stack.faults({ loseAnswer: 1 });
  const { transactionId } = await harness.purchase({
    account: buyer.account,
    timings: RARE_CHECK_TIMINGS,
    ...more,
  });
  await stack.clearFaults();
  return transactionId;
}

/** Opened at the gateway, not paid. */
const unpaid = async (): Promise<string> =>
  (await harness.purchase({ account: buyer.account, paidBy: 'CARD', timings: RARE_CHECK_TIMINGS }))
    .transactionId;

async function delivered(): Promise<string> {
  const { transactionId } = await harness.purchase({ account: buyer.account });
  await untilStatus(stack, transactionId, 'SUCCESS');
  await harness.result(transactionId);
  return transactionId;
}

/** Runs an attack that must raise an alarm of this kind and leave the wallet as it is. */
async function expectAlarm<T>(what: string, attack: () => Promise<T>): Promise<T> {
  const raised = () => alarms(stack.workerAdminUrl(), what);
  const before = { balance: await buyer.balanceMinor(), alarms: await raised() };
  const result = await attack();
  expect(await buyer.balanceMinor()).toBe(before.balance);
  expect(await raised()).toBeGreaterThan(before.alarms);
  return result;
}

const rowsAbout = async (transactionId: string): Promise<number> => {
  const tables = ['purchases', 'fundings', 'payments', 'operator_actions', 'ledger_transactions'] as const;
  const counts = tables.map((table) =>
    stack.owner
      .selectFrom(table as 'payments')
      .select(({ fn }) => fn.countAll<bigint>().as('count'))
      .where('transaction_id', '=', transactionId)
      .executeTakeFirstOrThrow(),
  );
  return (await Promise.all(counts)).reduce((sum, { count }) => sum + Number(count), 0);
};

/** As the API would send it. */
const requestFor = (transactionId: string, action: string, more: object = {}) => {
  const actionId = makeId('action', randomBytes(16).toString('hex'));
  return {
    actionId,
    actionKey: actionId,
    transactionId,
    action,
    by: 'ada',
    reason: REASON,
    evidence: EVIDENCE,
    ...more,
  };
};
const NOT_ASKED = { outcome: 'refused', code: 'NOT_ASKED' };

describe('a workflow that is started by hand', () => {
  it('does not buy at a price of its own', async () => {
    const input = harness.inputFor({ account: buyer.account, priceMinor: '1' });
    const ended = await expectAlarm('purchase', () => runPurchase(input));
    expect(ended).toEqual({ status: 'FAILED', reason: 'NOT_VERIFIED' });
    expect(await rowsAbout(input.transactionId)).toBe(0);
    expect(await stack.supplierOrders(input.transactionId)).toEqual([]);
  });

  it('does not buy with an input that our API signed for another price', async () => {
    const { input } = await harness.purchase({ account: buyer.account });
    const { input: sent } = await signedInputOf(input.transactionId);
    const cheap = { ...sent, transactionId: newTransactionId(), quote: { ...input.quote, priceMinor: '1' } };
    const ended = await expectAlarm('purchase', () => runPurchase(cheap));
    expect(ended).toMatchObject({ reason: 'NOT_VERIFIED' });
    expect(await rowsAbout(cheap.transactionId)).toBe(0);
  });

  it('does not open a purchase that was refused, even if it is signed and the wallet has the money by now', async () => {
    const poor = await newBuyer(stack, { fundsMinor: 0n });
    const { transactionId, answer } = await harness.purchase({ account: poor.account });
    expect(answer).toMatchObject({ status: 'REFUSED', refusal: { reason: 'INSUFFICIENT_BALANCE' } });
    const { input } = await signedInputOf(transactionId);
    const funds = { accountId: poor.account.accountId, amount: { amountMinor: 10_000n, currency: 'USD' } };
    await ensureWallet(stack.world, poor.account.accountId, 'USD');
    await fundWallet(stack.world, { ...funds, operationKey: `fund:${transactionId}`, reason: 'a test' });
    const raised = () => alarms(stack.workerAdminUrl(), 'purchase');
    const before = await raised();
    let sent = 0;
    // A second run of our own step is no attack: only a start some time after the refusal is.
    await until(
      async () => {
        sent += 1;
        const workflowId = sent === 1 ? transactionId : `${transactionId}-${sent}`;
        expect(await (await stranger.start('purchase', workflowId, input)).result()).toEqual({
          status: 'FAILED',
          reason: 'INSUFFICIENT_BALANCE',
        });
        return raised();
      },
      (count) => count > before,
      { what: 'the alarm' },
    );
    expect(await poor.balanceMinor()).toBe(10_000n);
    expect(await rowsAbout(transactionId)).toBe(0);
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
  });

  it('does not credit a wallet with more than was charged', async () => {
    const { transactionId, timings, requestId } = harness.inputFor({ account: buyer.account });
    const input: FundingInput = {
      transactionId,
      accountId: buyer.account.accountId,
      paymentMethod: 'CARD',
      amountMinor: '100000000',
      currency: 'USD',
      charge: { amountMinor: '230', currency: 'USD', rateIds: [] },
      requestId,
      timings: { ...timings, ...RARE_CHECK_TIMINGS },
    };
    const ended = await expectAlarm('funding', async () => {
      const handle = await stranger.start('fundWallet', transactionId, input);
      const run = handle.result();
      // If it opens a payment, that payment is paid.
      const hasEnded = run.then(() => true);
      await until(
        async () => (await pay(transactionId)) || Promise.race([hasEnded, Promise.resolve(false)]),
        (isOver) => isOver,
        { what: 'an end' },
      );
      return run;
    });
    expect(ended).toEqual({ status: 'FAILED', reason: 'NOT_VERIFIED' });
    expect(await rowsAbout(transactionId)).toBe(0);
  });

  it('does not deliver what its row says is unpaid, whatever its input says', async () => {
    const transactionId = await unpaid();
    await stack.temporal.workflow.getHandle(transactionId).terminate('a stranger');
    const fromWallet = harness.inputFor({
      account: buyer.account,
      timings: RARE_CHECK_TIMINGS,
      priceMinor: '1',
    });
    await expectAlarm('purchase', async () => {
      await stranger.start('purchase', transactionId, { ...fromWallet, transactionId });
      await until(
        () => harness.isParked(transactionId),
        (isParked) => isParked,
        { what: 'a workflow that waits' },
      );
    });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({
      status: 'PENDING',
      order_attempts: 0,
    });
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
    await stack.temporal.workflow.getHandle(transactionId).terminate('the test is over');
  });

  it.each([
    ['an account', { accountId: 'acc-other' }],
    ['an amount', { amountMinor: '100000000' }],
  ])('does not fund a wallet with %s that is not in its row', async (_what, madeUp) => {
    const { transactionId } = await fundThroughGateway(stack, buyer.account, { amount: 5, method: 'CARD' });
    const { input } = await signedInputOf(transactionId);
    await stack.temporal.workflow.getHandle(transactionId).terminate('a stranger');
    await expectAlarm('funding', async () => {
      await stranger.start('fundWallet', transactionId, { ...input, ...madeUp });
      await until(
        () => harness.isParked(transactionId),
        (isParked) => isParked,
        { what: 'a workflow that waits' },
      );
    });
    await stack.temporal.workflow.getHandle(transactionId).terminate('the test is over');
  });

  it('does not close early what can still be paid', async () => {
    const transactionId = await unpaid();
    await expectAlarm('step', () =>
      stranger.schedule(ORDERS_QUEUE, 'closeUnpaid', transactionId, 'purchase', 'PAYMENT_EXPIRED'),
    );
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PENDING' });
    await atGateway(stack, transactionId, 'pay');
    await untilStatus(stack, transactionId, 'SUCCESS');
  });
});

describe('an operator action that is sent by hand', () => {
  it('does not mark a payment as paid', async () => {
    const transactionId = await unpaid();
    const rows = await rowsAbout(transactionId);
    const request = requestFor(transactionId, 'mark-paid');
    expect(
      await expectAlarm('action', () => stranger.update(transactionId, 'action', request)),
    ).toMatchObject(NOT_ASKED);
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PENDING' });
    expect(await rowsAbout(transactionId)).toBe(rows);
    // The purchase goes on.
    await atGateway(stack, transactionId, 'pay');
    await untilStatus(stack, transactionId, 'SUCCESS');
  });

  it('raises an alarm even when the state does not allow it; a recorded action raises none', async () => {
    const transactionId = await withUnknownOutcome();
    const request = requestFor(transactionId, 'mark-paid');
    const refusal = await expectAlarm('action', () => stranger.update(transactionId, 'action', request));
    expect(refusal).toContain('Workflow Update failed');
    expect(await operator.act(transactionId, 'check-supplier')).toMatchObject({ did: 'delivered' });
    await untilStatus(stack, transactionId, 'SUCCESS');
    const [asked] = await operator.listFor(transactionId);
    const other = await withUnknownOutcome();
    const before = await alarms(stack.workerAdminUrl(), 'action');
    expect(await operator.act(other, 'check-gateway')).toMatchObject({ code: 'DOES_NOT_FIT' });
    const onRecord = requestFor(other, 'mark-paid', {
      actionId: (await operator.listFor(other))[0]?.actionId,
    });
    await stranger.update(other, 'action', onRecord);
    expect(await alarms(stack.workerAdminUrl(), 'action')).toBe(before);
    // Recorded for another purchase.
    const elsewhere = requestFor(other, 'mark-paid', { actionId: asked?.actionId });
    await expectAlarm('action', () => stranger.update(other, 'action', elsewhere));
    expect(await operator.act(other, 'check-supplier')).toMatchObject({ did: 'delivered' });
    await untilStatus(stack, other, 'SUCCESS');
  });

  it.each(['credit-wallet', 'cancel', 'deliver-other'])(
    'has no effect as %s during delivery',
    async (action) => {
      const transactionId = await withUnknownOutcome();
      const request = requestFor(transactionId, action);
      expect(
        await expectAlarm('action', () => stranger.update(transactionId, 'action', request)),
      ).toMatchObject(NOT_ASKED);
      expect(await holdOf(stack, transactionId)).toBe('HELD');
      expect(await operator.act(transactionId, 'check-supplier')).toMatchObject({ did: 'delivered' });
      await untilStatus(stack, transactionId, 'SUCCESS');
    },
  );

  it.each(['credit-wallet', 'refund-to-source'])(
    'has no effect as %s after the purchase is closed',
    async (action) => {
      const transactionId =
        action === 'credit-wallet' ? await delivered() : (await paidByCard(await unpaid())).transactionId;
      const rows = await rowsAbout(transactionId);
      const workflowId = `after-${transactionId}`;
      const timings = { refundCheckFirstMs: 100, refundCheckMaxMs: 400 };
      const after = await stranger.start('afterClosing', workflowId, {
        transactionId,
        purpose: 'purchase',
        isThroughGateway: true,
        timings,
      });
      const request = requestFor(transactionId, action, { goodwill: true });
      expect(await expectAlarm('action', () => stranger.update(workflowId, 'action', request))).toMatchObject(
        NOT_ASKED,
      );
      await after.result();
      expect(await rowsAbout(transactionId)).toBe(rows);
    },
  );

  it('does not act on another purchase than the recorded one', async () => {
    const one = await withUnknownOutcome();
    const other = await withUnknownOutcome();
    // Recorded, while its workflow cannot be reached.
    await stack.stopWorker();
    const asked = operator.act(one, 'cancel');
    const row = await until(
      async () => (await operator.listFor(one))[0],
      (found) => found !== undefined,
      { what: 'an action on record' },
    );
    const request = requestFor(other, 'cancel', { actionId: row?.actionId });
    const sent = stranger.update(other, 'action', request);
    await stack.startWorker();
    expect(await sent).toMatchObject(NOT_ASKED);
    expect(await alarms(stack.workerAdminUrl(), 'action')).toBe(1);
    expect(await asked).toMatchObject({ outcome: 'done' });
    expect(await holdOf(stack, other)).toBe('HELD');
    expect(await operator.act(other, 'check-supplier')).toMatchObject({ did: 'delivered' });
    await untilStatus(stack, other, 'SUCCESS');
  });
});

describe('an activity that is scheduled by hand', () => {
  it('does not return money: it runs only inside our own workflows', async () => {
    const transactionId = await withUnknownOutcome();
    const refusal = { reason: 'OUT_OF_STOCK', detail: 'a lie' };
    const answer = await expectAlarm('step', () =>
      stranger.schedule(ORDERS_QUEUE, 'failPurchase', transactionId, refusal),
    );
    expect(answer).toBe('failPurchase runs only as a local activity');
    expect(await holdOf(stack, transactionId)).toBe('HELD');
    expect(await operator.act(transactionId, 'check-supplier')).toMatchObject({ did: 'delivered' });
    await untilStatus(stack, transactionId, 'SUCCESS');
  });

  it('does not open an unknown payment, and charges what our rows say', async () => {
    const made = {
      purpose: 'funding',
      accountId: buyer.account.accountId,
      method: 'CARD',
      charge: { amountMinor: '230', currency: 'USD', rateIds: [] },
      priceMinor: '100000000',
      priceCurrency: 'USD',
      expiresAtMs: Date.now() + 600_000,
    };
    const transactionId = newTransactionId();
    const answer = await expectAlarm('payment', async () => {
      const opened = await stranger.schedule(GATEWAY_QUEUE, 'openPayment', { ...made, transactionId }, 0);
      if (await pay(transactionId))
        await stranger.schedule(GATEWAY_QUEUE, 'checkPayment', transactionId, 'funding');
      return opened;
    });
    expect(answer).toMatchObject({ outcome: 'refused' });
    expect(await rowsAbout(transactionId)).toBe(0);
    await gatewayFaults(stack, { error: 1 });
    const own = await unpaid();
    await clearGatewayFaults(stack);
    await stranger.schedule(GATEWAY_QUEUE, 'openPayment', { ...made, transactionId: own }, 0);
    const rows = await stack.owner
      .selectFrom('payments')
      .selectAll()
      .where('transaction_id', '=', own)
      .execute();
    expect(rows).toMatchObject([{ purpose: 'purchase', charge_minor: '230', price_minor: '230' }]);
    expect(await operator.act(own, 'cancel')).toMatchObject({ outcome: 'done' });
  });

  it.each([
    ['withdrawForAction', [true, 0]],
    ['withdrawOrder', []],
  ] as const)('does not cancel an order without a recorded reason: %s', async (step, more) => {
    const transactionId = await withUnknownOutcome({
      timings: { ...RARE_CHECK_TIMINGS, inFlightGraceMs: 300 },
    });
    await expectAlarm('withdrawal', () => stranger.schedule(SUPPLIER_QUEUE, step, transactionId, ...more));
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ withdrawing_since: null });
    const [order] = await stack.supplierOrders(transactionId);
    expect(order?.esims.map(({ esimStatus }) => esimStatus)).toEqual(['GOT_RESOURCE']);
    expect(await operator.act(transactionId, 'check-supplier')).toMatchObject({ did: 'delivered' });
    await untilStatus(stack, transactionId, 'SUCCESS');
  });

  it('does not give up an order that may still arrive, however short a time it names', async () => {
    await stack.faults({ loseAnswer: 1, allocationMs: 60_000 });
    const timings = { ...RARE_CHECK_TIMINGS, inFlightGraceMs: 600_000 };
    const { transactionId } = await harness.purchase({ account: buyer.account, timings });
    await stack.faults({ refusalsFirst: true, outOfStock: { next: 1 } });
    const request = { transactionId, budgetMs: 0, checkFirstMs: 0, checkMaxMs: 0, inFlightGraceMs: 0 };
    expect(await stranger.schedule(SUPPLIER_QUEUE, 'deliver', request)).toMatchObject({
      outcome: 'refused',
      afterDoubt: true,
    });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({
      status: 'PROCESSING',
      refused_attempts: null,
    });
  });
});

describe('a task that a stranger takes from our worker', () => {
  it('does not return money for a refusal that the supplier never gave', async () => {
    const refusal = { reason: 'OUT_OF_STOCK', detail: 'a lie' };
    const lie = { outcome: 'refused', refusal, catalogueIsOld: false, afterDoubt: false, orderAttempts: 1 };
    const transactionId = await withLiesOn(
      'supplier',
      { deliver: () => Promise.resolve(lie) },
      async (raised) => {
        await stack.faults({ loseAnswer: 1 });
        const asked = await harness.purchase({ account: buyer.account, timings: SHORT_ANSWER_TIMINGS });
        await untilRaised(() => raised('refusal'));
        // PROCESSING, or no answer in time on a busy machine.
        expect(asked.answer).not.toMatchObject({ status: 'REFUSED' });
        expect(await holdOf(stack, asked.transactionId)).toBe('HELD');
        await stack.clearFaults();
        return asked.transactionId;
      },
    );
    expect(await untilClosed(stack, transactionId)).toMatchObject({ status: 'SUCCESS' });
  });

  it('does not lead to an order without a payment; the purchase is delivered once it is paid', async () => {
    const timings = { ...EARLY_ATTENTION_TIMINGS, checkoutMs: 600_000 };
    const order = { account: buyer.account, paidBy: 'CARD', timings } as const;
    const { transactionId } = await harness.purchase(order);
    const before = { balance: await buyer.balanceMinor(), rows: await rowsAbout(transactionId) };
    const lie = { state: 'paid', isKnown: true };
    await withLiesOn('gateway', { checkPayment: () => Promise.resolve(lie) }, async (raised) => {
      await stack.temporal.workflow.getHandle(transactionId).signal(CHECK_SIGNAL);
      await untilRaised(() => raised('delivery'));
      await untilRow(stack, transactionId, (row) => row.attention_reason !== null, 'on the stuck list');
      expect(await stuckAs(transactionId)).toEqual(['paid-not-delivered: DELIVERY_STEP_FAILED']);
    });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({
      status: 'PENDING',
      order_attempts: 0,
    });
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
    expect(await holdOf(stack, transactionId)).toBeUndefined();
    expect(await buyer.balanceMinor()).toBe(before.balance);
    expect(await rowsAbout(transactionId)).toBe(before.rows);
    await atGateway(stack, transactionId, 'pay');
    await untilStatus(stack, transactionId, 'SUCCESS');
    expect(await holdOf(stack, transactionId)).toBe('POSTED');
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  });

  it('does not charge for a delivery that never happened; a replay from the stuck list delivers it', async () => {
    const lie = { outcome: 'delivered', iccid: '8900000000000000001' };
    const transactionId = await withLiesOn('supplier', { deliver: () => Promise.resolve(lie) }, async () => {
      await stack.faults({ loseAnswer: 1 });
      const asked = await harness.purchase({ account: buyer.account, timings: SHORT_ANSWER_TIMINGS });
      expect(await harness.result(asked.transactionId)).toMatchObject({ status: 'SUCCESS' });
      await stack.clearFaults();
      return asked.transactionId;
    });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({
      status: 'PROCESSING',
      closed_at: null,
    });
    expect(await holdOf(stack, transactionId)).toBe('HELD');
    const { body } = await buyer.read(`/api/esim/transactions/${transactionId}`);
    expect(body.status).toBe('PROCESSING');
    expect(await stuckAs(transactionId)).toEqual(['workflow-gone: PROCESSING']);
    await operator.replay(transactionId, { by: 'ada', reason: REASON });
    await untilStatus(stack, transactionId, 'SUCCESS');
    expect(await holdOf(stack, transactionId)).toBe('POSTED');
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
    expect(await stuckAs(transactionId)).toEqual([]);
  });

  it('does not close a payment early, even if it answers that the payment is over', async () => {
    const timings = { ...RARE_CHECK_TIMINGS, checkoutMs: 600_000 };
    const order = { account: buyer.account, paidBy: 'CARD', timings } as const;
    const { transactionId } = await harness.purchase(order);
    const { input } = await signedInputOf(transactionId);
    await stack.temporal.workflow.getHandle(transactionId).terminate('a stranger');
    const over = { outcome: 'open', reference: transactionId, expiresAtMs: Date.now() - 60_000 };
    const lies = {
      openPayment: () => Promise.resolve(over),
      checkPayment: () => Promise.resolve({ state: 'waiting', isKnown: true }),
    };
    await withLiesOn('gateway', lies, async (raised) => {
      await stranger.start('purchase', transactionId, input);
      await untilRaised(() => raised('payment'));
    });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PENDING' });
    await atGateway(stack, transactionId, 'pay');
    await untilStatus(stack, transactionId, 'SUCCESS');
    expect(await holdOf(stack, transactionId)).toBe('POSTED');
    expect((await chargeAt(stack, transactionId)).refunds).toEqual([]);
  });
});

/** Our worker serves every queue but one. There a stranger answers until `scene` has ended; `raised` counts our worker's alarms. */
async function withLiesOn<T>(
  queue: keyof typeof VENDOR_QUEUES,
  lies: object,
  scene: (raised: (what: string) => Promise<number>) => Promise<T>,
): Promise<T> {
  await stack.stopWorker();
  const others = QUEUE_NAMES.filter((name) => name !== queue);
  const worker = await runWorker({ ...stack.context, processName: 'worker' }, others);
  const leave = await stranger.takeTasks(VENDOR_QUEUES[queue], lies);
  try {
    return await scene((what) => alarms(worker.adminUrl, what));
  } finally {
    await leave();
    await worker.stop();
    await stack.startWorker();
  }
}

const untilRaised = (raised: () => Promise<number>) =>
  until(raised, (count) => count > 0, { what: 'the alarm' });

/** As the stuck list shows it two minutes from now. */
async function stuckAs(transactionId: string): Promise<string[]> {
  const clock = { now: () => new Date(Date.now() + 120_000) };
  const { items } = await findStuck(
    { db: stack.world, workflows, clock, limits: stuckLimits(EARLY_ATTENTION_TIMINGS) },
    { transactionId },
  );
  return items.map((item) => `${item.class}: ${item.reason}`);
}

const runPurchase = async (input: { readonly transactionId: string }): Promise<unknown> =>
  (await stranger.start('purchase', input.transactionId, input)).result();

/** Whether there was a charge to pay. */
async function pay(transactionId: string): Promise<boolean> {
  return atGateway(stack, transactionId, 'pay').then(
    () => true,
    () => false,
  );
}

async function paidByCard(transactionId: string): Promise<{ transactionId: string }> {
  await atGateway(stack, transactionId, 'pay');
  await untilStatus(stack, transactionId, 'SUCCESS');
  await harness.result(transactionId);
  return { transactionId };
}

/** Everything that a reader of Temporal can see. */
async function signedInputOf(transactionId: string): Promise<{ input: object }> {
  const { events } = await stack.temporal.workflow.getHandle(transactionId).fetchHistory();
  const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return { input: JSON.parse(Buffer.from(payload?.data ?? []).toString()) as object };
}
