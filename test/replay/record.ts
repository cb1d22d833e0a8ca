// Records the histories that replay.test.ts replays, one per path, from the code at hand: `npm run record:histories`. Brings up all it
// needs and takes it down again. Overwrites the files of the coming release only: those of earlier ones are what must go on replaying.
import { applyMigrations } from '../support/database.ts';
import { newBuyer, type Buyer } from '../support/buyer.ts';
import { fetchHistory } from '../support/history.ts';
import { startTestServices } from '../support/services.ts';
import { startStack, type Stack } from '../support/stack.ts';
import { until } from '../support/until.ts';
import {
  ANXIOUS,
  createWorkflowHarness,
  HURRIED,
  PATIENT,
  untilListed,
  untilRow,
  type Order,
  type WorkflowHarness,
} from '../support/workflow-harness.ts';
import { takeBackVoid, voidByMistake } from '../support/wrong-repair.ts';
import type { OutsideMethod } from '../../src/domain/payment.ts';
import { fundOutside } from '../support/fundings.ts';
import { atGateway, clearGatewayFaults, gatewayFaults } from '../support/payments.ts';
import { writeHistory } from './histories.ts';
import { RECORDED_PATHS, type RecordedPath } from './paths.ts';

/** A release gives the folder its number. */
const RELEASE = 'unreleased';

interface Recording {
  readonly stack: Stack;
  readonly harness: WorkflowHarness;
  readonly buyer: Buyer;
}

/** Walks a path to its end and answers the id of the workflow that walked it. */
type Walk = (recording: Recording) => Promise<string>;

const flagged = (stack: Stack, transactionId: string) =>
  untilRow(stack, transactionId, (row) => row.needs_attention_since !== null, 'flagged');

/** Takes money for a second; the gateway's events and its own looks do the rest. */
const SOON_OVER = { ...PATIENT, checkoutMs: 1_000 };

/** A purchase from outside, opened and not paid. */
async function opened(
  { harness, buyer }: Recording,
  paidBy: OutsideMethod,
  more: Partial<Order> = {},
): Promise<string> {
  return (await harness.purchase({ account: buyer.account, paidBy, ...more })).transactionId;
}

/** One whose time is over, and the workflow for what comes then. */
async function lateMoney(recording: Recording, payment: object): Promise<string> {
  const transactionId = await opened(recording, 'CARD', { timings: SOON_OVER });
  await recording.harness.result(transactionId);
  await atGateway(recording.stack, transactionId, 'pay', payment);
  await untilListed(recording.stack, `WorkflowId = 'late-${transactionId}'`, (ids) => ids.length > 0);
  return `late-${transactionId}`;
}

const WALKS: Record<RecordedPath, Walk> = {
  'base-success': async ({ harness, buyer }) =>
    (await harness.purchase({ account: buyer.account })).transactionId,
  'top-up-success': async ({ harness, buyer }) => {
    const { esimId } = await harness.topUpTarget(buyer);
    return (await harness.purchase({ account: buyer.account, esimId })).transactionId;
  },
  'insufficient-balance': async ({ harness, buyer }) =>
    (await harness.purchase({ account: buyer.account, priceMinor: '99999999999' })).transactionId,
  refused: async ({ stack, harness, buyer }) => {
    await stack.faults({ outOfStock: 1 });
    return (await harness.purchase({ account: buyer.account })).transactionId;
  },
  'refused-by-old-catalogue': async ({ stack, harness, buyer }) => {
    await stack.faults({ priceChanged: 1 });
    return (await harness.purchase({ account: buyer.account })).transactionId;
  },
  'refused-after-doubt': async ({ stack, harness, buyer }) => {
    await stack.faults({ busy: 1 });
    const { transactionId } = await harness.purchase({ account: buyer.account, timings: HURRIED });
    await stack.faults({ busy: 0, outOfStock: 1 });
    return transactionId;
  },
  'answer-lost': async ({ stack, harness, buyer }) => {
    await stack.faults({ loseAnswer: { next: 1 } });
    return (await harness.purchase({ account: buyer.account })).transactionId;
  },
  'processing-then-success': async ({ stack, harness, buyer }) => {
    await stack.faults({ neverAllocate: 1 });
    return (await harness.purchase({ account: buyer.account, timings: HURRIED })).transactionId;
  },
  'attention-then-success': async ({ stack, harness, buyer }) => {
    await stack.faults({ neverAllocate: 1 });
    const { transactionId } = await harness.purchase({ account: buyer.account, timings: ANXIOUS });
    await flagged(stack, transactionId);
    return transactionId;
  },
  'settle-failed-then-settled': async ({ stack, harness, buyer }) => {
    await stack.faults({ neverAllocate: 1 });
    const { transactionId } = await harness.purchase({ account: buyer.account, timings: HURRIED });
    await voidByMistake(stack, transactionId);
    await stack.clearFaults();
    await flagged(stack, transactionId);
    await takeBackVoid(stack, transactionId);
    return transactionId;
  },
  'cancel-requested': async ({ stack, harness, buyer }) => {
    await stack.faults({ neverAllocate: 1 });
    const { transactionId } = await harness.purchase({ account: buyer.account, timings: HURRIED });
    await stack.temporal.workflow.getHandle(transactionId).cancel();
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
      timings: { ...HURRIED, openChargeForMs: 60_000 },
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
    const { transactionId } = await fundOutside(stack, buyer.account, { amount: 25, method: 'CARD' });
    await atGateway(stack, transactionId, 'pay');
    return transactionId;
  },
  'fund-wallet-expired': async ({ stack }) => {
    // The simulator's account takes money for two seconds only.
    const account = await stack.account({ fundsMinor: 0n, email: 'late+sandbox-late@test.example' });
    const wanted = { amount: 25, method: 'BANK_TRANSFER' } as const;
    return (await fundOutside(stack, account, wanted)).transactionId;
  },
  'late-payment': (recording) => lateMoney(recording, {}),
  'late-payment-sent-back': (recording) => lateMoney(recording, { currency: 'NGN' }),
  'sync-catalogue': ({ stack }) => scheduled(stack, 'syncCatalogue'),
  'refresh-rates': ({ stack }) => scheduled(stack, 'refreshRates'),
  'refresh-usage': ({ stack }) => scheduled(stack, 'refreshUsage'),
  sweep: ({ stack }) => scheduled(stack, 'sweep'),
  'apply-inbox': ({ stack }) => scheduled(stack, 'applyInbox'),
};

/** Until the gateway has said how to pay. */
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

async function record(recording: Recording, path: RecordedPath): Promise<void> {
  const { stack } = recording;
  const workflowId = await WALKS[path](recording);
  await stack.clearFaults();
  await clearGatewayFaults(stack);
  await stack.temporal.workflow.getHandle(workflowId).result();
  const history = await fetchHistory(stack, workflowId);
  await writeHistory(RELEASE, path, history);
  console.log(`${path}: ${history.events.length} events`);
}

async function main(): Promise<void> {
  const services = await startTestServices();
  try {
    await applyMigrations(services.databaseUrl);
    const stack = await startStack({ ...services });
    try {
      const harness = await createWorkflowHarness(stack);
      const buyer = await newBuyer(stack);
      for (const path of RECORDED_PATHS) await record({ stack, harness, buyer }, path);
      await harness.close();
    } finally {
      await stack.close();
    }
  } finally {
    await services.close();
  }
}

await main();
// The SDK's runtime keeps the process alive for a while.
process.exit();
