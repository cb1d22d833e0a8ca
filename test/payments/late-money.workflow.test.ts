// Money that arrives after its purchase is closed, and abandoned checkouts: found in the gateway's list,
// checked for the last time after three days, with a clock that the test moves, and the hourly sweep itself
// on the real one.
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { followLateMoney } from '../../activities/payments/late-money.ts';
import { HOUR_MS } from '../../src/domain/clock.ts';
import { createPaystackGateway } from '../../src/vendors/paystack/gateway.ts';
import { beginChecks } from '../../src/payments/store/payments.ts';
import { bookSeen } from '../../src/purchases/store/payment-bookings.ts';
import { findOpenRefunds } from '../../src/payments/store/refunds.ts';
import { findPurchaseRow, timelineOf, untilClosed } from '../support/people/buyer.ts';
import { movedBy } from '../support/money/fundings.ts';
import {
  atGateway,
  chargeAt,
  clearGatewayFaults,
  confirm,
  gatewayFaults,
  gatewayChecks,
} from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import { silentEvents } from './answering.support.ts';
import type { PaymentSubject } from '../../src/payments/engine.ts';
import { startWorkflows, LONG_ANSWER_TIMINGS, untilRow } from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows({}, { fundsMinor: 1n });
const gateway = createPaystackGateway({
  baseUrl: stack.gatewayUrl,
  secretKey: 'sk_test_simulator',
  mode: 'test',
});
afterEach(() => clearGatewayFaults(stack));
afterAll(() => gateway.close());

/**
 * The sweep's check, this long after the end of a purchase's time to pay: the payments it marked for
 * attention, and those that it woke.
 */
async function sweepAfter(
  transactionId: string,
  hours: number,
): Promise<{ late: string[]; called: string[] }> {
  await sql`
    update payments set expires_at = clock_timestamp() - ${`${hours} hours`}::interval where transaction_id = ${transactionId}`.execute(
    stack.owner,
  );
  const called: string[] = [];
  const late: string[] = [];
  const engine = {
    checkSoon: (payment: PaymentSubject) => Promise.resolve(void late.push(payment.transactionId)),
  } as Partial<ActivityDeps['engine']>;
  const purchaseNeedsAttention = ({ transactionId: flagged }: { readonly transactionId: string }) =>
    void called.push(flagged);
  const events = { ...silentEvents, purchaseNeedsAttention };
  await followLateMoney({ db: stack.world, gateway, events, engine } as unknown as ActivityDeps);
  return { late, called };
}

/** A purchase that was not paid in time. `before`: what happened to its page meanwhile. */
async function expired(before?: (transactionId: string) => Promise<void>): Promise<string> {
  const timings = { ...LONG_ANSWER_TIMINGS, checkoutMs: before ? 3_000 : 300 };
  const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'CARD', timings });
  await before?.(transactionId);
  expect((await untilClosed(stack, transactionId)).reason).toBe('PAYMENT_EXPIRED');
  await harness.result(transactionId);
  return transactionId;
}

const paymentOf = (transactionId: string) =>
  stack.owner
    .selectFrom('payments')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .executeTakeFirstOrThrow();

const runSweep = () => stack.temporal.schedule.getHandle('sweep-schedule').trigger();

describe('late money without an event', () => {
  it('is found in the gateway’s list and credited to the wallet once; the purchase stays as it ended', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const transactionId = await expired();
    await atGateway(stack, transactionId, 'pay');
    const before = await buyer.balanceMinor();
    await until(
      () => buyer.balanceMinor(),
      (balance) => balance === before + 230n,
      { what: 'the money in the wallet' },
    );
    expect(await timelineOf(stack, transactionId)).toEqual(['opened', 'failed', 'payment-received-late']);
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({
      status: 'FAILED',
      reason: 'PAYMENT_EXPIRED',
      needs_attention_since: null,
    });
    expect(await movedBy(stack, transactionId)).toEqual({
      'gateway-clearing:paystack:USD': -230,
      [`wallet:${buyer.account.accountId}`]: 230,
    });
    await harness.result(`after-${transactionId}`);
    expect(await stack.supplierOrders(transactionId)).toEqual([]);

    await confirm(stack, buyer.account, transactionId);
    expect(await buyer.balanceMinor()).toBe(before + 230n);
  });
});

describe('the hourly sweep', () => {
  it('starts a workflow for a refund that has none', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const transactionId = await expired();
    await atGateway(stack, transactionId, 'pay', { currency: 'NGN' });
    // As if it were seen in the last moment of the workflow that should have sent it.
    const charge = { netMinor: 230n, currency: 'NGN', gatewayId: '1', gatewayStatus: 'success' };
    const [payment] = await beginChecks(stack.world, transactionId);
    await bookSeen(stack.world, transactionId, { state: 'paid', ...charge }, payment!.checkNumber);
    expect((await sweepAfter(transactionId, 0)).late).toEqual([]);
    await stack.owner
      .updateTable('refunds')
      .set({ created_at: new Date(Date.now() - 2 * HOUR_MS) })
      .where('transaction_id', '=', transactionId)
      .execute();
    await runSweep();
    await until(
      () => timelineOf(stack, transactionId),
      (timeline) => timeline.at(-1) === 'refunded',
      { what: 'the refund' },
    );
    expect(await chargeAt(stack, transactionId)).toMatchObject({ refunds: [{ amountMinor: 230 }] });
    expect(await movedBy(stack, transactionId)).toEqual({});
  });
});

/** The number of the sweep's requests to the gateway at that time. */
async function checksOfSweep(transactionId: string, hours: number): Promise<number> {
  const before = await gatewayChecks(stack);
  expect(await sweepAfter(transactionId, hours)).toEqual({ late: [], called: [] });
  return (await gatewayChecks(stack)) - before;
}

describe('for 72 hours after the end', () => {
  it('an abandoned checkout costs no check of its own, and is then closed without an alert', async () => {
    const transactionId = await expired();
    expect(await checksOfSweep(transactionId, 71.9)).toBe(0);
    expect((await paymentOf(transactionId)).status).toBe('OPEN');
    expect(await checksOfSweep(transactionId, 72)).toBe(0);
    expect((await paymentOf(transactionId)).status).toBe('CLOSED');
    expect((await findPurchaseRow(stack, transactionId))?.needs_attention_since).toBeNull();
  });

  it('a payment that has been received costs no check either', async () => {
    const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'CARD' });
    await atGateway(stack, transactionId, 'pay');
    await untilClosed(stack, transactionId);
    expect(await checksOfSweep(transactionId, 71.9)).toBe(0);
    expect(await checksOfSweep(transactionId, 72)).toBe(0);
    expect((await paymentOf(transactionId)).status).toBe('CLOSED');
  });

  it.each<{ name: string; make: (transactionId: string) => Promise<unknown> }>([
    { name: 'a buyer is still on the page', make: () => Promise.resolve() },
    {
      name: 'the gateway answers an unknown status',
      make: () => gatewayFaults(stack, { unknownStatus: 'perhaps' }),
    },
    { name: 'the gateway is away', make: () => gatewayFaults(stack, { error: 1 }) },
    {
      name: 'the gateway does not find a charge that it accepted',
      make: () => gatewayFaults(stack, { otherIntegration: true }),
    },
  ])('$name: is checked once more at the end and marked for attention, and not before', async ({ make }) => {
    const transactionId = await expired(openPage);
    await make(transactionId);
    expect(await checksOfSweep(transactionId, 71)).toBe(0);
    const end = await sweepAfter(transactionId, 72);
    expect(end).toMatchObject({ late: [], called: expect.arrayContaining([transactionId]) as unknown });
    expect(await findPurchaseRow(stack, transactionId)).toMatchObject({
      status: 'FAILED',
      reason: 'PAYMENT_EXPIRED',
      attention_reason: 'PAYMENT_STILL_OPEN',
    });
    expect((await paymentOf(transactionId)).status).toBe('CLOSED');
  });

  it('what the last check finds is given to a workflow, and a dispute to one that waits for a person', async () => {
    const late = await expired(openPage);
    const disputed = await harness.purchase({ account: buyer.account, paidBy: 'CARD' });
    await atGateway(stack, disputed.transactionId, 'pay');
    await untilClosed(stack, disputed.transactionId);
    await atGateway(stack, disputed.transactionId, 'reverse');
    await confirm(stack, buyer.account, disputed.transactionId);
    await untilRow(
      stack,
      disputed.transactionId,
      (row) => row.attention_reason === 'PAYMENT_REVERSED',
      'flagged',
    );
    await gatewayFaults(stack, { webhooks: 'drop', network: { kind: '500', operation: 'transaction/list' } });
    await atGateway(stack, late, 'pay');
    const end = await sweepAfter(late, 72);
    expect(end.late).toEqual(expect.arrayContaining([late, disputed.transactionId]));
    await clearGatewayFaults(stack);
    await runSweep();
    await until(
      () => timelineOf(stack, late),
      (timeline) => timeline.includes('payment-received-late'),
      { what: 'the money booked' },
    );
  });
});

describe('a refund whose payment is taken back first', () => {
  it('ends without being sent; the wallet gets nothing, and no alert is raised', async () => {
    await gatewayFaults(stack, { webhooks: 'drop', network: { kind: '500', operation: 'refund/list' } });
    const before = await buyer.balanceMinor();
    const { transactionId } = await harness.purchase({
      account: buyer.account,
      paidBy: 'CARD',
      packageCode: 'SIM-OUT-OF-STOCK',
    });
    await atGateway(stack, transactionId, 'pay');
    expect((await untilClosed(stack, transactionId)).reason).toBe('PACKAGE_UNAVAILABLE');
    expect(await findOpenRefunds(stack.world, transactionId)).toMatchObject([{ status: 'DUE' }]);
    await atGateway(stack, transactionId, 'reverse');
    await clearGatewayFaults(stack);
    await harness.result(transactionId);
    expect(await chargeAt(stack, transactionId)).toMatchObject({ status: 'reversed', refunds: [] });
    expect(await findOpenRefunds(stack.world, transactionId)).toEqual([]);
    expect((await timelineOf(stack, transactionId)).at(-1)).toBe('payment-reversed');
    expect(await movedBy(stack, transactionId)).toEqual({});
    expect(await buyer.balanceMinor()).toBe(before);
    expect((await findPurchaseRow(stack, transactionId))?.needs_attention_since).toBeNull();
  });
});

describe('late money in another currency', () => {
  it('is sent back each time it arrives, even while an earlier refund is in progress', async () => {
    await gatewayFaults(stack, { refund: 'pending' });
    const transactionId = await expired();
    const refunds = () => findOpenRefunds(stack.world, transactionId);
    await atGateway(stack, transactionId, 'pay', { currency: 'NGN', amountMinor: 50_000 });
    await until(refunds, (open) => open.length === 1 && open[0]?.status === 'PENDING', {
      what: 'a refund in progress',
    });
    await atGateway(stack, transactionId, 'pay', { currency: 'NGN', amountMinor: 30_000 });
    await until(refunds, (open) => open.length === 2, { what: 'a second refund' });
    await clearGatewayFaults(stack);
    await harness.result(`after-${transactionId}`);
    const charge = await chargeAt(stack, transactionId);
    expect(charge.refunds.map(({ amountMinor }) => amountMinor).toSorted((a, b) => a - b)).toEqual([
      30_000, 50_000,
    ]);
    expect(await refunds()).toEqual([]);
    expect(await movedBy(stack, transactionId)).toEqual({});
  });
});

/** Opening the hosted page turns the customer into one who may still pay. */
async function openPage(transactionId: string): Promise<void> {
  const { instructions } = await paymentOf(transactionId);
  if (instructions?.kind !== 'redirect') throw new Error('no page to open');
  expect((await fetch(instructions.paymentUrl)).status).toBe(200);
}
