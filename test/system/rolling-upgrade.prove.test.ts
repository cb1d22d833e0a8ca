// The purchase workflow changes while purchases are open: workers of two versions in parallel, with Temporal
// routing by version. Purchases that began on the old version end on the new one, new ones take the new step,
// and after a rollback those that only the new version can continue wait.
import { join } from 'node:path';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleWorkflows } from '../../src/platform/temporal/bundle.ts';
import { QUEUE_NAMES } from '../../src/app/temporal/workers.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { runRollout } from '../../src/app/processes/jobs.ts';
import { runWorker, type RunningWorker } from '../../src/app/processes/worker.ts';
import { replayAll } from '../replay/gate.ts';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';
import { runCommand } from '../support/world/commands.ts';
import { fetchHistory } from '../support/world/history.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { atGateway, buyThroughGateway, untilStatus } from '../support/money/payments.ts';
import { startStack, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

const NEXT_VERSION = join(import.meta.dirname, '..', 'replay', 'fixtures', 'patched-step.ts');
const OPEN = 4;

let stack: Stack;
let buyer: Buyer;
const workers = new Map<string, RunningWorker>();
const said: string[] = [];

beforeAll(async () => {
  stack = await startStack({
    worker: false,
    timings: { pollFirstMs: 300 },
  });
});
afterAll(async () => {
  for (const worker of workers.values()) await worker.stop();
  await stack.close();
});

/** The stack's settings, for this build. */
function partsOf(buildId: string) {
  return {
    ...stack.context,
    ...readConfig({ ...stack.env, SIMWAY_DEPLOYMENT_BUILD_ID: buildId }),
    processName: 'worker' as const,
  };
}

async function start(buildId: string, workflowsPath?: string): Promise<void> {
  const worker = await runWorker(
    partsOf(buildId),
    QUEUE_NAMES,
    workflowsPath === undefined ? {} : { workflowsPath },
  );
  worker.finished.catch(() => undefined);
  workers.set(buildId, worker);
}

async function stop(buildId: string): Promise<void> {
  await workers.get(buildId)?.stop();
  workers.delete(buildId);
}

const rollOut = (buildId: string) => runRollout(partsOf(buildId), (line) => said.push(line), 60_000);

/** Opened, and waiting for money. */
const openSome = (): Promise<string[]> =>
  Promise.all(
    Array.from({ length: OPEN }, async () => (await buyThroughGateway(stack, buyer.account)).transactionId),
  );

const pay = (ids: readonly string[]) => Promise.all(ids.map((id) => atGateway(stack, id, 'pay')));

const allDelivered = (ids: readonly string[]) =>
  Promise.all(ids.map((id) => untilStatus(stack, id, 'SUCCESS')));

/** By the workflow's own memo: whether it began on the version with the new step. */
async function begunWithNext(transactionId: string): Promise<boolean> {
  const { memo } = await stack.temporal.workflow.getHandle(transactionId).describe();
  return memo?.['begunWith'] === 'the next version';
}

async function replays(ids: readonly string[], bundle: WorkflowBundleOption): Promise<boolean[]> {
  const histories = await Promise.all(
    ids.map(async (id) => {
      await stack.temporal.workflow.getHandle(id).result();
      return { name: id, history: await fetchHistory(stack, id) };
    }),
  );
  return (await replayAll(bundle, histories)).map(({ error }) => error === undefined);
}

describe('a rolling upgrade with purchases open', () => {
  let begunOnOld: string[];
  let begunOnNew: string[];

  it('starts with a version that is current', async () => {
    await start('old');
    await rollOut('old');
    expect(said).toEqual([`namespace ${stack.namespace}: simway old is current, none before`]);
    await until(
      () => fetch(`${stack.adminUrl}/readyz`),
      ({ ok }) => ok,
      { what: 'the catalogue' },
    );
    buyer = await newBuyer(stack);
    begunOnOld = await openSome();
  });

  it('leaves everything on the old version while the new one merely runs', async () => {
    await start('new', NEXT_VERSION);
    const answer = await buyer.buy('SIM-OK');
    expect(answer.body.status).toBe('SUCCESS');
    expect(await begunWithNext(answer.body.transactionId)).toBe(false);
  });

  it('moves to the new version once that is current: open purchases end, and the old workers may stop', async () => {
    await rollOut('new');
    expect(said.at(-1)).toBe(`namespace ${stack.namespace}: simway new is current, before old`);
    await stop('old');
    await pay(begunOnOld);
    await allDelivered(begunOnOld);
    expect(await Promise.all(begunOnOld.map(begunWithNext))).toEqual(begunOnOld.map(() => false));
    begunOnNew = await openSome();
    await pay(begunOnNew);
    await allDelivered(begunOnNew);
    expect(await Promise.all(begunOnNew.map(begunWithNext))).toEqual(begunOnNew.map(() => true));
  });

  it('leaves histories that the release gate judges correctly on both versions', async () => {
    const today = await bundleWorkflows();
    const next = await bundleWorkflows(NEXT_VERSION);
    expect(await replays(begunOnOld, today)).toEqual(begunOnOld.map(() => true));
    expect(await replays(begunOnOld, next)).toEqual(begunOnOld.map(() => true));
    expect(await replays(begunOnNew, next)).toEqual(begunOnNew.map(() => true));
    expect(await replays(begunOnNew, today)).toEqual(begunOnNew.map(() => false));
  });

  it('can be rolled back: purchases that only the new version can continue wait for it, and nothing is lost', async () => {
    const waiting = await openSome();
    await start('old');
    await rollOut('old');
    const answer = await buyer.buy('SIM-OK');
    expect(answer.body.status).toBe('SUCCESS');
    expect(await begunWithNext(answer.body.transactionId)).toBe(false);
    await pay(waiting);
    await until(
      () => stack.owner.selectFrom('gateway_events').select('id').where('reference', 'in', waiting).execute(),
      (events) => events.length >= OPEN,
      { what: 'the gateway’s report that they are paid' },
    );
    await rollOut('new');
    await allDelivered(waiting);
  });

  it('has lost nothing and delivered nothing twice', async () => {
    for (const { transaction_id } of await buyer.purchases())
      expect(await stack.supplierOrders(transaction_id)).toHaveLength(1);
    expect((await buyer.purchases()).map(({ status }) => status)).toEqual(
      Array.from({ length: 3 * OPEN + 2 }, () => 'SUCCESS'),
    );
    await expectSoundBooks(stack);
  });
});

it('a build without workers is refused, and the current one stays', async () => {
  await expect(runRollout(partsOf('unknown'), (line) => said.push(line), 500)).rejects.toThrow();
  const answer = await buyer.buy('SIM-OK');
  expect(answer.body.status).toBe('SUCCESS');
});

describe('the rollout command', () => {
  const rollout = (env: Record<string, string>) => runCommand(['rollout'], { ...stack.env, ...env });

  it('prints the current version, and changes nothing the second time', async () => {
    const { code, stdout } = await rollout({ SIMWAY_DEPLOYMENT_BUILD_ID: 'new' });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `namespace ${stack.namespace}: simway new is current, as before\n`,
    });
  });

  it('without a build is refused with one sentence', async () => {
    const { code, stderr } = await rollout({});
    expect(code).toBe(1);
    expect(stderr.trim().split('\n').at(-1)).toBe('Set SIMWAY_DEPLOYMENT_BUILD_ID to the build to roll out');
  });
});
