// With encryption on, purchases run as before, Temporal's own database has none of their data in clear,
// readers with the keys still see it, and a missing key stops workflows without moving anything.
import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { runWorker } from '../../src/app/processes/worker.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { readBundle } from '../../src/platform/temporal/bundle.ts';
import { connectClient } from '../../src/platform/temporal/connect.ts';
import { dataConverterOf } from '../../src/platform/temporal/payload-codec.ts';
import { createWorkflowStates } from '../../src/app/temporal/workflow-states.ts';
import { QUEUE_NAMES } from '../../src/app/temporal/workers.ts';
import { replayAll } from '../replay/gate.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { eventTypes, fetchHistory, type HistoryJson } from '../support/world/history.ts';
import { atGateway, buyThroughGateway, untilStatus } from '../support/money/payments.ts';
import { startTestTemporal } from '../support/world/services.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';
import { until } from '../support/time/until.ts';
import { startWorkflows } from '../support/world/workflow-harness.ts';

const KEY = randomBytes(32).toString('hex');
const OTHER_KEY = randomBytes(32).toString('hex');
const UI = 'http://temporal-ui.example';

const folder = await makeTestFolder();
const temporal = await startTestTemporal(folder, { persistent: true });
afterAll(async () => {
  await temporal.stop();
  await rm(folder, { recursive: true, force: true });
});
const { stack, harness, buyer } = await startWorkflows({
  temporalAddress: temporal.address,
  env: { SIMWAY_TEMPORAL_CODEC_KEY: KEY, SIMWAY_TEMPORAL_UI_ORIGIN: UI },
});

/** The bytes that Temporal has stored. */
async function stored(): Promise<Buffer> {
  const file = join(folder, 'temporal', 'temporal.db');
  return Buffer.concat(await Promise.all([readFile(file), readFile(`${file}-wal`)]));
}

interface PayloadJson {
  readonly metadata: Readonly<Record<string, string>>;
  readonly data?: string;
}

/** Readable on purpose (docs/OPERATIONS.md). */
const READABLE = new Set(['searchAttributes', 'header']);
/** What the SDK records about a local step: its name and its times. */
const SDK_NOTES = new Set(['data', 'patch-data']);

/** Every payload of a history, except what is readable on purpose. */
function payloadsIn(value: unknown): PayloadJson[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('metadata' in value && typeof value.metadata === 'object') return [value as PayloadJson];
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    READABLE.has(name) || (SDK_NOTES.has(name) && isObject(inner) && 'payloads' in inner)
      ? []
      : payloadsIn(inner),
  );
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const encodingOf = ({ metadata }: PayloadJson): string =>
  Buffer.from(metadata['encoding'] ?? '', 'base64').toString();

/** The history without what is readable on purpose. */
function hidden(history: HistoryJson): string {
  return JSON.stringify(history, (name, value: unknown) => (READABLE.has(name) ? undefined : value));
}

async function decoded(payloads: readonly PayloadJson[]): Promise<string[]> {
  const reply = await fetch(`${stack.adminUrl}/codec/decode`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Namespace': stack.namespace, Origin: UI },
    body: JSON.stringify({ payloads }),
  });
  expect(reply.status).toBe(200);
  const { payloads: given } = (await reply.json()) as { payloads: PayloadJson[] };
  return given.map(({ data = '' }) => Buffer.from(data, 'base64').toString());
}

async function delivered(): Promise<string> {
  const { body } = await stack.call('POST', '/api/esim/buy', {
    key: buyer.account.apiKey,
    body: { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' },
    headers: { 'X-Request-Id': 'request-with-codec' },
  });
  expect(body.status).toBe('SUCCESS');
  await harness.result(body.transactionId).catch(() => undefined);
  return body.transactionId;
}

describe('a purchase', () => {
  it('leaves nothing in clear in Temporal, and the codec endpoint decrypts it', async () => {
    const id = await delivered();
    const history = await fetchHistory(stack, id);
    const payloads = payloadsIn(history);
    expect(payloads.length).toBeGreaterThan(8);
    expect(new Set(payloads.map(encodingOf))).toEqual(new Set(['binary/encrypted']));
    const texts = (await decoded(payloads)).join('\n');
    const row = await stack.owner
      .selectFrom('purchases')
      .select('price_minor')
      .where('transaction_id', '=', id)
      .executeTakeFirstOrThrow();
    const input = [
      'SIM-OK',
      buyer.account.accountId,
      `"priceMinor":"${String(row.price_minor)}"`,
      'Test account',
    ];
    for (const word of input) {
      expect(texts).toContain(word);
      expect(hidden(history)).not.toContain(word);
      expect(hidden(history)).not.toContain(Buffer.from(word).toString('base64'));
    }
  });

  it('leaves nothing in clear in Temporal’s database', async () => {
    await delivered();
    // A text in clear would be found: the control.
    await stack.temporal.workflow.start('control', {
      workflowId: 'control',
      taskQueue: 'no-worker',
      args: [{ packageCode: 'WRITTEN-IN-CLEAR' }],
      staticSummary: 'A summary in clear',
    });
    const bytes = await until(stored, (found) => found.includes('WRITTEN-IN-CLEAR'), {
      what: 'the control in the database',
    });
    expect(bytes.includes('A summary in clear')).toBe(true);
    for (const word of ['SIM-OK', 'priceMinor', 'Test account', '"accountId"', 'the schedule'])
      expect(bytes.includes(word), word).toBe(false);
    await stack.temporal.workflow.getHandle('control').terminate();
  });

  it('shows summary and memo to a client with the key, and replays', async () => {
    const id = await delivered();
    const client = connectClient({ ...stack.context.secrets.temporal, namespace: stack.namespace });
    const description = await client.client.workflow.getHandle(id).describe();
    expect(description.memo).toEqual({ requestId: 'request-with-codec' });
    expect(await description.staticSummary()).toMatch(/SIM-OK .* for Test account, USD /);
    await client.close();
    const converter = dataConverterOf({
      keys: stack.context.secrets.temporal.codecKeys,
      namespace: stack.namespace,
    });
    const bundle = await readBundle(inject('workflowBundle'));
    const recorded = [{ name: id, history: await fetchHistory(stack, id) }];
    expect(await replayAll(bundle, recorded, converter)).toEqual([{ name: id, error: undefined }]);
    const [without] = await replayAll(bundle, recorded);
    expect(without?.error).toBeDefined();
  });

  it('that began in clear goes on; an answer that the caller cannot decrypt counts as missing, not as a failure', async () => {
    // The harness has no key.
    const { transactionId, answer } = await harness.purchase({ account: buyer.account });
    expect(answer).toEqual({ status: 'UNANSWERED' });
    await untilStatus(stack, transactionId, 'SUCCESS');
    expect(eventTypes(await fetchHistory(stack, transactionId))).not.toContain('WORKFLOW_TASK_FAILED');
  });
});

async function startWorkerWith(settings: Readonly<Record<string, string>>, write: (line: string) => void) {
  const logger = createLogger({ level: 'error', destination: { write } });
  const context = { ...readConfig({ ...stack.env, ...settings }), logger };
  const worker = await runWorker({ ...context, processName: 'worker' }, QUEUE_NAMES);
  worker.finished.catch(() => undefined);
  return worker;
}

const metricsAt = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text();

it('a workflow without its key stops: nothing moves, the alert’s metric counts, and with the key it goes on', async () => {
  const { transactionId, reference } = await buyThroughGateway(stack, buyer.account);
  await stack.stopWorker();
  const lines: string[] = [];
  const without = await startWorkerWith({ SIMWAY_TEMPORAL_CODEC_KEY: OTHER_KEY }, (line) => lines.push(line));
  try {
    await atGateway(stack, reference, 'pay');
    const metrics = await until(
      () => metricsAt(without.adminUrl),
      (text) =>
        /^temporal_workflow_task_execution_failed_total\{.*workflow_type="purchase".*\} [1-9]/m.test(text),
      { what: 'a workflow task that fails' },
    );
    expect(metrics).toMatch(/^simway_temporal_payloads_unreadable_total\{environment="test"\} [1-9]/m);
    expect(lines.join('')).toMatch(
      /"detail":"A Temporal payload in \S+ under key [0-9a-f]{16} is unreadable/,
    );
    await untilStatus(stack, transactionId, 'PENDING');
    expect(await stack.supplierOrders(transactionId)).toEqual([]);
    // The stuck list needs no key.
    const client = connectClient({
      address: temporal.address,
      codecKeys: { key: OTHER_KEY, previousKeys: [] },
      namespace: stack.namespace,
    });
    const [state] = await createWorkflowStates(client).ofTransaction(transactionId);
    expect(state).toMatchObject({ workflowId: transactionId, status: 'RUNNING' });
    await client.close();
  } finally {
    await without.stop();
  }
  const both = { SIMWAY_TEMPORAL_CODEC_KEY: OTHER_KEY, SIMWAY_TEMPORAL_CODEC_PREVIOUS_KEYS: KEY };
  const rotated = await startWorkerWith(both, () => undefined);
  try {
    await untilStatus(stack, transactionId, 'SUCCESS');
  } finally {
    await rotated.stop();
  }
});
