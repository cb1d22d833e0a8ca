// Operator actions on closed purchases, and on purchases without a workflow: each is done once, by a workflow
// started for it or by continuing, and refused with the reason when there is nothing to do.
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { findPurchaseRow, holdOf, newBuyer, untilClosed, type Buyer } from '../support/people/buyer.ts';
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
  startWorkflows,
  SHORT_ANSWER_TIMINGS,
  LONG_ANSWER_TIMINGS,
} from '../support/world/workflow-harness.ts';
import type { OperatorAction } from '../../src/accounts/operators/action-table.ts';

const { stack, harness, buyer } = await startWorkflows({ supplier: { activateAfterMs: null } });
const operator = newOperator(stack);
afterEach(async () => {
  await stack.clearFaults();
  await clearGatewayFaults(stack);
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
  it('refuses actions that would undo it, with the reason and the allowed actions, and records each attempt', async () => {
    const transactionId = await delivered();
    const wanted: [OperatorAction, string][] = [
      ['cancel', 'ALREADY_DELIVERED'],
      ['retry-delivery', 'ALREADY_DELIVERED'],
      ['deliver-other', 'ALREADY_DELIVERED'],
      ['credit-wallet', 'ALREADY_DELIVERED'],
      ['mark-paid', 'DOES_NOT_FIT'],
      ['refund-to-source', 'DOES_NOT_FIT'],
      ['check-gateway', 'DOES_NOT_FIT'],
      ['settle-dispute', 'DOES_NOT_FIT'],
    ];
    for (const [action, code] of wanted) {
      const asked = { evidence: EVIDENCE, outcome: 'won' } as const;
      expect(await operator.act(transactionId, action, asked)).toMatchObject({
        outcome: 'refused',
        code,
        fits: ['check-supplier', 'credit-wallet'],
      });
    }
    expect((await operator.listFor(transactionId)).map(({ action, refusal }) => [action, refusal])).toEqual(
      wanted,
    );
    expect(await operator.act(transactionId, 'check-supplier')).toMatchObject({
      outcome: 'done',
      did: 'the eSIM is CREATED',
    });
  });

  it('allows goodwill credits up to what was earned, each action once', async () => {
    const transactionId = await delivered();
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

  it('has a payment that the gateway left open closed by cancel only', async () => {
    const { transactionId } = await harness.purchase({
      account: buyer.account,
      paidBy: 'CARD',
      timings: SOON_OVER,
    });
    await harness.result(transactionId);
    expect(await operator.act(transactionId, 'cancel')).toMatchObject({ code: 'DOES_NOT_FIT' });
    await stack.owner
      .updateTable('purchases')
      .set({ attention_reason: 'PAYMENT_STILL_OPEN', needs_attention_since: sql`now()` })
      .where('transaction_id', '=', transactionId)
      .execute();
    expect(await operator.act(transactionId, 'cancel')).toMatchObject({
      did: 'closed; no further payment expected',
    });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({ attention_reason: null });
  });
});

describe('a dispute on a payment', () => {
  const flagged = (transactionId: string, reason: string) =>
    until(
      () => findPurchaseRow(stack, transactionId),
      (row) => row?.attention_reason === reason,
      { what: reason },
    );

  it('that is won makes the money ours again, and that is lost is booked as our loss', async () => {
    const won = await delivered('CARD');
    await atGateway(stack, won, 'dispute');
    await flagged(won, 'PAYMENT_DISPUTED');
    expect(await operator.act(won, 'credit-wallet', { goodwill: true })).toMatchObject({
      code: 'DOES_NOT_FIT',
    });
    expect(await operator.act(won, 'settle-dispute')).toMatchObject({ code: 'EVIDENCE_NEEDED' });
    await atGateway(stack, won, 'dispute', { action: 'resolve', resolution: 'declined' });
    expect(await operator.act(won, 'settle-dispute', { evidence: EVIDENCE, outcome: 'won' })).toMatchObject({
      did: 'Dispute won: the money is ours again',
    });
    expect(await movedBy(stack, won)).toMatchObject({
      'revenue:USD': 230,
      'gateway-clearing:paystack:USD': -230,
    });
    expect(await findPurchaseRow(stack, won)).toMatchObject({ status: 'SUCCESS', attention_reason: null });
    const lost = await delivered('CARD');
    await atGateway(stack, lost, 'reverse');
    await operator.act(lost, 'check-gateway');
    await flagged(lost, 'PAYMENT_REVERSED');
    expect(await operator.act(lost, 'settle-dispute', { evidence: EVIDENCE, outcome: 'lost' })).toMatchObject(
      {
        did: 'Reversal lost: revenue USD -2.30',
      },
    );
    const moved = await movedBy(stack, lost);
    expect(Object.keys(moved).toSorted()).toEqual([
      'supplier-cost:USD4',
      'supplier-prepaid:esim-access:USD4',
    ]);
  });
});

describe('a purchase whose workflow is gone', () => {
  it('is continued from its rows: replay delivers it and reports what it did', async () => {
    await stack.faults({ loseAnswer: 1 });
    const { transactionId } = await harness.purchase({
      account: buyer.account,
      timings: SHORT_ANSWER_TIMINGS,
    });
    await stack.temporal.workflow.getHandle(transactionId).terminate('a test');
    await stack.clearFaults();
    const preview = await operator.preview(transactionId);
    expect(preview).toMatchObject({ state: 'delivering', replay: ['check-supplier', 'retry-delivery'] });
    const dry = await operator.replay(transactionId, { ...by, isDryRun: true });
    expect(dry?.steps).toEqual([
      { step: 'check-supplier', outcome: 'would-do', detail: '' },
      { step: 'retry-delivery', outcome: 'would-do', detail: '' },
    ]);
    expect(await operator.listFor(transactionId)).toEqual([]);
    const report = await operator.replay(transactionId, by);
    expect(report).toMatchObject({
      before: 'PROCESSING, delivering',
      after: 'SUCCESS, delivered',
    });
    expect(report?.steps[0]).toMatchObject({ step: 'check-supplier', outcome: 'done' });
    expect(await harness.result(transactionId)).toEqual({ status: 'SUCCESS' });
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  });

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

  it('are not found by an unknown id', async () => {
    const nothing = `txn-${'0'.repeat(32)}`;
    expect(await operator.act(nothing, 'cancel')).toMatchObject({ outcome: 'refused', code: 'NOT_FOUND' });
    expect(await operator.preview(nothing)).toBeUndefined();
    expect(await operator.replay(nothing, by)).toBeUndefined();
    expect(await operator.listFor(nothing)).toMatchObject([{ action: 'cancel', refusal: 'NOT_FOUND' }]);
  });
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
