// Operator actions on open and closed purchases, and on purchases without a workflow: each is done once, with
// its audit entry, and refused with the reason when there is nothing to do.
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import {
  findPurchaseRow,
  holdOf,
  newBuyer,
  timelineOf,
  untilClosed,
  type Buyer,
} from '../support/people/buyer.ts';
import { fundThroughGateway, movedBy, untilFunding } from '../support/money/fundings.ts';
import { EVIDENCE, newOperator, REASON } from '../support/people/operator-actions.ts';
import {
  atGateway,
  chargeAt,
  clearGatewayFaults,
  gatewayFaults,
  untilStatus,
} from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import {
  LONG_ANSWER_TIMINGS,
  RARE_CHECK_TIMINGS,
  SHORT_ANSWER_TIMINGS,
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
        // Not what was just refused.
        fits: expect.arrayContaining(
          ['check-supplier', 'retry-delivery', 'deliver-other', 'cancel'].filter((one) => one !== action),
        ) as unknown,
      });
    }
    expect(await holdOf(stack, transactionId)).toBe('HELD');
    const inWriting = { packageCode: 'SIM-OK', evidence: EVIDENCE };
    expect(await operator.act(transactionId, 'deliver-other', inWriting)).toMatchObject({
      outcome: 'done',
      did: 'SIM-OK is ordered instead of SIM-NEVER-ALLOCATE',
    });
    await expectDelivered(transactionId);
    expect(await stack.supplierOrders(`${transactionId}-2`)).toMatchObject([
      { packageCode: 'SIM-OK', count: 1 },
    ]);
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ package_code: 'SIM-OK' });
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

  it.each([
    ['cancel', {}],
    ['deliver-other', { packageCode: 'SIM-OK' }],
  ] as const)(
    'given up by %s is cancelled there by check-supplier if it comes later',
    async (action, more) => {
      const check = async () => JSON.stringify(await operator.act(transactionId, 'check-supplier'));
      const transactionId = await stuckAtSupplier({}, { packageCode: 'SIM-NEVER-ALLOCATE' });
      await operator.act(transactionId, action, { evidence: EVIDENCE, ...more });
      if (action === 'deliver-other') await expectDelivered(transactionId);
      expect(await check()).toMatch(/order B\d+ is still being allocated/);
      const [order] = await stack.supplierOrders(transactionId);
      await fetch(`${stack.supplierControlUrl}/orders/${order?.orderNo ?? ''}/allocate`, { method: 'POST' });
      expect(await check()).toMatch(/the supplier had delivered what was given up: cancelled \d+ there/);
      expect((await stack.supplierOrders(transactionId))[0]?.esims).toMatchObject([{ esimStatus: 'CANCEL' }]);
    },
  );

  it('gets the cheapest equal package by deliver-other, once the first order is cancelled', async () => {
    const transactionId = await stuckAtSupplier(ANSWER_LOST);
    const replaced = await operator.act(transactionId, 'deliver-other');
    expect(replaced).toMatchObject({
      outcome: 'done',
      did: expect.stringMatching(/^SIM-\S+ is ordered/) as unknown,
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
    await atGateway(stack, transactionId, 'reverse');
    expect(await operator.act(transactionId, 'check-gateway')).toMatchObject({
      did: 'checked the gateway: paid; the payment was taken back',
    });
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
      reason: 'PACKAGE_UNAVAILABLE',
    });
    expect(await buyer.balanceMinor()).toBe(balance + 230n);
    expect(await harness.result(transactionId)).toMatchObject({ status: 'FAILED' });
  });

  it('ends unpaid at once by cancel; money that arrives later goes to the wallet', async () => {
    const balance = await buyer.balanceMinor();
    const transactionId = await waiting();
    expect(await operator.act(transactionId, 'cancel')).toMatchObject({
      outcome: 'done',
      did: 'cancelled: nothing was paid; money that still comes is credited to the wallet',
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
});

const SOON_OVER = { ...LONG_ANSWER_TIMINGS, checkoutMs: 500 };
const by = { by: 'ada', reason: REASON };

async function delivered(paidBy?: 'CARD' | 'BANK_TRANSFER'): Promise<string> {
  const order = { account: buyer.account, ...(paidBy === undefined ? {} : { paidBy }) };
  const { transactionId } = await harness.purchase(order);
  if (paidBy !== undefined) await atGateway(stack, transactionId, 'pay');
  await harness.result(transactionId);
  return transactionId;
}

const cents = (amountMinor: bigint, currency = 'USD') => ({ amount: { amountMinor, currency } });

const refundsOf = (transactionId: string) =>
  stack.owner
    .selectFrom('refunds')
    .select(['reason', 'status', 'amount_minor', 'currency'])
    .where('transaction_id', '=', transactionId)
    .orderBy('created_at')
    .execute();

const untilRefunded = (transactionId: string, status: string) =>
  until(
    () => refundsOf(transactionId),
    (refunds) => refunds.length > 0 && refunds.every((refund) => refund.status === status),
    { what: `refunds of ${transactionId} ${status}` },
  );

describe('a delivered purchase', () => {
  it('allows goodwill credits up to what was earned, each action once', async () => {
    const transactionId = await delivered();
    expect(await operator.act(transactionId, 'check-supplier')).toMatchObject({ did: 'the eSIM is CREATED' });
    const balance = await buyer.balanceMinor();
    const gift = (amountMinor: bigint, actionKey: string) =>
      operator.act(transactionId, 'credit-wallet', { ...cents(amountMinor), goodwill: true, actionKey });
    const firsts = await Promise.all([1, 2, 3].map(() => gift(100n, `${transactionId}-a`)));
    expect(firsts.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
    expect(await buyer.balanceMinor()).toBe(balance + 100n);
    expect(await gift(99n, `${transactionId}-a`)).toMatchObject({ outcome: 'refused', code: 'KEY_REUSED' });
    expect(await gift(131n, `${transactionId}-b`)).toMatchObject({
      outcome: 'refused',
      code: 'AMOUNT_TOO_HIGH',
    });
    expect(await gift(130n, `${transactionId}-b`)).toMatchObject({ outcome: 'done' });
    expect(await gift(1n, `${transactionId}-c`)).toMatchObject({
      outcome: 'refused',
      code: 'NOTHING_TO_RETURN',
    });
    expect(await buyer.balanceMinor()).toBe(balance + 230n);
    expect(await movedBy(stack, transactionId)).not.toHaveProperty('revenue:USD');
  });

  it('allows goodwill refunds at the gateway, in the currency of the payment, up to what was paid', async () => {
    const transactionId = await delivered('BANK_TRANSFER');
    const refund = (amountMinor: bigint, more: object = {}) =>
      operator.act(transactionId, 'refund-to-source', {
        ...cents(amountMinor, 'NGN'),
        goodwill: true,
        ...more,
      });
    expect(await refund(100_000n, { goodwill: false })).toMatchObject({ code: 'ALREADY_DELIVERED' });
    expect(await refund(368_001n)).toMatchObject({ outcome: 'refused', code: 'AMOUNT_TOO_HIGH' });
    expect(await refund(100_000n, { amount: { amountMinor: 100n, currency: 'USD' } })).toMatchObject({
      code: 'OTHER_CURRENCY',
    });
    expect(await refund(100_000n)).toMatchObject({ outcome: 'done' });
    await untilRefunded(transactionId, 'DONE');
    expect(await refund(268_001n)).toMatchObject({ outcome: 'refused', code: 'AMOUNT_TOO_HIGH' });
    expect(await refund(268_000n)).toMatchObject({ outcome: 'done' });
    await untilRefunded(transactionId, 'DONE');
    const { refunds } = await chargeAt(stack, transactionId);
    expect(refunds.map((one) => one.amountMinor).toSorted()).toEqual([100_000, 268_000]);
    const moved = await movedBy(stack, transactionId);
    expect(moved).not.toHaveProperty('revenue:USD');
    expect(moved).not.toHaveProperty('gateway-clearing:paystack:NGN');
    expect(moved).not.toHaveProperty('suspense:NGN');
  });

  it('has a hold that was left behind posted by replay', async () => {
    await stack.faults({ loseAnswer: 1 });
    const { transactionId } = await harness.purchase({
      account: buyer.account,
      timings: SHORT_ANSWER_TIMINGS,
    });
    await stack.temporal.workflow.getHandle(transactionId).terminate('a test');
    await stack.clearFaults();
    await settleByHand(transactionId);
    const report = await operator.replay(transactionId, by);
    expect(report?.steps).toMatchObject([{ step: 'retry-delivery', outcome: 'done' }]);
    expect(await holdOf(stack, transactionId)).toBe('POSTED');
    expect((await operator.replay(transactionId, by))?.steps).toEqual([]);
    expect(await movedBy(stack, transactionId)).toMatchObject({
      'revenue:USD': 230,
      'supplier-cost:USD4': 20_000,
    });
  });
});

describe('a purchase that ended without delivery', () => {
  it('allows a credit to be refunded to its source while the wallet still has it', async () => {
    const poor = await newBuyer(stack, { fundsMinor: 0n });
    const { transactionId } = await harness.purchase({ account: poor.account, paidBy: 'CARD' });
    await atGateway(stack, transactionId, 'pay', { amountMinor: 200 });
    expect(await untilClosed(stack, transactionId)).toMatchObject({ reason: 'PAYMENT_UNDERPAID' });
    await harness.result(transactionId);
    const refund = (amountMinor: bigint) =>
      operator.act(transactionId, 'refund-to-source', cents(amountMinor));
    expect(await refund(201n)).toMatchObject({ outcome: 'refused', code: 'AMOUNT_TOO_HIGH' });
    expect(await refund(150n)).toMatchObject({ outcome: 'done' });
    expect(await poor.balanceMinor()).toBe(50n);
    await untilRefunded(transactionId, 'DONE');
    await spend(poor, 50n);
    expect(await refund(50n)).toMatchObject({ outcome: 'refused', code: 'WALLET_TOO_LOW' });
    expect(await refund(51n)).toMatchObject({ outcome: 'refused', code: 'AMOUNT_TOO_HIGH' });
    expect((await chargeAt(stack, transactionId)).refunds).toMatchObject([{ amountMinor: 150 }]);
  });

  it('allows a refund that waits for the buyer to be credited, or, with evidence, to be closed as sent by hand', async () => {
    const waiting = async (): Promise<string> => {
      const order = {
        account: buyer.account,
        paidBy: 'CARD',
        packageCode: 'SIM-PAY-REFUND-NEEDS-ATTENTION',
      } as const;
      const { transactionId } = await harness.purchase(order);
      await untilRefunded(transactionId, 'NEEDS_ATTENTION');
      return transactionId;
    };
    const credited = await waiting();
    const balance = await buyer.balanceMinor();
    expect(await operator.act(credited, 'credit-wallet')).toMatchObject({ code: 'EVIDENCE_NEEDED' });
    expect(await operator.act(credited, 'refund-to-source')).toMatchObject({ code: 'EVIDENCE_NEEDED' });
    const made = await Promise.all(
      [1, 2].map(() => operator.act(credited, 'credit-wallet', { evidence: EVIDENCE })),
    );
    expect(made).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }]);
    expect(await buyer.balanceMinor()).toBe(balance + 230n);
    await harness.result(credited);
    const byHand = await waiting();
    expect(await operator.act(byHand, 'refund-to-source', { evidence: EVIDENCE })).toMatchObject({
      did: 'closed as sent, by the evidence',
    });
    await harness.result(byHand);
    expect(await movedBy(stack, byHand)).toMatchObject({
      'evidence:USD': 230,
      'gateway-clearing:paystack:USD': -230,
    });
    for (const id of [credited, byHand])
      expect(await findPurchaseRow(stack, id)).toMatchObject({ status: 'FAILED', attention_reason: null });
  });

  it('is credited by mark-paid; when the gateway reports the money too, nothing more is credited', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const order = { account: buyer.account, paidBy: 'CARD', timings: SOON_OVER } as const;
    const { transactionId } = await harness.purchase(order);
    expect(await harness.result(transactionId)).toEqual({ status: 'FAILED', reason: 'PAYMENT_EXPIRED' });
    const balance = await buyer.balanceMinor();
    expect(await operator.act(transactionId, 'mark-paid', { evidence: EVIDENCE })).toMatchObject({
      did: 'marked as paid with USD 2.30; it is in the wallet',
    });
    expect(await buyer.balanceMinor()).toBe(balance + 230n);
    await atGateway(stack, transactionId, 'pay');
    expect(await operator.act(transactionId, 'check-gateway')).toMatchObject({ outcome: 'done' });
    expect(await buyer.balanceMinor()).toBe(balance + 230n);
    expect(await movedBy(stack, transactionId)).not.toHaveProperty('evidence:USD');
  });
});

describe('a purchase whose workflow is gone', () => {
  it('keeps waiting for its money, and answers a retry with the same Idempotency-Key', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const buy = () =>
      stack.call('POST', '/api/esim/buy', {
        key: buyer.account.apiKey,
        body: { packageType: 'BASE', packageCode: 'SIM-OK', paymentMethod: 'CARD' },
        headers: { 'Idempotency-Key': 'carried-on' },
      });
    const { transactionId } = (await buy()).body;
    await stack.temporal.workflow.getHandle(transactionId).terminate('a test');
    await atGateway(stack, transactionId, 'pay');
    await operator.replay(transactionId, by);
    await untilStatus(stack, transactionId, 'SUCCESS');
    await stack.owner
      .updateTable('idempotency_keys')
      .set({ answer_status: null, answer_body: null, created_at: sql`now() - interval '1 minute'` })
      .where('transaction_id', '=', transactionId)
      .execute();
    expect(await buy()).toMatchObject({ status: 201, body: { status: 'SUCCESS', transactionId } });
  });
});

describe('fundings', () => {
  it('are marked as paid or cancelled like purchases', async () => {
    const poor = await newBuyer(stack, { fundsMinor: 0n });
    const paid = await fundThroughGateway(stack, poor.account, { amount: 25, method: 'CARD' });
    expect(await operator.act(paid.transactionId, 'retry-delivery')).toMatchObject({ code: 'DOES_NOT_FIT' });
    expect(await operator.act(paid.transactionId, 'mark-paid', { evidence: EVIDENCE })).toMatchObject({
      outcome: 'done',
    });
    await untilFunding(stack, paid.transactionId, 'SUCCESS');
    expect(await poor.balanceMinor()).toBe(2_500n);
    const cancelled = await fundThroughGateway(stack, poor.account, { amount: 25, method: 'CARD' });
    expect(await operator.act(cancelled.transactionId, 'cancel')).toMatchObject({ outcome: 'done' });
    await untilFunding(stack, cancelled.transactionId, 'FAILED');
    expect(await poor.balanceMinor()).toBe(2_500n);
  });
});

/** How often a rate limit permit was requested, by the kind of work. */
async function permits(work: string): Promise<number> {
  const text = await (await fetch(`${stack.workerAdminUrl()}/metrics`)).text();
  const labels = `environment="test",vendor="supplier",work="${work}"`;
  const series = new RegExp(`^simway_vendor_allowance_wait_seconds_count\\{${labels}\\} (\\d+)$`, 'm');
  return Number(series.exec(text)?.[1] ?? 0);
}

async function refused(): Promise<string> {
  const order = { account: buyer.account, packageCode: 'SIM-OUT-OF-STOCK' };
  const { transactionId } = await harness.purchase(order);
  await harness.result(transactionId);
  return transactionId;
}

it.each([
  ['check of a delivered purchase', 'check-supplier', () => delivered()],
  ['check of a refused one', 'check-supplier', refused],
  ['check of one of unknown outcome', 'check-supplier', () => stuckAtSupplier(ANSWER_LOST)],
  ['withdrawal of it', 'cancel', () => stuckAtSupplier(ANSWER_LOST)],
] as const)('an operator’s %s waits behind no order', async (_what, action, purchase) => {
  const transactionId = await purchase();
  const [orders, checks] = [await permits('orders'), await permits('checks')];
  expect(await operator.act(transactionId, action)).toMatchObject({ outcome: 'done' });
  expect([await permits('orders'), (await permits('checks')) > checks]).toEqual([orders, true]);
});

/** Takes money out of a wallet, as a delivered purchase does. */
async function spend(who: Buyer, amountMinor: bigint): Promise<void> {
  const { transactionId } = await harness.purchase({ account: who.account, priceMinor: String(amountMinor) });
  expect(await harness.result(transactionId)).toEqual({ status: 'SUCCESS' });
}

/** A state that our code never leaves behind: delivered by its rows, with the money still on hold. */
async function settleByHand(transactionId: string): Promise<void> {
  const [order] = await stack.supplierOrders(transactionId);
  await stack.owner
    .updateTable('esims')
    .set({ iccid: order?.esims[0]?.iccid ?? '', status: 'CREATED' })
    .where('transaction_id', '=', transactionId)
    .execute();
  await stack.owner
    .updateTable('purchases')
    .set({ status: 'SUCCESS', closed_at: sql`now()` })
    .where('transaction_id', '=', transactionId)
    .execute();
}
