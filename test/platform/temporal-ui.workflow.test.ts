// What operations see in the Temporal UI, read back through Temporal itself: summaries, current details,
// memos and search attributes of workflows, steps and timers, and the saved queries of docs/OPERATIONS.md,
// each of which finds what its name says.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TypedSearchAttributes } from '@temporalio/common';
import {
  ACCOUNT_ID,
  GATEWAY_REFERENCE,
  ICCID,
  NEEDS_ATTENTION,
  PAYMENT_METHOD,
  PURCHASE_STATUS,
  REASON,
  TITLE,
  TRANSACTION_ID,
} from '../../workflows/search-attributes.ts';
import { fundThroughGateway } from '../support/money/fundings.ts';
import { fetchHistory, payloadTexts } from '../support/world/history.ts';
import {
  atGateway,
  buyThroughGateway,
  clearGatewayFaults,
  confirm,
  gatewayFaults,
} from '../support/money/payments.ts';
import { until } from '../support/time/until.ts';
import {
  EARLY_ATTENTION_TIMINGS,
  startWorkflows,
  LONG_ANSWER_TIMINGS,
  untilListed,
} from '../support/world/workflow-harness.ts';

const { stack, harness, buyer } = await startWorkflows();
afterEach(async () => {
  await stack.clearFaults();
  await clearGatewayFaults(stack);
});

async function shown(workflowId: string) {
  const description = await stack.temporal.workflow.getHandle(workflowId).describe();
  return {
    summary: await description.staticSummary(),
    memo: description.memo,
    attributes: description.typedSearchAttributes,
  };
}

/** The sentence on the workflow's page: it is not stored, a worker answers it on request. */
async function details(workflowId: string): Promise<string> {
  const metadata = await stack.temporal.workflow
    .getHandle(workflowId)
    .query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails ?? '';
}

/** Search attributes by name. */
function valuesOf(attributes: TypedSearchAttributes): Record<string, unknown> {
  const keys = [
    ACCOUNT_ID,
    GATEWAY_REFERENCE,
    ICCID,
    NEEDS_ATTENTION,
    PAYMENT_METHOD,
    PURCHASE_STATUS,
    REASON,
    TITLE,
    TRANSACTION_ID,
  ];
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value: unknown = attributes.get(key);
      return value === undefined ? [] : [[key.name, value]];
    }),
  );
}

describe('a purchase in the Temporal UI', () => {
  it('from the wallet shows what was bought, for whom, by which request, and how it ended', async () => {
    const answer = await stack.call('POST', '/api/esim/buy', {
      key: buyer.account.apiKey,
      body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
      headers: { 'X-Request-Id': 'seen-in-the-ui' },
    });
    const { transactionId } = answer.body;
    const { summary, memo, attributes } = await until(
      () => shown(transactionId),
      (seen) => valuesOf(seen.attributes)['PurchaseStatus'] === 'SUCCESS',
      { what: 'the purchase in the UI' },
    );
    expect(summary).toContain('SIM-OK');
    expect(memo).toEqual({ requestId: 'seen-in-the-ui' });
    expect(valuesOf(attributes)).toEqual({
      // A column of the list. Temporal stores it in clear, so it names no buyer.
      Title: 'eSIM Sandbox SIM-OK 1GB 7Days',
      TransactionId: transactionId,
      AccountId: buyer.account.accountId,
      PaymentMethod: 'WALLET',
      PurchaseStatus: 'SUCCESS',
      NeedsAttention: false,
      Iccid: expect.stringMatching(/^\d{18,20}$/) as unknown,
    });
    expect(await details(transactionId)).toBe('Delivered and settled.');
    const texts = payloadTexts(await fetchHistory(stack, transactionId));
    expect(texts.some((text) => text.includes('Open: purchase, order and hold in one transaction'))).toBe(
      true,
    );
  });

  it.each([
    { type: 'MERCHANT', buyer: 'Test account' },
    { type: 'USER', buyer: 'a user' },
  ] as const)(
    'of a $type names the package, and the buyer only if it is a company',
    async ({ type, buyer: named }) => {
      const account = await stack.account({ type });
      const { body } = await stack.call('POST', '/api/esim/buy', {
        key: account.apiKey,
        body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
      });
      const { summary } = await shown(body.transactionId);
      expect(summary).toMatch(
        new RegExp(`^eSIM Sandbox SIM-OK 1GB 7Days for ${named}, USD \\d+\\.\\d\\d, WALLET$`),
      );
    },
  );

  it('waiting for money shows until when, and its reference', async () => {
    const { transactionId, reference } = await buyThroughGateway(stack, buyer.account);
    expect(await details(transactionId)).toMatch(/^Waiting for money until \d{4}-\d\d-\d\dT/);
    expect(valuesOf((await shown(transactionId)).attributes)).toMatchObject({
      PurchaseStatus: 'PENDING',
      PaymentMethod: 'CARD',
      GatewayReference: reference,
    });
    const texts = payloadTexts(await fetchHistory(stack, transactionId));
    for (const summary of ['Collect: open the payment at the gateway', 'Waiting for money until '])
      expect(
        texts.some((text) => text.includes(summary)),
        summary,
      ).toBe(true);
  });

  it('that needs attention shows why, and that no money is lost', async () => {
    await stack.faults({ neverAllocate: 1 });
    const { transactionId } = await harness.purchase({
      account: buyer.account,
      timings: EARLY_ATTENTION_TIMINGS,
    });
    await until(
      () => details(transactionId),
      (text) => text.startsWith('Needs attention: SUPPLIER_NEVER_ALLOCATED.'),
      { what: 'the purchase needs attention' },
    );
    expect(valuesOf((await shown(transactionId)).attributes)).toMatchObject({
      NeedsAttention: true,
      Reason: 'SUPPLIER_NEVER_ALLOCATED',
    });
    await stack.clearFaults();
    await harness.result(transactionId);
    expect(await details(transactionId)).toBe('Delivered and settled.');
    const atTheEnd = valuesOf((await shown(transactionId)).attributes);
    expect(atTheEnd).toMatchObject({ NeedsAttention: false });
    expect(atTheEnd).not.toHaveProperty('Reason');
  });

  it('that ended without delivery shows why', async () => {
    await stack.faults({ outOfStock: 1 });
    const { transactionId } = await harness.purchase({ account: buyer.account });
    await harness.result(transactionId);
    expect(await details(transactionId)).toMatch(/^Ended without delivery: [A-Z_]+\. No money is kept\.$/);
  });
});

describe('the other workflows in the Temporal UI', () => {
  it('show a wallet being funded', async () => {
    const { transactionId } = await fundThroughGateway(stack, buyer.account, { amount: 25, method: 'CARD' });
    const { summary, memo, attributes } = await shown(transactionId);
    expect(summary).toBe('Wallet funded with USD 25.00, CARD');
    expect(valuesOf((await shown(transactionId)).attributes)).toMatchObject({ Title: 'Wallet funding' });
    expect(memo).toEqual({ requestId: expect.stringMatching(/^[\w.-]+$/) as unknown });
    expect(valuesOf(attributes)).toMatchObject({ TransactionId: transactionId, PurchaseStatus: 'PENDING' });
    await atGateway(stack, transactionId, 'pay');
    await stack.temporal.workflow.getHandle(transactionId).result();
    expect(await details(transactionId)).toBe('The wallet is credited.');
  });

  it('show for late money which request found it', async () => {
    await gatewayFaults(stack, { webhooks: 'drop' });
    const { transactionId } = await harness.purchase({
      account: buyer.account,
      paidBy: 'CARD',
      timings: { ...LONG_ANSWER_TIMINGS, checkoutMs: 500 },
    });
    await harness.result(transactionId);
    expect(await details(transactionId)).toBe('Ended without delivery: PAYMENT_EXPIRED. No money is kept.');
    await atGateway(stack, transactionId, 'pay');
    const asked = await confirm(stack, buyer.account, transactionId);
    const late = `after-${transactionId}`;
    await stack.temporal.workflow.getHandle(late).result();
    const { summary, memo, attributes } = await shown(late);
    expect(summary).toBe('After closing: late money, refunds and disputes');
    expect(memo).toEqual({ requestId: asked.headers.get('X-Request-Id') });
    expect(valuesOf(attributes)).toMatchObject({ TransactionId: transactionId, NeedsAttention: false });
    expect(await details(late)).toBe('What the gateway has is booked, and what had to go back is sent.');
  });
});

describe('the saved queries of docs/OPERATIONS.md', () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'OPERATIONS.md'), 'utf8');
  const queries = new Map(
    Array.from(text.matchAll(/^\| ([\w ,]+?) +\| `([^`]+)` +\|$/gm), ([, name = '', query = '']) => [
      name,
      query,
    ]),
  );

  it('are all valid in Temporal', async () => {
    expect(queries.size).toBeGreaterThan(8);
    for (const [name, query] of queries)
      await expect(stack.temporal.workflow.count(query), name).resolves.toBeDefined();
  });

  it('find what needs attention, what waits for money and what is paid and not delivered', async () => {
    const pending = (await buyThroughGateway(stack, buyer.account)).transactionId;
    await stack.faults({ neverAllocate: 1 });
    const stuck = (await harness.purchase({ account: buyer.account, timings: EARLY_ATTENTION_TIMINGS }))
      .transactionId;
    for (const [name, id] of [
      ['waiting for money', pending],
      ['needs attention', stuck],
      ['supplier does not answer', stuck],
      ['paid, not delivered', stuck],
    ] as const)
      await untilListed(stack, queries.get(name) ?? '', (ids) => ids.includes(id));
    const one = (queries.get('one customer') ?? '').replace('acc-…', buyer.account.accountId);
    const customers = await untilListed(stack, one, (ids) => ids.includes(pending) && ids.includes(stuck));
    expect(await stack.temporal.workflow.count(one)).toMatchObject({ count: customers.length });
    await stack.clearFaults();
    await harness.result(stuck);
    await untilListed(stack, queries.get('needs attention') ?? '', (ids) => !ids.includes(stuck));
  });
});
