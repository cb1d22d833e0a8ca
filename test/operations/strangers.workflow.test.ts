// A stranger who reaches Temporal starts workflows by hand, sends signals, and schedules activities with
// false input. Nothing moves, and an alarm is raised where we are asked for something that is not in our
// rows. Tasks taken from our workers: strangers-tasks.workflow.test.ts.
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { OperatorAction } from '../../src/accounts/operators/action-table.ts';
import { makeId } from '../../src/domain/ids.ts';
import { ensureWallet, fundWallet } from '../../src/ledger/store/ledger.ts';
import { askForAction, nextAction } from '../../src/operations/store/actions.ts';
import { newTransactionId } from '../../src/platform/idempotency/identify-request.ts';
import type { FundingInput } from '../../src/payments/rules.ts';
import {
  gatewayQueue,
  ORDERS_QUEUE,
  supplierQueue,
  type CollectRequest,
  type DeliverRequest,
  performActions,
} from '../../workflows/contract.ts';
import { findPurchaseRow, holdOf, newBuyer } from '../support/people/buyer.ts';
import { fundThroughGateway } from '../support/money/fundings.ts';
import { EVIDENCE, newOperator, REASON } from '../support/people/operator-actions.ts';
import {
  atGateway,
  chargeAt,
  clearGatewayFaults,
  gatewayFaults,
  untilStatus,
} from '../support/money/payments.ts';
import { alarms, createStranger } from '../support/world/stranger.ts';
import { until } from '../support/time/until.ts';
import { RARE_CHECK_TIMINGS, startWorkflows } from '../support/world/workflow-harness.ts';
import { createScenes } from './strangers.support.ts';
import { forFile } from '../support/world/for-file.ts';

const { stack, harness, buyer } = await startWorkflows({
  supplier: { activateAfterMs: null },
  env: { SIMWAY_APPROVAL_LIMIT: 'USD=5.00' },
});
const {
  withUnknownOutcome,
  unpaid,
  delivered,
  expectAlarm,
  rowsAbout,
  ordersOf,
  signedInputOf,
  untilParked,
} = createScenes({ stack, harness, buyer });
const stranger = await forFile(createStranger(stack));
const operator = newOperator(stack);
afterEach(async () => {
  await stack.clearFaults();
  await clearGatewayFaults(stack);
});

/** A pace that a stranger would like: every wait is over at once. */
const AT_ONCE = {
  ...RARE_CHECK_TIMINGS,
  answerWithinMs: 0,
  attentionAfterMs: 0,
  checkFirstMs: 0,
  checkMaxMs: 0,
  slowCheckMs: 0,
  inFlightGraceMs: 0,
  openChargeForMs: 0,
  checkoutMs: 0,
  transferMs: 0,
  pollFirstMs: 0,
  pollMaxMs: 0,
};
const SUPPLIER_QUEUE = supplierQueue('esim-access');
const GATEWAY_QUEUE = gatewayQueue('paystack');
const DELIVERED_BY_CHECK = { did: 'delivered' };

/** As the API would put it on record. */
const requestFor = (transactionId: string, action: OperatorAction, more: object = {}) => {
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
const GIFT = { goodwill: true, amountMinor: '100', currency: 'USD' };

/** On record and open, while no workflow knows of it. */
async function askFor(transactionId: string, action: OperatorAction, more: object = {}): Promise<string> {
  const request = requestFor(transactionId, action, more);
  const { approvalLimits: limits } = stack.context.config.worlds.test;
  const asked = await askForAction(stack.world, request, { limits, now: new Date() });
  expect(asked).toMatchObject({ outcome: 'go' });
  return request.actionId;
}

const recordsOf = async (transactionId: string): Promise<string[]> =>
  (await operator.listFor(transactionId)).map(({ action, status }) => `${action} ${status}`);

/** Starts the workflow for what comes after closing, and signals it as our API does. */
async function signalAfterClosing(transactionId: string, arg: unknown): Promise<void> {
  const workflowId = `after-${transactionId}`;
  const timings = { refundCheckFirstMs: 100, refundCheckMaxMs: 400 };
  const input = { transactionId, purpose: 'purchase', isThroughGateway: true, timings };
  const after = await stranger.start('afterClosing', workflowId, input);
  await stranger.signal(workflowId, performActions.name, arg);
  await after.result();
}

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
    const sent = await signedInputOf(input.transactionId);
    const cheap = { ...sent, transactionId: newTransactionId(), quote: { ...input.quote, priceMinor: '1' } };
    const ended = await expectAlarm('purchase', () => runPurchase(cheap));
    expect(ended).toMatchObject({ reason: 'NOT_VERIFIED' });
    expect(await rowsAbout(cheap.transactionId)).toBe(0);
  });

  it('does not open a purchase that was refused, even if it is signed and the wallet has the money by now', async () => {
    const poor = await newBuyer(stack, { fundsMinor: 0n });
    const { transactionId, answer } = await harness.purchase({ account: poor.account });
    expect(answer).toMatchObject({ status: 'REFUSED', refusal: { reason: 'INSUFFICIENT_BALANCE' } });
    const input = await signedInputOf(transactionId);
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
      charge: { gateway: 'paystack', amountMinor: '230', currency: 'USD', rateIds: [] },
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
      await untilParked(transactionId);
    });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PENDING' });
    expect(await ordersOf(transactionId)).toMatchObject([{ state: 'planned', attempts: 0 }]);
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
    await stack.temporal.workflow.getHandle(transactionId).terminate('the test is over');
  });

  it.each([
    ['an account', { accountId: 'acc-other' }],
    ['an amount', { amountMinor: '100000000' }],
  ])('does not fund a wallet with %s that is not in its row', async (_what, madeUp) => {
    const { transactionId } = await fundThroughGateway(stack, buyer.account, { amount: 5, method: 'CARD' });
    const input = await signedInputOf(transactionId);
    await stack.temporal.workflow.getHandle(transactionId).terminate('a stranger');
    await expectAlarm('funding', async () => {
      await stranger.start('fundWallet', transactionId, { ...input, ...madeUp });
      await untilParked(transactionId);
    });
    await stack.temporal.workflow.getHandle(transactionId).terminate('the test is over');
  });
});

describe('a signal for operator actions that is sent by hand', () => {
  it.each(['mark-paid', 'cancel'] as const)('performs no %s on what waits for money', async (action) => {
    const transactionId = await unpaid();
    const rows = await rowsAbout(transactionId);
    await stranger.signal(transactionId, performActions.name, requestFor(transactionId, action));
    // Served after the signal.
    expect(await operator.act(transactionId, 'check-gateway')).toMatchObject({ outcome: 'done' });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PENDING' });
    expect(await recordsOf(transactionId)).toEqual(['check-gateway DONE']);
    expect(await rowsAbout(transactionId)).toBe(rows + 1);
    // The purchase goes on.
    await atGateway(stack, transactionId, 'pay');
    await untilStatus(stack, transactionId, 'SUCCESS');
  });

  it.each(['credit-wallet', 'cancel', 'deliver-other'] as const)(
    'performs no %s during delivery',
    async (action) => {
      const transactionId = await withUnknownOutcome();
      await stranger.signal(transactionId, performActions.name, requestFor(transactionId, action));
      expect(await operator.act(transactionId, 'check-supplier')).toMatchObject(DELIVERED_BY_CHECK);
      await untilStatus(stack, transactionId, 'SUCCESS');
      expect(await holdOf(stack, transactionId)).toBe('POSTED');
      expect(await ordersOf(transactionId)).toMatchObject([{ state: 'delivered' }]);
      expect(await recordsOf(transactionId)).toEqual(['check-supplier DONE']);
    },
  );

  it.each(['credit-wallet', 'refund-to-source'] as const)(
    'performs no %s after the purchase is closed',
    async (action) => {
      const isCredit = action === 'credit-wallet';
      const transactionId = isCredit ? await delivered() : await paidByCard(await unpaid());
      const before = { rows: await rowsAbout(transactionId), balance: await buyer.balanceMinor() };
      await signalAfterClosing(transactionId, requestFor(transactionId, action, GIFT));
      expect(await rowsAbout(transactionId)).toBe(before.rows);
      expect(await buyer.balanceMinor()).toBe(before.balance);
    },
  );

  it('performs nothing on another purchase than the recorded one', async () => {
    const one = await withUnknownOutcome();
    const other = await withUnknownOutcome();
    const actionId = await askFor(one, 'cancel');
    await stranger.signal(other, performActions.name, requestFor(other, 'cancel', { actionId }));
    expect(await operator.act(other, 'check-supplier')).toMatchObject(DELIVERED_BY_CHECK);
    await untilStatus(stack, other, 'SUCCESS');
    expect(await recordsOf(other)).toEqual(['check-supplier DONE']);
    expect(await recordsOf(one)).toEqual(['cancel ASKED']);
    expect(await holdOf(stack, one)).toBe('HELD');
  });

  it('hurries what an operator has asked for, by its row and once', async () => {
    const transactionId = await unpaid();
    await askFor(transactionId, 'cancel');
    const other = requestFor(transactionId, 'mark-paid');
    for (let time = 0; time < 3; time += 1)
      await stranger.signal(transactionId, performActions.name, other).catch(() => undefined);
    await untilStatus(stack, transactionId, 'FAILED');
    expect(await recordsOf(transactionId)).toEqual(['cancel DONE']);
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ reason: 'CANCELLED_BY_OPERATOR' });
  });

  it('does not stand in for the second person', async () => {
    const transactionId = await delivered({ priceMinor: '900' });
    const balance = await buyer.balanceMinor();
    const asked = await operator.act(transactionId, 'credit-wallet', {
      goodwill: true,
      amount: { amountMinor: 600n, currency: 'USD' },
    });
    expect(asked).toMatchObject({ outcome: 'waits-for-approval' });
    const actionId = 'actionId' in asked ? asked.actionId : '';
    const made = requestFor(transactionId, 'credit-wallet', { actionId, approvedBy: 'bayo' });
    await signalAfterClosing(transactionId, made);
    for (const queue of [SUPPLIER_QUEUE, GATEWAY_QUEUE])
      await expectAlarm('action', () => stranger.schedule(queue, 'performAction', actionId, made));
    expect(await recordsOf(transactionId)).toEqual(['credit-wallet WAITS_FOR_APPROVAL']);
    expect(await operator.approve(actionId, 'bayo')).toMatchObject({ outcome: 'done' });
    expect(await buyer.balanceMinor()).toBe(balance + 600n);
  });
});

describe('an activity that is scheduled by hand', () => {
  it.each([
    'openPurchase',
    'openFunding',
    'tryDelivering',
    'enqueueProcessingWebhook',
    'findVendors',
    'nextAction',
    'performAction',
  ])('does not run on the queue of our workflows: %s', async (step) => {
    const transactionId = await withUnknownOutcome();
    const actionId = await askFor(transactionId, 'cancel');
    const rows = await rowsAbout(transactionId);
    const args: Readonly<Record<string, unknown>> = {
      performAction: actionId,
      tryDelivering: { transactionId, timings: AT_ONCE },
    };
    const answer = await expectAlarm('step', () =>
      stranger.schedule(ORDERS_QUEUE, step, args[step] ?? transactionId),
    );
    expect(answer).toBe(`${step} runs only as a local activity`);
    expect(await holdOf(stack, transactionId)).toBe('HELD');
    expect(await recordsOf(transactionId)).toEqual(['cancel ASKED']);
    expect(await rowsAbout(transactionId)).toBe(rows);
  });

  it('performs no action that was not begun', async () => {
    const transactionId = await withUnknownOutcome();
    const [asked, madeUp] = [await askFor(transactionId, 'cancel'), requestFor(transactionId, 'cancel')];
    for (const queue of [SUPPLIER_QUEUE, GATEWAY_QUEUE]) {
      await expectAlarm('action', () => stranger.schedule(queue, 'performAction', asked));
      await expectAlarm('action', () => stranger.schedule(queue, 'performAction', madeUp.actionId, madeUp));
      // Begins it, and runs only as a local activity.
      expect(await stranger.schedule(queue, 'nextAction', transactionId)).toContain('not registered');
    }
    expect(await recordsOf(transactionId)).toEqual(['cancel ASKED']);
    expect(await holdOf(stack, transactionId)).toBe('HELD');
    expect(await ordersOf(transactionId)).toMatchObject([{ state: 'sent', withdrawing_since: null }]);
    const [order] = await stack.supplierOrders(transactionId);
    expect(order?.esims.map(({ esimStatus }) => esimStatus)).toEqual(['GOT_RESOURCE']);
  });

  it('performs a begun action once, and raises no alarm', async () => {
    const transactionId = await delivered();
    const balance = await buyer.balanceMinor();
    const actionId = await askFor(transactionId, 'credit-wallet', GIFT);
    expect(await nextAction(stack.world, transactionId)).toMatchObject({ actionId });
    const before = await alarms(stack.workerAdminUrl(), 'action');
    const queues = [SUPPLIER_QUEUE, GATEWAY_QUEUE, SUPPLIER_QUEUE, GATEWAY_QUEUE];
    await Promise.all(queues.map((queue) => stranger.schedule(queue, 'performAction', actionId)));
    expect(await buyer.balanceMinor()).toBe(balance + 100n);
    expect(await recordsOf(transactionId)).toEqual(['credit-wallet DONE']);
    expect(await alarms(stack.workerAdminUrl(), 'action')).toBe(before);
  });

  it('does not open an unknown payment, and charges what our rows say', async () => {
    const made = {
      purpose: 'funding',
      accountId: buyer.account.accountId,
      method: 'CARD',
      charge: { gateway: 'paystack', amountMinor: '230', currency: 'USD', rateIds: [] },
      priceMinor: '100000000',
      priceCurrency: 'USD',
      budgetMs: 0,
      timings: AT_ONCE,
    };
    const transactionId = newTransactionId();
    const answer = await expectAlarm('payment', async () => {
      const opened = await stranger.schedule(GATEWAY_QUEUE, 'collectPayment', { ...made, transactionId });
      if (await pay(transactionId))
        await stranger.schedule(GATEWAY_QUEUE, 'checkPayment', transactionId, 'funding');
      return opened;
    });
    expect(answer).toMatchObject({ state: 'failed', reason: 'PAYMENT_NOT_OPENED' });
    expect(await rowsAbout(transactionId)).toBe(0);
    await gatewayFaults(stack, { error: 1 });
    const own = await unpaid();
    await clearGatewayFaults(stack);
    await stranger.schedule(GATEWAY_QUEUE, 'collectPayment', { ...made, transactionId: own });
    const rows = await stack.owner
      .selectFrom('payments')
      .selectAll()
      .where('transaction_id', '=', own)
      .execute();
    expect(rows).toMatchObject([{ purpose: 'purchase', charge_minor: '230', price_minor: '230' }]);
    expect(await operator.act(own, 'cancel')).toMatchObject({ outcome: 'done' });
  });

  it('does not close early what can still be paid, nor take it as paid', async () => {
    const transactionId = await unpaid();
    const request: CollectRequest = { transactionId, purpose: 'purchase', budgetMs: 0, timings: AT_ONCE };
    const collect = (more: object) =>
      stranger.schedule(GATEWAY_QUEUE, 'collectPayment', { ...request, ...more });
    for (const purpose of ['purchase', 'funding'])
      expect(await collect({ purpose, isPaid: true })).toMatchObject({ state: 'waiting' });
    expect(await stranger.schedule(GATEWAY_QUEUE, 'checkPayment', transactionId, 'purchase')).toMatchObject({
      state: 'waiting',
    });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PENDING' });
    const deliverNow = { transactionId, budgetMs: 0, timings: AT_ONCE };
    await expectAlarm('delivery', () => stranger.schedule(SUPPLIER_QUEUE, 'deliver', deliverNow));
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
    await atGateway(stack, transactionId, 'pay');
    await untilStatus(stack, transactionId, 'SUCCESS');
  });

  it('sends back no money that our rows do not owe', async () => {
    const transactionId = await paidByCard(await unpaid());
    const rows = await rowsAbout(transactionId);
    const request = { transactionId, timings: AT_ONCE, amountMinor: '230', reason: 'a lie' };
    expect(await stranger.schedule(GATEWAY_QUEUE, 'followMoney', request)).toEqual({ state: 'done' });
    expect((await chargeAt(stack, transactionId)).refunds).toEqual([]);
    expect(await rowsAbout(transactionId)).toBe(rows);
  });

  it('does not give up an order that may still arrive, however short a time it names', async () => {
    await stack.faults({ loseAnswer: 1, allocationMs: 60_000 });
    const timings = { ...RARE_CHECK_TIMINGS, inFlightGraceMs: 600_000 };
    const { transactionId } = await harness.purchase({ account: buyer.account, timings });
    await stack.faults({ refusalsFirst: true, outOfStock: { next: 1 } });
    const request: DeliverRequest = { transactionId, budgetMs: 0, timings: AT_ONCE };
    expect(await stranger.schedule(SUPPLIER_QUEUE, 'deliver', request)).toMatchObject({ state: 'waiting' });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PROCESSING' });
    expect(await ordersOf(transactionId)).toMatchObject([{ state: 'sent', refused_reason: null }]);
    expect(await holdOf(stack, transactionId)).toBe('HELD');
  });
});

const runPurchase = async (input: { readonly transactionId: string }): Promise<unknown> =>
  (await stranger.start('purchase', input.transactionId, input)).result();

/** Whether there was a charge to pay. */
async function pay(transactionId: string): Promise<boolean> {
  const { status } = await fetch(`${stack.gatewayControlUrl}/charges/${transactionId}`);
  if (status === 404) return false;
  await atGateway(stack, transactionId, 'pay');
  return true;
}

async function paidByCard(transactionId: string): Promise<string> {
  await atGateway(stack, transactionId, 'pay');
  await untilStatus(stack, transactionId, 'SUCCESS');
  await harness.result(transactionId);
  return transactionId;
}
