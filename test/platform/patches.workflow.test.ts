/**
 * `simway patches` on a real Temporal, with a workflow of two releases: the second has a change behind a
 * patch.
 */
import { join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { expect, inject, it } from 'vitest';
import { bundleWorkflows } from '../../src/platform/temporal/bundle.ts';
import { installRuntime } from '../../src/platform/temporal/runtime.ts';
import { runHere } from '../support/world/commands.ts';
import { startStack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';
import { go } from './fixtures/waiting.ts';
import { forFile } from '../support/world/for-file.ts';

const stack = await forFile(startStack({ worker: false }));
installRuntime(stack.context.logger);
const connection = await forFile(NativeConnection.connect({ address: inject('temporalAddress') }));

/** Runs `work` while a worker of this release serves a queue of its name. */
async function during<T>(release: string, work: () => Promise<T>): Promise<T> {
  const worker = await Worker.create({
    connection,
    namespace: stack.namespace,
    taskQueue: release,
    workflowBundle: await bundleWorkflows(join(import.meta.dirname, 'fixtures', `${release}.ts`)),
  });
  return worker.runUntil(work());
}

/** Begins a workflow, and waits until it has come to where it waits. */
async function begin(release: string, workflowId: string): Promise<void> {
  const handle = await stack.temporal.workflow.start('waiting', { workflowId, taskQueue: release });
  await until(
    () => handle.fetchHistory(),
    ({ events }) => (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes).length > 0,
    { what: `${workflowId} waits` },
  );
}

async function end(workflowId: string): Promise<void> {
  const handle = stack.temporal.workflow.getHandle(workflowId);
  await handle.signal(go);
  await handle.result();
}

const patches = (...more: string[]) => runHere(['patches', ...more], { env: stack.env });

/** The index is some moments behind. */
const untilPrinted = (wanted: (json: string) => boolean) =>
  until(
    async () => (await patches('--json')).stdout,
    (stdout) => wanted(stdout.trim()),
    { what: 'the count' },
  );

it('counts the open workflows with each patch and without it, and leaves out a patch that none has', async () => {
  await during('waiting', async () => {
    await begin('waiting', 'old-1');
    await begin('waiting', 'old-2');
  });
  const { startTime } = await stack.temporal.workflow.getHandle('old-1').describe();
  await during('waiting-patched', () => begin('waiting-patched', 'new-1'));
  const use = { patch: 'one-step-more', workflow: 'waiting' };
  const is = (openWorkflows: number, found: object[]) => (json: string) =>
    json === JSON.stringify([{ world: 'test', namespace: stack.namespace, openWorkflows, patches: found }]);
  const oldestWithout = startTime.toISOString();
  await untilPrinted(is(3, [{ ...use, with: 1, without: 2, oldestWithout }]));
  const { code, stdout, stderr } = await patches();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(
    [
      `namespace ${stack.namespace}: 3 open workflows`,
      'patch          workflow  with  without  oldest without',
      `one-step-more  waiting   1     2        ${oldestWithout}`,
      '',
    ].join('\n'),
  );

  await during('waiting', async () => {
    await end('old-1');
    await end('old-2');
  });
  await untilPrinted(is(1, [{ ...use, with: 1, without: 0, oldestWithout: null }]));
  await during('waiting-patched', () => end('new-1'));
  await untilPrinted(is(0, []));
  expect((await patches()).stdout).toBe(
    `namespace ${stack.namespace}: 0 open workflows, none with a patch\n`,
  );
});

it('says that Temporal cannot be reached', async () => {
  const { code, stderr } = await runHere(['patches'], {
    env: { ...stack.env, TEMPORAL_ADDRESS: '127.0.0.1:1' },
  });
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'no connection to Temporal\n' });
});
