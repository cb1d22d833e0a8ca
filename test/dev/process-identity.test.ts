// A server left running: ended when it is the one remembered, left alone when another program now has its
// process id.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { endLeftoverServer, writeServerPid } from '../../src/dev/process-identity.ts';
import { rememberingLog, runs, testFolder } from './support.ts';

const folder = await testFolder();

async function program(name: string): Promise<{ dataDir: string; pid: number }> {
  const dataDir = join(folder, name);
  await mkdir(dataDir);
  const child = spawn('sleep', ['600']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  return { dataDir, pid: child.pid! };
}

test('endLeftoverServer ends the remembered server and forgets it', async () => {
  const { dataDir, pid } = await program('remembered');
  const log = rememberingLog();
  await writeServerPid(dataDir, pid);
  await endLeftoverServer({ name: 'Temporal', dataDir, log });
  expect(await runs(pid)).toBe(false);
  expect(log.lines).toEqual([`stopping the Temporal that an earlier run left behind (process ${pid})`]);
  expect(await readdir(dataDir)).toEqual([]);
  await endLeftoverServer({ name: 'Temporal', dataDir, log });
  expect(log.lines).toHaveLength(1);
});

test('endLeftoverServer leaves a later program with the same process id alone, and ignores a damaged file', async () => {
  const { dataDir, pid } = await program('reused');
  const log = rememberingLog();
  for (const remembered of [JSON.stringify({ pid, startTime: 'long ago' }), '{"pid":', '']) {
    await writeFile(join(dataDir, 'server.pid'), remembered);
    await endLeftoverServer({ name: 'Temporal', dataDir, log });
  }
  expect(await runs(pid)).toBe(true);
  expect(log.lines).toEqual([]);
});
