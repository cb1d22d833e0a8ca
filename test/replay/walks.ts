// Each path that a workflow can take, walked on a stack as merchants, buyers, vendors and operators do.
import { sql } from 'kysely';
import type { GatewayMethod } from '../../src/domain/states.ts';
import { voidHold } from '../../src/ledger/store/holds.ts';
import { OPS_QUEUE } from '../../workflows/contract.ts';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';
import { fundThroughGateway } from '../support/money/fundings.ts';
import { eventTypes, fetchHistory, type HistoryJson } from '../support/world/history.ts';
import { reopenHold } from '../support/money/holds.ts';
import { EVIDENCE, newOperator } from '../support/people/operator-actions.ts';
import { atGateway, clearGatewayFaults, gatewayFaults } from '../support/money/payments.ts';
import type { Stack, TestAccount } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { answerStatus, startReceiver, type Receiver } from '../support/people/webhook-receiver.ts';
import {
  EARLY_ATTENTION_TIMINGS,
  createWorkflowHarness,
  RARE_CHECK_TIMINGS,
  SHORT_ANSWER_TIMINGS,
  LONG_ANSWER_TIMINGS,
  untilListed,
  untilRow,
  type Order,
  type WorkflowHarness,
} from '../support/world/workflow-harness.ts';
import { createDeliveryHarness, type DeliveryHarness } from '../webhooks/deliver-webhook.support.ts';
import type { RecordedPath } from './paths.ts';

interface Recording {
  readonly stack: Stack;
  readonly harness: WorkflowHarness;
  readonly buyer: Buyer;
  readonly shop: Shop;
}

/** An account with a webhook endpoint. */
interface Shop {
  readonly stack: Stack;
  readonly account: TestAccount;
  readonly receiver: Receiver;
  readonly deliveries: DeliveryHarness;
}

/** Runs a path to its end and answers the id of its workflow. */
type Walk = (recording: Recording) => Promise<string>;

const flagged = (stack: Stack, transactionId: string) =>
  untilRow(stack, transactionId, (row) => row.needs_attention_since !== null, 'flagged');

/** Can be paid for a second; the gateway's events and our polling do the rest. */
const SOON_OVER = { ...LONG_ANSWER_TIMINGS, checkoutMs: 1_000 };

/** A purchase, with its first answer. */
const bought = async ({ harness }: Recording, order: Order = {}): Promise<string> =>
  (await harness.purchase(order)).transactionId;

/** One through the gateway, opened and not paid. */
const opened = (recording: Recording, paidBy: GatewayMethod, more: Order = {}): Promise<string> =>
  bought(recording, { paidBy, ...more });

/** One that goes through while its supplier has these faults. */
async function boughtWith(recording: Recording, faults: Record<string, unknown>, order: Order = {}) {
  await recording.stack.faults(faults);
  return bought(recording, order);
}

/** One whose time is over, and the workflow for what follows. */
async function lateMoney(recording: Recording, payment: object): Promise<string> {
  const transactionId = await opened(recording, 'CARD', { timings: SOON_OVER });
  await recording.harness.result(transactionId);
  await atGateway(recording.stack, transactionId, 'pay', payment);
  await untilListed(recording.stack, `WorkflowId = 'after-${transactionId}'`, (ids) => ids.length > 0);
  return `after-${transactionId}`;
}

const WALKS: Record<RecordedPath, Walk> = {
  'base-success': (recording) => bought(recording),
  'top-up-success': async ({ harness, buyer }) => {
    const { esimId } = await harness.topUpTarget(buyer);
    return (await harness.purchase({ esimId })).transactionId;
  },
  'insufficient-balance': (recording) => bought(recording, { priceMinor: '99999999999' }),
  refused: (recording) => boughtWith(recording, { outOfStock: 1 }),
  'refused-by-old-catalogue': (recording) => boughtWith(recording, { priceChanged: 1 }),
  'refused-after-doubt': async (recording) => {
    const transactionId = await boughtWith(recording, { busy: 1 }, { timings: SHORT_ANSWER_TIMINGS });
    await recording.stack.faults({ busy: 0, outOfStock: 1 });
    return transactionId;
  },
  'refused-then-delivered': async ({ stack, harness }) => {
    await stack.faults({ busy: 1 });
    const timings = { ...SHORT_ANSWER_TIMINGS, inFlightGraceMs: 3_000 };
    const { transactionId } = await harness.purchase({ timings });
    await stack.faults({ busy: 0, outOfStock: { next: 1 } });
    await until(
      () => asks(stack, transactionId),
      (count) => count > 2,
      { what: 'refused, and asked again' },
    );
    return transactionId;
  },
  'moved-while-delivering': async ({ stack, harness }) => {
    await stack.faults({ neverAllocate: 1 });
    const { transactionId } = await harness.purchase({ timings: RARE_CHECK_TIMINGS });
    await newOperator(stack).act(transactionId, 'check-supplier');
    await newOperator(stack).act(transactionId, 'cancel', { evidence: EVIDENCE });
    return transactionId;
  },
  'own-step-fails': async ({ stack, harness }) => {
    const input = harness.inputFor();
    const lock = await stack.owner.startTransaction().execute();
    await sql`lock table packages in access exclusive mode`.execute(lock);
    const answer = harness.ask(input);
    await untilHistory(stack, input.transactionId, 'TIMER_STARTED');
    await lock.rollback().execute();
    await answer;
    return input.transactionId;
  },
  'answer-lost': (recording) => boughtWith(recording, { loseAnswer: { next: 1 } }),
  'processing-then-success': (recording) =>
    boughtWith(recording, { neverAllocate: 1 }, { timings: SHORT_ANSWER_TIMINGS }),
  'attention-then-success': async (recording) => {
    const order = { timings: EARLY_ATTENTION_TIMINGS };
    const transactionId = await boughtWith(recording, { neverAllocate: 1 }, order);
    await flagged(recording.stack, transactionId);
    return transactionId;
  },
  'settle-failed-then-settled': async (recording) => {
    const { stack } = recording;
    const order = { timings: SHORT_ANSWER_TIMINGS };
    const transactionId = await boughtWith(recording, { neverAllocate: 1 }, order);
    await voidHold(stack.world, transactionId);
    await stack.clearFaults();
    await flagged(stack, transactionId);
    await reopenHold(stack.owner, transactionId);
    return transactionId;
  },
  'cancel-requested': async (recording) => {
    const order = { timings: SHORT_ANSWER_TIMINGS };
    const transactionId = await boughtWith(recording, { neverAllocate: 1 }, order);
    await recording.stack.temporal.workflow.getHandle(transactionId).cancel();
    return transactionId;
  },
  'card-success': async (recording) => {
    const transactionId = await opened(recording, 'CARD');
    await atGateway(recording.stack, transactionId, 'pay');
    return transactionId;
  },
  'card-opened-later': async (recording) => {
    await gatewayFaults(recording.stack, { error: 1 });
    const transactionId = await opened(recording, 'CARD', {
      timings: { ...SHORT_ANSWER_TIMINGS, openChargeForMs: 60_000 },
    });
    await clearGatewayFaults(recording.stack);
    await untilOpen(recording.stack, transactionId);
    await atGateway(recording.stack, transactionId, 'pay');
    return transactionId;
  },
  'card-expired': (recording) => opened(recording, 'CARD', { timings: SOON_OVER }),
  'card-refunded': async (recording) => {
    const transactionId = await opened(recording, 'CARD', { packageCode: 'SIM-OUT-OF-STOCK' });
    await atGateway(recording.stack, transactionId, 'pay');
    return transactionId;
  },
  'card-gateway-away-at-the-end': async (recording) => {
    const transactionId = await opened(recording, 'CARD', { timings: SOON_OVER });
    await gatewayFaults(recording.stack, { error: 1 });
    await flagged(recording.stack, transactionId);
    return transactionId;
  },
  'transfer-short': async (recording) => {
    const transactionId = await opened(recording, 'BANK_TRANSFER');
    await atGateway(recording.stack, transactionId, 'pay', { amountMinor: 300_000 });
    return transactionId;
  },
  'fund-wallet-success': async ({ stack, buyer }) => {
    const { transactionId } = await fundThroughGateway(stack, buyer.account, { amount: 25, method: 'CARD' });
    await atGateway(stack, transactionId, 'pay');
    return transactionId;
  },
  'fund-wallet-expired': async ({ stack }) => {
    // The simulator's account can be paid for two seconds only.
    const account = await stack.account({ fundsMinor: 0n, email: 'late+sandbox-late@test.example' });
    const wanted = { amount: 25, method: 'BANK_TRANSFER' } as const;
    return (await fundThroughGateway(stack, account, wanted)).transactionId;
  },
  'after-closing': (recording) => lateMoney(recording, {}),
  'after-closing-sent-back': (recording) => lateMoney(recording, { currency: 'NGN' }),
  'sync-catalogue': ({ stack }) => scheduled(stack, 'syncCatalogue'),
  'refresh-rates': ({ stack }) => scheduled(stack, 'refreshRates'),
  'refresh-usage': ({ stack }) => scheduled(stack, 'refreshUsage'),
  sweep: ({ stack }) => scheduled(stack, 'sweep'),
  'apply-inbox': ({ stack }) => scheduled(stack, 'applyInbox'),
  'deliver-webhook-again': ({ shop }) => sent(shop, 3),
  'deliver-webhook-gone': ({ shop }) => sent(shop, 2, answerStatus(410)),
  'sweep-webhooks': ({ stack }) => scheduled(stack, 'sweepWebhooks'),
  'tidy-webhooks': ({ stack }) => scheduled(stack, 'tidyWebhooks'),
  reconcile: async ({ stack }) => {
    const workflowId = 'reconcile-recorded';
    const args = [{ askedBy: 'a recording' }];
    await stack.temporal.workflow.start('reconcile', { taskQueue: OPS_QUEUE, workflowId, args });
    return workflowId;
  },
  /** Two rows that are delivered late. */
  'run-job': async ({ stack, buyer }) => {
    await stack.faults({ neverAllocate: 1 });
    const rows = ['a', 'b'].map((reference) => ({ reference, packageCode: 'SIM-OK' }));
    const key = buyer.account.apiKey;
    const { body } = await stack.call('POST', '/api/esim/orders/batch', { key, body: { rows } });
    const { batchId } = body.data;
    await until(
      () => stack.owner.selectFrom('jobs').select(['all_begun_at', 'closed_at']).executeTakeFirst(),
      (found) => found?.all_begun_at instanceof Date && found.closed_at === null,
      { what: 'a row in progress' },
    );
    await stack.clearFaults();
    return batchId;
  },
  'sweep-jobs': ({ stack }) => scheduled(stack, 'sweepJobs'),
  'raise-alerts': ({ stack }) => scheduled(stack, 'raiseAlerts'),
  'return-esim': async ({ stack, buyer }) => {
    const { body } = await buyer.buy('SIM-RETURN-LOSE-ANSWER');
    const { esimId } = body.esimDetails;
    const key = buyer.account.apiKey;
    const answer = await stack.call('POST', `/api/esim/${esimId}/returns`, { key, body: {} });
    return (answer.body.data as unknown as { returnId: string }).returnId;
  },
  'replace-esim': async ({ stack, buyer }) => {
    const { body } = await buyer.buy('SIM-RETURN-LOSE-ANSWER');
    const { esimId } = body.esimDetails;
    const key = buyer.account.apiKey;
    const post = (path: string) => stack.call('POST', path, { key, body: {} });
    await post(`/api/sandbox/esims/${esimId}/install`);
    await post(`/api/sandbox/esims/${esimId}/delete-profile`);
    const answer = await post(`/api/esim/${esimId}/replacements`);
    const { replacementId } = answer.body.data as unknown as { replacementId: string };
    await stack.temporal.workflow.getHandle(replacementId).result();
    return replacementId;
  },
  'after-closing-moved': async ({ stack, harness, shop }) => {
    const { transactionId } = await harness.purchase({ account: shop.account });
    await stack.temporal.workflow.getHandle(transactionId).result();
    await newOperator(stack).act(transactionId, 'check-supplier');
    return `after-${transactionId}`;
  },
  'after-closing-disputed': async (recording) => {
    const { stack, harness } = recording;
    const transactionId = await opened(recording, 'CARD');
    await atGateway(stack, transactionId, 'pay');
    await harness.result(transactionId);
    await atGateway(stack, transactionId, 'dispute');
    await untilListed(
      stack,
      `WorkflowId = 'after-${transactionId}' AND NeedsAttention = true`,
      (ids) => ids.length > 0,
    );
    await atGateway(stack, transactionId, 'dispute', { action: 'resolve', resolution: 'declined' });
    await newOperator(stack).act(transactionId, 'settle-dispute', { evidence: EVIDENCE, outcome: 'won' });
    return `after-${transactionId}`;
  },
  'card-refund-blocked': async (recording) => {
    const { stack } = recording;
    await stack.faults({ outOfStock: 1 });
    await gatewayFaults(stack, { refund: 'needs-attention', refundDelayMs: 10 });
    const transactionId = await opened(recording, 'CARD');
    await atGateway(stack, transactionId, 'pay');
    await flagged(stack, transactionId);
    await newOperator(stack).act(transactionId, 'credit-wallet', { evidence: EVIDENCE });
    return transactionId;
  },
};

const TAKEN = answerStatus(204);

/**
 * A message that is refused this often before it gets another answer. After two refusals a workflow carries
 * it.
 */
async function sent(shop: Shop, refusals: number, then = TAKEN): Promise<string> {
  const { account, receiver, stack, deliveries } = shop;
  const listener = await receiver.listen(stack, account, {
    answer: (response, received) =>
      (listener.received.length > refusals ? then : answerStatus(503))(response, received),
  });
  const messageId = await deliveries.send(account, listener);
  await deliveries.untilCarried(messageId);
  return messageId;
}

async function asks(stack: Stack, transactionId: string): Promise<number> {
  const orders = await stack.owner
    .selectFrom('supplier_orders')
    .select('attempts')
    .where('transaction_id', '=', transactionId)
    .execute();
  return orders.reduce((sum, { attempts }) => sum + attempts, 0);
}

/** Until the workflow has come to this event. */
function untilHistory(stack: Stack, transactionId: string, type: string) {
  return until(
    async () => eventTypes(await fetchHistory(stack, transactionId)),
    (types) => types.includes(type),
    { what: `${transactionId} with ${type}` },
  );
}

/** Until the gateway has sent payment instructions. */
function untilOpen(stack: Stack, transactionId: string) {
  return until(
    () =>
      stack.owner
        .selectFrom('payments')
        .select('status')
        .where('transaction_id', '=', transactionId)
        .executeTakeFirst(),
    (payment) => payment?.status === 'OPEN',
    { what: 'an open payment' },
  );
}

/** The run that every worker's start triggers. */
async function scheduled(stack: Stack, workflowType: string): Promise<string> {
  const query = `WorkflowType = '${workflowType}' AND ExecutionStatus = 'Completed'`;
  const workflowId = await until(
    async () => {
      for await (const workflow of stack.temporal.workflow.list({ query })) return workflow.workflowId;
      return undefined;
    },
    (found) => found !== undefined,
    { what: `a completed ${workflowType}` },
  );
  return workflowId ?? '';
}

/** Walks the path to its end and answers the history of its workflow. */
export async function walk(recording: Recording, path: RecordedPath): Promise<HistoryJson> {
  const { stack } = recording;
  const workflowId = await WALKS[path](recording);
  await stack.clearFaults();
  await clearGatewayFaults(stack);
  await stack.temporal.workflow.getHandle(workflowId).result();
  return fetchHistory(stack, workflowId);
}

/**
 * For the environment of the stack: messages are tried again within milliseconds. A statement that waits for
 * a lock ends before its step does, as in production.
 */
export const RECORDING_ENV = {
  SIMWAY_TEST_WEBHOOK_SPEED: '1000',
  SIMWAY_DATABASE_STATEMENT_TIMEOUT_MS: '2000',
};

export async function openRecording(stack: Stack) {
  const buyer = await newBuyer(stack);
  const harness = await createWorkflowHarness(stack, buyer.account);
  const shop = await openShop(stack);
  return {
    ...{ stack, buyer, harness, shop },
    close: () => Promise.all([harness.close(), shop.deliveries.close(), shop.receiver.close()]),
  };
}

async function openShop(stack: Stack): Promise<Shop> {
  const receiver = await startReceiver();
  const account = await stack.account();
  await receiver.listen(stack, account);
  return { stack, account, receiver, deliveries: createDeliveryHarness(stack) };
}
