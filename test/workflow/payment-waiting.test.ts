// A purchase that waits for its money, with the hours of real buyers scaled down to seconds: how often it looks, when it stops, and that it
// never gives money up for lost while the gateway does not say.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { nextPollMs } from '../../src/domain/payment.ts';
import { findPurchaseRow, timelineOf, untilClosed, type Buyer } from '../support/buyer.ts';
import { movedBy } from '../support/fundings.ts';
import { fetchHistory, summariesOf, type HistoryEventJson, type HistoryJson } from '../support/history.ts';
import {
  atGateway,
  buyOutside,
  clearGatewayFaults,
  gatewayFaults,
  looksAtGateway,
  untilStatus,
} from '../support/payments.ts';
import type { Stack } from '../support/stack.ts';
import { until } from '../support/until.ts';
import {
  closeWorkflows,
  startWorkflows,
  PATIENT,
  untilListed,
  untilRow,
  type WorkflowHarness,
} from '../support/workflow-harness.ts';

let stack: Stack;
let harness: WorkflowHarness;
let buyer: Buyer;
beforeAll(async () => {
  ({ stack, harness, buyer } = await startWorkflows(
    {
      env: {
        SIMWAY_TEST_TIMINGS: JSON.stringify({
          answerWithinMs: 3_000,
          openChargeForMs: 6_000,
          pollFirstMs: 300,
          pollMaxMs: 500,
        }),
      },
    },
    { fundsMinor: 0n },
  ));
});
afterEach(() => clearGatewayFaults(stack));
afterAll(() => closeWorkflows({ stack, harness }));

/** Takes money for a second and a half. */
const SOON_OVER = { ...PATIENT, checkoutMs: 1_500, slowLookMs: 300 };

const esimStatus = async (transactionId: string): Promise<string | undefined> =>
  (
    await stack.owner
      .selectFrom('esims')
      .select('status')
      .where('transaction_id', '=', transactionId)
      .executeTakeFirst()
  )?.status;

describe('nobody pays', () => {
  it('ends FAILED with PAYMENT_EXPIRED after one last look, its eSIM CANCELLED, nothing ordered and no money moved', async () => {
    const { transactionId, answer } = await harness.purchase({
      account: buyer.account,
      paidBy: 'CARD',
      timings: SOON_OVER,
    });
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
    expect(payment.looked_at!.getTime()).toBeGreaterThanOrEqual(payment.expires_at.getTime());
    const read = await buyer.read(`/api/esim/transactions/${transactionId}`);
    expect(read.body).toMatchObject({ status: 'FAILED', reason: 'PAYMENT_EXPIRED' });
    expect(read.body).not.toHaveProperty('paymentUrl');
  });

  it('delivers where the money comes in the last moment and only the last look sees it', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const timings = { ...SOON_OVER, pollFirstMs: 60_000, pollMaxMs: 60_000 };
    const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'CARD', timings });
    await atGateway(stack, transactionId, 'pay');
    expect((await untilClosed(stack, transactionId)).status).toBe('SUCCESS');
  });

  it.each([
    ['answers at once', { latencyMs: 0, morePausesThan: 5 }],
    ['is slow', { latencyMs: 700, morePausesThan: 3 }],
  ])('is looked at as often as planned, where the gateway %s', async (_, { latencyMs, morePausesThan }) => {
    await gatewayFaults(stack, { latencyMs });
    const timings = { ...PATIENT, checkoutMs: 9_000, pollFirstMs: 200, pollMaxMs: 500 };
    const before = await looksAtGateway(stack);
    const { transactionId } = await harness.purchase({ account: buyer.account, paidBy: 'CARD', timings });
    await harness.result(transactionId);
    const history = await fetchHistory(stack, transactionId);
    const timers = timersOf(history);
    const openedAtMs = Math.trunc(startedAtMs(history));
    const expiresAtMs = openedAtMs + timings.checkoutMs;
    // A timer of the server is late by up to a second.
    expect(timers.length).toBeGreaterThan(morePausesThan);
    for (const { atMs, lastsMs } of timers) {
      const waitedMs = atMs - openedAtMs;
      const planned = Math.min(nextPollMs(waitedMs, 'CARD', timings), expiresAtMs - atMs);
      // Workflow time is whole milliseconds.
      expect(Math.abs(lastsMs - planned), `after ${waitedMs} ms`).toBeLessThanOrEqual(2);
    }
    // One look a pause, each asked of the gateway once and by nobody else. The last one begins after the end: one that was under way then
    // does not count, and is followed at once.
    const looks = looksOf(history);
    const underWay = looks.filter(({ atMs, heardAtMs }) => atMs < expiresAtMs && heardAtMs >= expiresAtMs);
    expect(looks).toHaveLength(timers.length + underWay.length);
    expect(looks.at(-1)!.atMs).toBeGreaterThanOrEqual(expiresAtMs);
    expect((await looksAtGateway(stack)) - before).toBe(looks.length);
  });
});

describe('the gateway is away when the time is over', () => {
  const openAndLoseGateway = async (): Promise<string> => {
    const { transactionId, answer } = await harness.purchase({
      account: buyer.account,
      paidBy: 'CARD',
      timings: SOON_OVER,
    });
    expect(answer).toEqual({ status: 'PENDING' });
    await gatewayFaults(stack, { error: 1, webhooks: 'drop' });
    return transactionId;
  };
  const untilFlagged = async (transactionId: string): Promise<void> => {
    const row = await untilRow(stack, transactionId, (it) => it.needs_attention_since !== null, 'flagged');
    expect(row).toMatchObject({ status: 'PENDING', attention_reason: 'GATEWAY_OUTCOME_UNKNOWN' });
    const query = `NeedsAttention = true AND Reason = 'GATEWAY_OUTCOME_UNKNOWN'`;
    await untilListed(stack, query, (ids) => ids.includes(transactionId));
    const looks = await looksAtGateway(stack);
    await until(
      () => looksAtGateway(stack),
      (now) => now >= looks + 3,
      { what: 'more looks' },
    );
    expect((await findPurchaseRow(stack, transactionId))?.status).toBe('PENDING');
  };

  it('stays open with a person called once, and delivers what turns out to be paid', async () => {
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
    // Called, and at the end no more.
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

describe('the gateway is away when the payment is to be opened', () => {
  it('is PENDING with the reference alone, and can be paid once the gateway is back', async () => {
    await gatewayFaults(stack, { error: 1 });
    const bought = await buyOutside(stack, buyer.account);
    expect(bought.answer.status).toBe(201);
    expect(bought.answer.body).toMatchObject({ status: 'PENDING', gatewayReference: bought.transactionId });
    expect(bought.answer.body).not.toHaveProperty('paymentUrl');
    await clearGatewayFaults(stack);
    const read = await until(
      () => buyer.read(`/api/esim/transactions/${bought.transactionId}`),
      ({ body }) => 'paymentUrl' in body,
      { what: 'how to pay' },
    );
    expect(read.body).toMatchObject({ status: 'PENDING', paymentUrl: expect.any(String) as unknown });
    await atGateway(stack, bought.reference, 'pay');
    await untilStatus(stack, bought.transactionId, 'SUCCESS');
  });

  it('ends FAILED with PAYMENT_NOT_OPENED where it stays away, since nobody can pay what was never told how', async () => {
    await gatewayFaults(stack, { error: 1 });
    const bought = await buyOutside(stack, buyer.account, { method: 'BANK_TRANSFER' });
    expect(bought.answer.body).toMatchObject({ status: 'PENDING', trackingReference: bought.transactionId });
    expect(bought.answer.body).not.toHaveProperty('bankAccounts');
    expect(await untilClosed(stack, bought.transactionId)).toMatchObject({
      status: 'FAILED',
      reason: 'PAYMENT_NOT_OPENED',
    });
    expect(await esimStatus(bought.transactionId)).toBe('CANCELLED');
    expect((await paymentOf(bought.transactionId)).status).toBe('ASKED');
  });

  it('is told at once where the gateway refuses: nothing is bought', async () => {
    const { transactionId, answer } = await harness.purchase({
      account: buyer.account,
      paidBy: 'CARD',
      // Below what the gateway takes, which the API would not have let through.
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

const timeOf = (event: HistoryEventJson): number => Date.parse(String(event['eventTime']));

const startedAtMs = ({ events }: HistoryJson): number => timeOf(events[0]!);

/** When a workflow did something, by its own clock, and when it next woke. */
function clockAround(
  { events }: HistoryJson,
  { eventId }: HistoryEventJson,
): { atMs: number; wokeAtMs: number } {
  const wakes = events.filter(({ eventType }) => eventType.endsWith('WORKFLOW_TASK_STARTED'));
  const next = wakes.findIndex((wake) => Number(wake.eventId) > Number(eventId));
  return { atMs: timeOf(wakes[next - 1]!), wokeAtMs: timeOf(wakes[next]!) };
}

/** When each look began and when its answer was heard. */
function looksOf(history: HistoryJson): { atMs: number; heardAtMs: number }[] {
  const isLook = (event: HistoryEventJson) =>
    summariesOf({ events: [event] }).includes('Look at the gateway for the money');
  return history.events.filter(isLook).map((event) => {
    const { atMs, wokeAtMs } = clockAround(history, event);
    return { atMs, heardAtMs: wokeAtMs };
  });
}

/** When each timer was set, and how long it was to last. */
function timersOf(history: HistoryJson): { atMs: number; lastsMs: number }[] {
  return history.events.flatMap((event) => {
    const timer = event['timerStartedEventAttributes'] as { startToFireTimeout: string } | undefined;
    if (!timer) return [];
    const lastsMs = Number.parseFloat(timer.startToFireTimeout) * 1000;
    return [{ atMs: clockAround(history, event).atMs, lastsMs }];
  });
}
