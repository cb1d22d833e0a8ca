// The ways to a delivered eSIM: at once, after busy answers, after a lost answer, late. Each has one order at
// the supplier, a posted hold, and a small history that shows operations everything but secrets.
import { afterEach, describe, expect, it } from 'vitest';
import { holdOf, timelineOf, untilClosed } from '../support/people/buyer.ts';
import {
  eventTypes,
  fetchHistory,
  historyBytes,
  payloadTexts,
  summariesOf,
} from '../support/world/history.ts';
import { installOf } from '../support/vendors/install-data.ts';
import {
  startWorkflows,
  SHORT_ANSWER_TIMINGS,
  untilListed,
  type WorkflowHarness,
} from '../support/world/workflow-harness.ts';

const MAX_EVENTS = 18;
const MAX_HISTORY_BYTES = 10 * 1024;

const { stack, harness, buyer } = await startWorkflows();
const topUpTarget = await harness.topUpTarget(buyer);
afterEach(() => stack.clearFaults());

const BOTH = [
  { type: 'BASE', order: () => ({}) },
  { type: 'TOPUP', order: () => ({ esimId: topUpTarget.esimId }) },
] as const;

describe.each(BOTH)('a $type purchase', ({ type, order }) => {
  it('is delivered at once, in few events and bytes', async () => {
    const { transactionId, answer } = await harness.purchase(order());
    expect(answer).toEqual({ status: 'SUCCESS' });
    expect(await harness.result(transactionId)).toEqual({ status: 'SUCCESS' });
    expect(await holdOf(stack, transactionId)).toBe('POSTED');
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
    expect(await timelineOf(stack, transactionId)).toEqual(['wallet-held', 'delivered']);
    const history = await fetchHistory(stack, transactionId);
    expect(history.events.length).toBeLessThanOrEqual(MAX_EVENTS);
    expect(await historyBytes(stack, transactionId)).toBeLessThanOrEqual(MAX_HISTORY_BYTES);
    // Opening, and one inline attempt at the supplier that settles with its answer, both inside the first
    // workflow task.
    expect(eventTypes(history).filter((event) => event === 'ACTIVITY_TASK_SCHEDULED')).toHaveLength(0);
    expect(eventTypes(history).filter((event) => event === 'MARKER_RECORDED')).toHaveLength(2);
  });

  it('keeps secrets out of its history', async () => {
    const { transactionId, input } = await harness.purchase(order());
    const esim = await installOf(stack, input.esimId);
    const secrets = {
      activationCode: esim.ac,
      matchingId: esim.matching_id,
      qrCodeUrl: esim.qr_code_url,
      puk: esim.puk,
      apiKey: buyer.account.apiKey,
      idSecret: stack.env['SIMWAY_ID_SECRET'],
      accessCode: stack.env['SIMWAY_TEST_SUPPLIER_ACCESS_CODE'],
    };
    const texts = payloadTexts(await fetchHistory(stack, transactionId));
    expect(texts.length).toBeGreaterThan(10);
    for (const [name, secret] of Object.entries(secrets)) {
      expect(secret, name).toBeTruthy();
      expect(
        texts.filter((text) => text.includes(secret!)),
        name,
      ).toEqual([]);
    }
    // Four digits may be part of an id or a time: only a value of its own counts.
    expect(esim.pin).toMatch(/^\d{4}$/);
    expect(texts.filter((text) => new RegExp(`(?<![\\da-f])${esim.pin!}(?![\\da-f])`).test(text))).toEqual(
      [],
    );
  });

  it('shows operations what it is, in search attributes and summaries', async () => {
    const { transactionId, input } = await harness.purchase(order());
    await harness.result(transactionId);
    const description = await stack.temporal.workflow.getHandle(transactionId).describe();
    const attributes = Object.fromEntries(
      description.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]),
    );
    const { iccid } = await stack.owner
      .selectFrom('esims')
      .select('iccid')
      .where('id', '=', input.esimId)
      .executeTakeFirstOrThrow();
    expect(attributes).toMatchObject({
      TransactionId: transactionId,
      AccountId: buyer.account.accountId,
      PaymentMethod: 'WALLET',
      PurchaseStatus: 'SUCCESS',
      NeedsAttention: false,
      Iccid: iccid,
    });
    expect(await description.staticSummary()).toBe(`${type} ${input.packageCode}, USD 2.30, WALLET`);
    expect(description.memo).toEqual({ requestId: 'workflow-test' });
    expect(summariesOf(await fetchHistory(stack, transactionId))).toEqual([
      `${type} ${input.packageCode}, USD 2.30, WALLET`,
      'Open: purchase, order and hold in one transaction',
      'Deliver and settle: one inline attempt at the supplier',
    ]);
    await untilListed(stack, `TransactionId = '${transactionId}'`, (ids) => ids.length === 1);
  });

  it('is ordered again with the same id when the supplier is busy', async () => {
    await stack.faults({ busy: { next: 2 } });
    const { transactionId, answer } = await harness.purchase(order());
    expect(answer).toEqual({ status: 'SUCCESS' });
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  });

  it('makes one order when the answer to it is lost', async () => {
    await stack.faults({ loseAnswer: { next: 1 } });
    const { transactionId, answer } = await harness.purchase(order());
    expect(answer).toEqual({ status: 'SUCCESS' });
    const orders = await stack.supplierOrders(transactionId);
    expect(orders).toHaveLength(1);
    // An order is repeated, which the supplier promises to be the same one; a top-up is looked for.
    expect(orders[0]?.requests).toBe(type === 'BASE' ? 2 : 1);
    expect(await holdOf(stack, transactionId)).toBe('POSTED');
  });
});

describe('a slow supplier', () => {
  it('leads to PROCESSING, and to a delivery when the profile is ready', async () => {
    await stack.faults({ neverAllocate: { next: 1 } });
    const { transactionId, answer } = await harness.purchase({ timings: SHORT_ANSWER_TIMINGS });
    expect(answer).toEqual({ status: 'PROCESSING' });
    expect(await holdOf(stack, transactionId)).toBe('HELD');
    const [held] = await stack.supplierOrders(transactionId);
    await fetch(`${stack.supplierControlUrl}/orders/${held!.orderNo}/allocate`, { method: 'POST' });
    expect((await untilClosed(stack, transactionId)).status).toBe('SUCCESS');
    expect(await harness.result(transactionId)).toEqual({ status: 'SUCCESS' });
    expect(await timelineOf(stack, transactionId)).toEqual([
      'wallet-held',
      'ordered-at-supplier',
      'delivered',
    ]);
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
    expect(await harness.ask(await inputOf(transactionId))).toEqual({ status: 'PROCESSING' });
  });

  it('leads to PROCESSING for a top-up, then to one top-up', async () => {
    await stack.faults({ latencyMs: 1_800 });
    const { transactionId, answer } = await harness.purchase({
      esimId: topUpTarget.esimId,
      timings: SHORT_ANSWER_TIMINGS,
    });
    expect(answer).toEqual({ status: 'PROCESSING' });
    await stack.clearFaults();
    expect((await untilClosed(stack, transactionId)).status).toBe('SUCCESS');
    expect(await stack.supplierOrders(transactionId)).toHaveLength(1);
  });
});

/** The input that a purchase was started with, from its own history. */
async function inputOf(transactionId: string): Promise<Parameters<WorkflowHarness['ask']>[0]> {
  const history = await fetchHistory(stack, transactionId);
  const text = payloadTexts(history).find((payload) => payload.startsWith('{"transactionId"'));
  return JSON.parse(text ?? '') as Parameters<WorkflowHarness['ask']>[0];
}
