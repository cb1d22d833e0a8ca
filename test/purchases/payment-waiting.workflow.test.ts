// A purchase that waits for its money, with the hours of real buyers scaled down to seconds: its cost, its
// end, and that it never gives money up while the gateway does not answer.
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { findPurchaseRow, timelineOf, untilClosed } from '../support/people/buyer.ts';
import { movedBy } from '../support/money/fundings.ts';
import { fetchHistory } from '../support/world/history.ts';
import {
  atGateway,
  buyThroughGateway,
  clearGatewayFaults,
  gatewayFaults,
  gatewayChecks,
  untilStatus,
} from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import {
  startWorkflows,
  LONG_ANSWER_TIMINGS,
  untilListed,
  untilRow,
} from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows(
  {
    timings: {
      answerWithinMs: 3_000,
      openChargeForMs: 6_000,
      pollFirstMs: 300,
      pollMaxMs: 500,
    },
  },
  { fundsMinor: 0n },
);
afterEach(() => clearGatewayFaults(stack));

/** Can be paid for a second and a half. */
const SOON_OVER = { ...LONG_ANSWER_TIMINGS, checkoutMs: 1_500, slowCheckMs: 300 };

const esimStatus = async (transactionId: string): Promise<string | undefined> =>
  (
    await stack.owner
      .selectFrom('esims')
      .select('status')
      .where('transaction_id', '=', transactionId)
      .executeTakeFirst()
  )?.status;

describe('an unpaid purchase', () => {
  it('ends FAILED with PAYMENT_EXPIRED after one last check, its eSIM CANCELLED, nothing ordered and no money moved', async () => {
    const { transactionId, answer } = await harness.purchase({ paidBy: 'CARD', timings: SOON_OVER });
    expect(answer).toEqual({ status: 'PENDING' });
    expect(await esimStatus(transactionId)).toBe('PENDING');
    expect(await untilClosed(stack, transactionId)).toMatchObject({
      status: 'FAILED',
      reason: 'PAYMENT_EXPIRED',
      needs_attention_since: null,
    });
    expect(await harness.result(transactionId)).toEqual({ status: 'FAILED', reason: 'PAYMENT_EXPIRED' });
    expect(await esimStatus(transactionId)).toBe('CANCELLED');
    expect(await timelineOf(stack, transactionId)).toEqual(['opened', 'failed']);
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
    expect(await movedBy(stack, transactionId)).toEqual({});
    const payment = await paymentOf(transactionId);
    expect(payment.checked_at!.getTime()).toBeGreaterThanOrEqual(payment.expires_at.getTime());
    const read = await buyer.read(`/api/esim/transactions/${transactionId}`);
    expect(read.body).toMatchObject({ status: 'FAILED', reason: 'PAYMENT_EXPIRED' });
    expect(read.body).not.toHaveProperty('paymentUrl');
  });

  it('is delivered when the money comes in the last moment and only the last check sees it', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const { transactionId } = await harness.purchase({ paidBy: 'CARD', timings: SOON_OVER });
    await atGateway(stack, transactionId, 'pay');
    expect((await untilClosed(stack, transactionId)).status).toBe('SUCCESS');
  });

  it('costs one check at the end and some thirty events of history, however long it waits', async () => {
    // The monitor reads the list, which counts as no check.
    const before = await gatewayChecks(stack);
    const timings = { ...LONG_ANSWER_TIMINGS, checkoutMs: 9_000 };
    const { transactionId } = await harness.purchase({ paidBy: 'CARD', timings });
    await harness.result(transactionId);
    expect((await gatewayChecks(stack)) - before).toBe(1);
    const { events } = await fetchHistory(stack, transactionId);
    console.log(`an abandoned checkout: ${events.length} events of history`);
    expect(events.length).toBeLessThanOrEqual(60);
  });
});

describe('a charge that the gateway accepted and does not find: its key belongs to another integration', () => {
  it('stays open and needs attention, and is delivered once the right key finds the money', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const { transactionId } = await harness.purchase({ paidBy: 'CARD', timings: SOON_OVER });
    await atGateway(stack, transactionId, 'pay');
    await gatewayFaults(stack, { otherIntegration: true });
    const row = await untilRow(
      stack,
      transactionId,
      (it) => it.closed_at !== null || it.needs_attention_since !== null,
      'ended or flagged',
    );
    expect(row).toMatchObject({ status: 'PENDING', attention_reason: 'GATEWAY_OUTCOME_UNKNOWN' });
    await gatewayFaults(stack, { otherIntegration: false });
    expect(await untilClosed(stack, transactionId)).toMatchObject({
      status: 'SUCCESS',
      needs_attention_since: null,
    });
  });
});

describe('a purchase whose time ends while the gateway is down', () => {
  const openAndLoseGateway = async (): Promise<string> => {
    const { transactionId, answer } = await harness.purchase({ paidBy: 'CARD', timings: SOON_OVER });
    expect(answer).toEqual({ status: 'PENDING' });
    await gatewayFaults(stack, { error: 1, webhooks: 'drop' });
    return transactionId;
  };
  const untilFlagged = async (transactionId: string): Promise<void> => {
    const row = await untilRow(stack, transactionId, (it) => it.needs_attention_since !== null, 'flagged');
    expect(row).toMatchObject({ status: 'PENDING', attention_reason: 'GATEWAY_OUTCOME_UNKNOWN' });
    const query = `NeedsAttention = true AND Reason = 'GATEWAY_OUTCOME_UNKNOWN'`;
    await untilListed(stack, query, (ids) => ids.includes(transactionId));
    const checks = await gatewayChecks(stack);
    await until(
      () => gatewayChecks(stack),
      (now) => now >= checks + 3,
      { what: 'more checks' },
    );
    expect((await findPurchaseRow(stack, transactionId))?.status).toBe('PENDING');
  };

  it('stays open with one alert, and is delivered if it was paid', async () => {
    const transactionId = await openAndLoseGateway();
    await atGateway(stack, transactionId, 'pay');
    await untilFlagged(transactionId);
    await clearGatewayFaults(stack);
    expect(await untilClosed(stack, transactionId)).toMatchObject({
      status: 'SUCCESS',
      needs_attention_since: null,
    });
    await harness.result(transactionId);
    const upserts = (await fetchHistory(stack, transactionId)).events.filter(
      (event) =>
        event.eventType.endsWith('UPSERT_WORKFLOW_SEARCH_ATTRIBUTES') &&
        JSON.stringify(event).includes('NeedsAttention'),
    );
    // One alert, and none at the end.
    expect(upserts).toHaveLength(2);
  });

  it('stays open, and ends unpaid only once the gateway says so', async () => {
    const transactionId = await openAndLoseGateway();
    await untilFlagged(transactionId);
    await clearGatewayFaults(stack);
    expect(await untilClosed(stack, transactionId)).toMatchObject({
      status: 'FAILED',
      reason: 'PAYMENT_EXPIRED',
      needs_attention_since: null,
    });
    await untilListed(stack, 'NeedsAttention = true', (ids) => !ids.includes(transactionId));
  });
});

describe('a payment opened while the gateway is down', () => {
  it('is PENDING with its reference only, and can be paid once the gateway is back', async () => {
    await gatewayFaults(stack, { error: 1 });
    const bought = await buyThroughGateway(stack, buyer.account);
    expect(bought.answer.status).toBe(201);
    expect(bought.answer.body).toMatchObject({ status: 'PENDING', gatewayReference: bought.transactionId });
    expect(bought.answer.body).not.toHaveProperty('paymentUrl');
    await clearGatewayFaults(stack);
    const read = await until(
      () => buyer.read(`/api/esim/transactions/${bought.transactionId}`),
      ({ body }) => 'paymentUrl' in body,
      { what: 'the payment instructions' },
    );
    expect(read.body).toMatchObject({ status: 'PENDING', paymentUrl: expect.any(String) as unknown });
    await atGateway(stack, bought.reference, 'pay');
    await untilStatus(stack, bought.transactionId, 'SUCCESS');
  });

  it('stays open while the gateway is down, and is PAYMENT_NOT_OPENED once it says that it holds none', async () => {
    await gatewayFaults(stack, { error: 1 });
    const bought = await buyThroughGateway(stack, buyer.account, { method: 'BANK_TRANSFER' });
    expect(bought.answer.body).toMatchObject({ status: 'PENDING', trackingReference: bought.transactionId });
    expect(bought.answer.body).not.toHaveProperty('bankAccounts');
    // Tried for long enough, and nothing that was sent can arrive any more.
    await sql`
      update payments set created_at = created_at - interval '1 day', send_before = send_before - interval '1 minute'
       where transaction_id = ${bought.transactionId}`.execute(stack.owner);
    const before = await gatewayChecks(stack);
    await until(
      () => gatewayChecks(stack),
      (checks) => checks > before + 1,
      { what: 'checks without an answer' },
    );
    expect((await findPurchaseRow(stack, bought.transactionId))?.status).toBe('PENDING');
    await clearGatewayFaults(stack);
    expect(await untilClosed(stack, bought.transactionId)).toMatchObject({
      status: 'FAILED',
      reason: 'PAYMENT_NOT_OPENED',
    });
    expect(await esimStatus(bought.transactionId)).toBe('CANCELLED');
    expect((await paymentOf(bought.transactionId)).status).toBe('ASKED');
  });

  it('is refused at once when the gateway refuses it: nothing is bought', async () => {
    const { transactionId, answer } = await harness.purchase({
      paidBy: 'CARD',
      // Below the gateway's minimum, which the API would not have allowed.
      priceMinor: '230',
      chargeMinor: '199',
    });
    expect(answer).toMatchObject({ status: 'REFUSED', refusal: { reason: 'PAYMENT_NOT_SERVED' } });
    expect(await harness.result(transactionId)).toEqual({ status: 'FAILED', reason: 'PAYMENT_NOT_SERVED' });
    expect(await esimStatus(transactionId)).toBe('CANCELLED');
  });
});

function paymentOf(transactionId: string) {
  return stack.owner
    .selectFrom('payments')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .executeTakeFirstOrThrow();
}
