// Operator actions on open purchases: being delivered, and waiting for money. Each ends delivered or
// refunded, once, with its audit entry, and a refusal lists the allowed actions.
import { afterEach, describe, expect, it } from 'vitest';
import { findPurchaseRow, holdOf, timelineOf, untilClosed } from '../support/people/buyer.ts';
import { movedBy } from '../support/money/fundings.ts';
import { EVIDENCE, newOperator } from '../support/people/operator-actions.ts';
import {
  atGateway,
  chargeAt,
  clearGatewayFaults,
  gatewayFaults,
  gatewayChecks,
  untilStatus,
} from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import {
  LONG_ANSWER_TIMINGS,
  RARE_CHECK_TIMINGS,
  startWorkflows,
  type Order,
} from '../support/world/workflow-harness.ts';

// An eSIM in use cannot be cancelled: here none is activated on its own.
const { stack, harness, buyer } = await startWorkflows({ supplier: { activateAfterMs: null } });
const operator = newOperator(stack);
afterEach(async () => {
  await stack.clearFaults();
  await clearGatewayFaults(stack);
});

/** Held, perhaps ordered, and not delivered; the faults are over by then. */
async function stuckAtSupplier(faults: Record<string, unknown>, more: Partial<Order> = {}): Promise<string> {
  await stack.faults(faults);
  const order = { account: buyer.account, timings: RARE_CHECK_TIMINGS, ...more };
  const { transactionId, answer } = await harness.purchase(order);
  if (order.paidBy === undefined) {
    expect(answer).toEqual({ status: 'PROCESSING' });
  } else {
    await atGateway(stack, transactionId, 'pay');
    await untilStatus(stack, transactionId, 'PROCESSING');
    await until(
      () => harness.isParked(transactionId),
      (parked) => parked,
      { what: 'a purchase that pauses' },
    );
  }
  await stack.clearFaults();
  return transactionId;
}

/** Accepted by the supplier, whose answer was lost. */
const ANSWER_LOST = { loseAnswer: 1 };

const recordsOf = async (transactionId: string): Promise<string[]> =>
  (await operator.listFor(transactionId)).map(
    ({ action, status, refusal }) => `${action} ${status}${refusal === null ? '' : ` ${refusal}`}`,
  );

async function expectGivenBack(transactionId: string): Promise<void> {
  expect(await untilClosed(stack, transactionId)).toMatchObject({
    status: 'FAILED',
    reason: 'CANCELLED_BY_OPERATOR',
    needs_attention_since: null,
  });
  expect(await holdOf(stack, transactionId)).toBe('VOIDED');
  expect(await harness.result(transactionId)).toEqual({ status: 'FAILED', reason: 'CANCELLED_BY_OPERATOR' });
}

async function expectDelivered(transactionId: string): Promise<void> {
  expect(await untilClosed(stack, transactionId)).toMatchObject({ status: 'SUCCESS' });
  expect(await holdOf(stack, transactionId)).toBe('POSTED');
  expect(await harness.result(transactionId)).toEqual({ status: 'SUCCESS' });
}

describe('a purchase being delivered', () => {
  it('is delivered at once by retry-delivery when the supplier has the eSIM by now', async () => {
    const transactionId = await stuckAtSupplier({ neverAllocate: 1 });
    const retried = await operator.act(transactionId, 'retry-delivery');
    expect(retried).toMatchObject({ outcome: 'done', did: 'delivered' });
    await expectDelivered(transactionId);
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
    expect(await recordsOf(transactionId)).toEqual(['retry-delivery DONE']);
  });

  it('is delivered by check-supplier when the supplier has accepted the order, without another order', async () => {
    const transactionId = await stuckAtSupplier(ANSWER_LOST);
    const [before] = await stack.supplierOrders(transactionId);
    expect(await operator.act(transactionId, 'check-supplier')).toMatchObject({
      outcome: 'done',
      did: 'delivered',
    });
    await expectDelivered(transactionId);
    expect((await stack.supplierOrders(transactionId))[0]?.requests).toBe(before?.requests);
  });

  it('is not delivered by check-supplier where the supplier has nothing of it, and goes on by itself', async () => {
    const transactionId = await stuckAtSupplier({ busy: 1 });
    expect(await operator.act(transactionId, 'check-supplier')).toMatchObject({
      did: 'the supplier lists no such order',
    });
    await expectDelivered(transactionId);
    expect(await recordsOf(transactionId)).toEqual(['check-supplier DONE']);
  });

  it('is cancelled at the supplier first and then refunded, however often cancel is requested', async () => {
    const balance = await buyer.balanceMinor();
    const transactionId = await stuckAtSupplier(ANSWER_LOST);
    const outcomes = await Promise.all([1, 2, 3].map(() => operator.act(transactionId, 'cancel')));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
    expect(new Set(outcomes.map((outcome) => 'actionId' in outcome && outcome.actionId)).size).toBe(1);
    await expectGivenBack(transactionId);
    expect(await operator.act(transactionId, 'cancel')).toMatchObject({ outcome: 'done', again: true });
    expect(await buyer.balanceMinor()).toBe(balance);
    const [order] = await stack.supplierOrders(transactionId);
    expect(order?.esims.map((esim) => esim.esimStatus)).toEqual(['CANCEL']);
    expect(await recordsOf(transactionId)).toEqual(['cancel DONE']);
  });

  it('is not refunded while the supplier may still deliver, and the refusal lists the allowed actions', async () => {
    const transactionId = await stuckAtSupplier({}, { packageCode: 'SIM-NEVER-ALLOCATE' });
    for (const action of ['cancel', 'credit-wallet', 'deliver-other'] as const) {
      expect(await operator.act(transactionId, action)).toMatchObject({
        outcome: 'refused',
        code: 'SUPPLIER_MAY_DELIVER',
        detail: expect.stringMatching(/order B\d+ is still being allocated/) as unknown,
        fits: expect.arrayContaining([
          'check-supplier',
          'retry-delivery',
          'deliver-other',
          'cancel',
        ]) as unknown,
      });
    }
    expect(await holdOf(stack, transactionId)).toBe('HELD');
    const inWriting = { packageCode: 'SIM-OK', evidence: EVIDENCE };
    expect(await operator.act(transactionId, 'deliver-other', inWriting)).toMatchObject({
      outcome: 'done',
      did: 'SIM-OK is delivered instead of SIM-NEVER-ALLOCATE',
    });
    await expectDelivered(transactionId);
    expect(await stack.supplierOrders(`${transactionId}-2`)).toMatchObject([
      { packageCode: 'SIM-OK', count: 1 },
    ]);
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({
      package_code: 'SIM-OK',
    });
    expect(await movedBy(stack, transactionId)).toMatchObject({
      'revenue:USD': 230,
      'supplier-cost:USD4': 20_000,
    });
    expect(await timelineOf(stack, transactionId)).toEqual([
      'wallet-held',
      'ordered-at-supplier',
      'package-replaced',
      'delivered',
    ]);
  });

  it('gets the cheapest equal package by deliver-other, once the first order is cancelled', async () => {
    const transactionId = await stuckAtSupplier(ANSWER_LOST);
    const replaced = await operator.act(transactionId, 'deliver-other');
    expect(replaced).toMatchObject({
      outcome: 'done',
      did: expect.stringMatching(/^SIM-\S+ is delivered/) as unknown,
    });
    const again = await operator.act(transactionId, 'deliver-other');
    expect(again).toMatchObject({ outcome: 'done', again: true });
    const [first] = await stack.supplierOrders(transactionId);
    expect(first?.esims.map((esim) => esim.esimStatus)).toEqual(['CANCEL']);
    // For the cheapest one the supplier is busy three times.
    for (let tries = 0; tries < 3; tries += 1) await operator.act(transactionId, 'retry-delivery');
    await expectDelivered(transactionId);
    expect(await stack.supplierOrders(`${transactionId}-2`)).toHaveLength(1);
  });

  it('refuses a package that is no replacement', async () => {
    const transactionId = await stuckAtSupplier({ busy: 1 });
    for (const packageCode of ['SIM-OK', 'NO-SUCH-PACKAGE', 'TOPUP_SIM-OK']) {
      expect(await operator.act(transactionId, 'deliver-other', { packageCode })).toMatchObject({
        outcome: 'refused',
        code: 'PACKAGE_DOES_NOT_FIT',
      });
    }
    await operator.act(transactionId, 'retry-delivery');
    await expectDelivered(transactionId);
  });

  it('counts an order cancelled by the supplier as refused, not as delivered', async () => {
    const transactionId = await stuckAtSupplier(ANSWER_LOST);
    const [order] = await stack.supplierOrders(transactionId);
    await fetch(`${stack.supplierControlUrl}/esims/${order?.esims[0]?.iccid ?? ''}`, {
      method: 'PUT',
      body: JSON.stringify({ esimStatus: 'CANCEL' }),
    });
    expect(await operator.act(transactionId, 'retry-delivery')).toMatchObject({
      did: 'the supplier refuses: SUPPLIER_REFUSED',
    });
    expect(await untilClosed(stack, transactionId)).toMatchObject({
      status: 'FAILED',
      reason: 'SUPPLIER_REFUSED',
    });
    expect(await holdOf(stack, transactionId)).toBe('VOIDED');
  });

  it('allows the whole price or nothing, in its own currency', async () => {
    const transactionId = await stuckAtSupplier(ANSWER_LOST);
    const credit = (amountMinor: bigint, currency = 'USD') =>
      operator.act(transactionId, 'credit-wallet', { amount: { amountMinor, currency } });
    expect(await credit(100n)).toMatchObject({ outcome: 'refused', code: 'AMOUNT_NOT_ALLOWED' });
    expect(await credit(231n)).toMatchObject({ outcome: 'refused', code: 'AMOUNT_TOO_HIGH' });
    expect(await credit(230n, 'NGN')).toMatchObject({ outcome: 'refused', code: 'OTHER_CURRENCY' });
    expect(await operator.act(transactionId, 'refund-to-source')).toMatchObject({
      outcome: 'refused',
      code: 'DOES_NOT_FIT',
    });
    expect(await credit(230n)).toMatchObject({ outcome: 'done', did: 'USD 2.30 credited to the wallet' });
    await expectGivenBack(transactionId);
    expect(await recordsOf(transactionId)).toEqual([
      'credit-wallet REFUSED AMOUNT_NOT_ALLOWED',
      'credit-wallet REFUSED AMOUNT_TOO_HIGH',
      'credit-wallet REFUSED OTHER_CURRENCY',
      'refund-to-source REFUSED DOES_NOT_FIT',
      'credit-wallet DONE',
    ]);
  });

  it('refunds a card payment at the gateway by refund-to-source, and to the wallet by credit-wallet', async () => {
    const refunded = await stuckAtSupplier(ANSWER_LOST, { paidBy: 'CARD' });
    expect(await operator.act(refunded, 'refund-to-source')).toMatchObject({ outcome: 'done' });
    await expectGivenBack(refunded);
    expect((await chargeAt(stack, refunded)).refunds).toMatchObject([{ amountMinor: 230 }]);
    const balance = await buyer.balanceMinor();
    const credited = await stuckAtSupplier(ANSWER_LOST, { paidBy: 'CARD' });
    expect(await operator.act(credited, 'credit-wallet')).toMatchObject({ outcome: 'done' });
    await expectGivenBack(credited);
    expect((await chargeAt(stack, credited)).refunds).toEqual([]);
    expect(await buyer.balanceMinor()).toBe(balance + 230n);
  });
});

describe('a purchase waiting for money', () => {
  const waiting = async (more: Partial<Order> = {}): Promise<string> => {
    const order = {
      account: buyer.account,
      paidBy: 'CARD',
      timings: { ...RARE_CHECK_TIMINGS, ...more.timings },
    } as const;
    return (await harness.purchase({ ...order, ...more })).transactionId;
  };

  it('is delivered when check-gateway finds a payment without an event', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const transactionId = await waiting();
    expect(await operator.act(transactionId, 'check-gateway')).toMatchObject({
      did: 'checked the gateway: not paid yet',
    });
    await atGateway(stack, transactionId, 'pay');
    expect(await operator.act(transactionId, 'check-gateway')).toMatchObject({
      did: 'checked the gateway: paid',
    });
    await expectDelivered(transactionId);
  });

  it('is delivered by mark-paid with evidence, and counts the gateway’s later report as the same money', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const transactionId = await waiting();
    const balance = await buyer.balanceMinor();
    expect(await operator.act(transactionId, 'mark-paid')).toMatchObject({
      outcome: 'refused',
      code: 'EVIDENCE_NEEDED',
      fits: ['check-gateway', 'mark-paid', 'cancel'],
    });
    const marked = await Promise.all(
      [1, 2].map(() => operator.act(transactionId, 'mark-paid', { evidence: EVIDENCE })),
    );
    expect(marked).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }]);
    await expectDelivered(transactionId);
    expect(await movedBy(stack, transactionId)).toMatchObject({ 'evidence:USD': -230, 'revenue:USD': 230 });
    await atGateway(stack, transactionId, 'pay');
    await operator.act(transactionId, 'check-gateway');
    expect(await movedBy(stack, transactionId)).toMatchObject({
      'gateway-clearing:paystack:USD': -230,
      'revenue:USD': 230,
    });
    expect(await movedBy(stack, transactionId)).not.toHaveProperty('evidence:USD');
    expect(await buyer.balanceMinor()).toBe(balance);
    expect(await timelineOf(stack, transactionId)).toEqual([
      'opened',
      'payment-vouched-for',
      'delivered',
      'payment-confirmed',
    ]);
    expect(await recordsOf(transactionId)).toEqual([
      'mark-paid REFUSED EVIDENCE_NEEDED',
      'mark-paid DONE',
      'check-gateway DONE',
    ]);
  });

  it('is delivered by mark-paid when the gateway never answered how to pay, and no charge is opened afterwards', async () => {
    await gatewayFaults(stack, { error: 1 });
    const transactionId = await waiting();
    await operator.act(transactionId, 'mark-paid', { evidence: EVIDENCE });
    await clearGatewayFaults(stack);
    await expectDelivered(transactionId);
    expect((await stack.owner.selectFrom('payments').select('status').execute()).length).toBeGreaterThan(0);
    const charge = await fetch(`${stack.gatewayControlUrl}/charges/${transactionId}`);
    expect(charge.status).toBe(404);
  });

  it('is refunded to the wallet when evidence paid it and delivery fails, since the gateway has nothing to send back', async () => {
    const balance = await buyer.balanceMinor();
    const transactionId = await waiting({ packageCode: 'SIM-OUT-OF-STOCK' });
    await operator.act(transactionId, 'mark-paid', { evidence: EVIDENCE });
    expect(await untilClosed(stack, transactionId)).toMatchObject({
      status: 'FAILED',
      reason: 'OUT_OF_STOCK',
    });
    expect(await buyer.balanceMinor()).toBe(balance + 230n);
    expect(await harness.result(transactionId)).toMatchObject({ status: 'FAILED' });
  });

  it('ends unpaid at once by cancel; money that arrives later goes to the wallet', async () => {
    const balance = await buyer.balanceMinor();
    const transactionId = await waiting();
    expect(await operator.act(transactionId, 'cancel')).toMatchObject({
      outcome: 'done',
      did: 'cancelled: nothing was paid',
    });
    expect(await untilClosed(stack, transactionId)).toMatchObject({ reason: 'CANCELLED_BY_OPERATOR' });
    expect(await harness.result(transactionId)).toMatchObject({ status: 'FAILED' });
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
    await atGateway(stack, transactionId, 'pay');
    await until(
      () => buyer.balanceMinor(),
      (now) => now === balance + 230n,
      { what: 'the late money' },
    );
  });

  it('refuses other actions, lists the allowed ones, and records the attempt', async () => {
    const transactionId = await waiting();
    for (const action of ['retry-delivery', 'deliver-other', 'refund-to-source', 'credit-wallet'] as const) {
      expect(await operator.act(transactionId, action)).toMatchObject({
        outcome: 'refused',
        code: 'DOES_NOT_FIT',
        fits: ['check-gateway', 'mark-paid', 'cancel'],
      });
    }
    const checks = await gatewayChecks(stack);
    expect(await recordsOf(transactionId)).toHaveLength(4);
    await operator.act(transactionId, 'cancel');
    expect(await gatewayChecks(stack)).toBeGreaterThanOrEqual(checks);
  });

  it('refuses a request without a person, a reason or evidence, and does what is asked for after that', async () => {
    const transactionId = await waiting({ timings: LONG_ANSWER_TIMINGS });
    for (const [wrong, code] of [
      [{ by: ' ' }, 'PERSON_NEEDED'],
      [{ reason: 'no' }, 'REASON_NEEDED'],
      [{ reason: 'x'.repeat(501) }, 'REASON_NEEDED'],
      [{ evidence: undefined }, 'EVIDENCE_NEEDED'],
    ] as const) {
      const asked = { evidence: EVIDENCE, ...wrong };
      expect(await operator.act(transactionId, 'mark-paid', asked)).toMatchObject({
        outcome: 'refused',
        code,
      });
    }
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ status: 'PENDING' });
    const marked = await operator.act(transactionId, 'mark-paid', { evidence: EVIDENCE });
    expect(marked).toMatchObject({ outcome: 'done' });
    await expectDelivered(transactionId);
  });
});
