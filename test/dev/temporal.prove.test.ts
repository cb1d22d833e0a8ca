// The embedded Temporal server: has its namespaces and search attributes, keeps histories between runs, is
// closed to others.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { expect, onTestFinished, test } from 'vitest';
import { prepareNamespaces } from '../../src/app/temporal/namespaces.ts';
import { startTemporal, type RunningTemporal, type TemporalOptions } from '../../src/dev/temporal.ts';
import { machine, TEST_NAMESPACES } from '../support/world/services.ts';
import {
  end,
  hold,
  isPortFree,
  killWatchdogsOf,
  rememberingLog,
  runs,
  testFolder,
  until,
} from './support.ts';

const folder = await testFolder();
const { pathEnv, cacheDir } = machine();

async function start(options: Partial<TemporalOptions> = {}): Promise<RunningTemporal> {
  const temporal = await startTemporal({
    dataDir: null,
    log: rememberingLog(),
    namespaces: TEST_NAMESPACES,
    pathEnv,
    cacheDir,
    ...options,
  });
  onTestFinished(() => temporal.stop());
  return temporal;
}

async function withClient<T>(address: string, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await use(new Client({ connection, namespace: TEST_NAMESPACES[0] }));
  } finally {
    await connection.close();
  }
}

/** No worker runs: the workflow merely exists. */
function startWorkflow(address: string, workflowId: string): Promise<unknown> {
  return withClient(address, (client) =>
    client.workflow.start('purchase', {
      workflowId,
      taskQueue: 'orders',
      typedSearchAttributes: [
        { key: defineSearchAttributeKey('TransactionId', 'KEYWORD'), value: workflowId },
        { key: defineSearchAttributeKey('NeedsAttention', 'BOOL'), value: true },
      ],
    }),
  );
}

function statusOf(address: string, workflowId: string): Promise<string> {
  return withClient(address, async (client) => {
    try {
      return (await client.workflow.getHandle(workflowId).describe()).status.name;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'none';
      throw error;
    }
  });
}

test('Temporal keeps workflows over restart, crash and a new start on the same file', async () => {
  const dataDir = join(folder, 'kept');
  const first = await start({ dataDir });
  await startWorkflow(first.address, 'one');
  await first.restart();
  expect(await statusOf(first.address, 'one')).toBe('RUNNING');
  await startWorkflow(first.address, 'two');
  await first.kill();
  expect(await runs(first.pid)).toBe(false);
  await first.start();
  expect(await statusOf(first.address, 'two')).toBe('RUNNING');
  await first.stop();
  const second = await start({ dataDir });
  expect(await statusOf(second.address, 'one')).toBe('RUNNING');
  const found = await withClient(second.address, async (client) => {
    const query = "TransactionId = 'two' AND NeedsAttention = true";
    const ids: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
    return ids;
  });
  expect(found).toEqual(['two']);
});

test('Temporal in memory forgets, serves its UI, and listens on loopback only', async () => {
  const temporal = await start();
  await startWorkflow(temporal.address, 'one');
  const ui = await fetch(temporal.uiUrl);
  expect(await ui.text()).toContain('<html');
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.internal === false && address.family === 'IPv4');
  if (outside !== undefined) {
    await expect(fetch(temporal.uiUrl.replace('127.0.0.1', outside.address))).rejects.toThrow('fetch failed');
  }
  await temporal.restart();
  expect(await statusOf(temporal.address, 'one')).toBe('none');
});

test('Temporal takes other ports when the preferred ones are taken', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const temporal = await start({ preferredPort: port, preferredUiPort: port });
  expect(temporal.address).not.toBe(`127.0.0.1:${port}`);
  expect(temporal.uiUrl).not.toBe(`http://127.0.0.1:${port}`);
  expect((await fetch(temporal.uiUrl)).ok).toBe(true);
  await temporal.stop();
  expect(await isPortFree(Number(new URL(temporal.uiUrl).port))).toBe(true);
});

test('a killed run leaves no Temporal behind; one that is left is stopped by the next run, with nothing lost', async () => {
  const dataDir = join(folder, 'orphan');
  const args = ['--path-env', pathEnv, '--cache-dir', cacheDir];
  const watched = await hold('temporal', dataDir, { args });
  await end(watched, 'SIGKILL');
  await until(async () => !(await runs(watched.started.pid)), 20_000);
  const holder = await hold('temporal', dataDir, { args });
  await startWorkflow(holder.started.address, 'one');
  await killWatchdogsOf(holder.started.pid);
  await end(holder, 'SIGKILL');
  const next = await start({ dataDir });
  expect(await runs(holder.started.pid)).toBe(false);
  expect(await statusOf(next.address, 'one')).toBe('RUNNING');
});

test('Temporal starts with all settings that our namespaces need', async () => {
  const { address } = await start();
  const said: string[] = [];
  await prepareNamespaces({ address, namespaces: TEST_NAMESPACES, log: (line) => said.push(line) });
  expect(said).toEqual(TEST_NAMESPACES.map((namespace) => `namespace ${namespace}: up to date`));
});
