// running.json: deleted first, written completely and last, readable by its owner only, gone after a clean
// stop; one run at a time.
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { beginRun, readRunningFile, type RunningInfo } from '../../src/dev/running-file.ts';
import { end, hold, testFolder } from './support.ts';

const folder = await testFolder();

function info(apiUrl: string): RunningInfo {
  return {
    apiUrl,
    docsUrl: `${apiUrl}/docs`,
    dashboardUrl: `${apiUrl}/dashboard`,
    adminUrl: 'http://127.0.0.1:2',
    workerAdminUrl: 'http://127.0.0.1:5',
    temporalAddress: '127.0.0.1:3',
    temporalUiUrl: 'http://127.0.0.1:4',
    databaseUrl: 'postgres://127.0.0.1:5/simway',
    keys: { ngn: 'first', usd: 'second' },
    logins: null,
    gatewayControlUrl: 'http://127.0.0.1:3111',
    supplierControlUrl: 'http://127.0.0.1:6',
    settings: { SIMWAY_BRAND: 'simway' },
  };
}

test('running.json is written with mode 600, read back, and removed by a clean stop', async () => {
  const dataDir = join(folder, 'a', '.data');
  const run = await beginRun(dataDir);
  expect(await readRunningFile(dataDir)).toBeNull();
  await run.publish(info('http://127.0.0.1:1'));
  expect((await stat(join(dataDir, 'running.json'))).mode & 0o777).toBe(0o600);
  expect(await readRunningFile(dataDir)).toEqual({ ...info('http://127.0.0.1:1'), pid: process.pid });
  await run.close();
  await run.close();
  expect((await readdir(dataDir)).filter((name) => name.includes('running'))).toEqual([]);
});

test('a run first deletes the files that a killed run left, also those that others could read', async () => {
  const dataDir = join(folder, 'b');
  await mkdir(dataDir);
  await writeFile(join(dataDir, 'running.json'), '{"apiUrl":"http://old"}');
  await writeFile(join(dataDir, 'running.json.partial'), '{', { mode: 0o644 });
  const run = await beginRun(dataDir);
  expect(await readRunningFile(dataDir)).toBeNull();
  await run.publish(info('http://127.0.0.1:1'));
  expect((await stat(join(dataDir, 'running.json'))).mode & 0o777).toBe(0o600);
  await run.close();
});

test('running.json is never seen half-written', async () => {
  const dataDir = join(folder, 'c');
  const run = await beginRun(dataDir);
  await run.publish(info('http://127.0.0.1:1'));
  const writing = new AbortController();
  const written = (async () => {
    for (let port = 2; port < 200; port += 1) await run.publish(info(`http://127.0.0.1:${port}`));
    writing.abort();
  })();
  let read = 0;
  while (!writing.signal.aborted) {
    const seen = JSON.parse(await readFile(join(dataDir, 'running.json'), 'utf8')) as RunningInfo;
    expect(seen.docsUrl).toBe(`${seen.apiUrl}/docs`);
    read += 1;
    await turn();
  }
  await written;
  expect(read).toBeGreaterThan(10);
  await run.close();
});

test('a second run in the same folder is refused, with the process that has it named; after a kill the next run starts', async () => {
  const dataDir = join(folder, 'd');
  const holder = await hold('run', dataDir);
  const refusal = `already running in this checkout (process ${holder.process.pid!})`;
  await expect(beginRun(dataDir)).rejects.toThrow(refusal);
  await end(holder, 'SIGKILL');
  const run = await beginRun(dataDir);
  await run.close();
});

test('a refused second run leaves the file of the first alone', async () => {
  const dataDir = join(folder, 'e');
  const run = await beginRun(dataDir);
  await run.publish(info('http://127.0.0.1:1'));
  await expect(beginRun(dataDir)).rejects.toThrow('already running');
  expect((await readRunningFile(dataDir))?.apiUrl).toBe('http://127.0.0.1:1');
  await run.close();
});
