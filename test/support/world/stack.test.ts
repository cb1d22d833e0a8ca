// A stack leaves nothing behind, however it ends: also when its start fails half-way, and when its file is
// aborted or killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startStack, type StackOptions } from './stack.ts';
import { makeTestFolder } from './test-folder.ts';
import { until } from '../time/until.ts';

/** All temporary files of a stack that is started now. */
let folder: string;
let database: TestDatabase;
beforeEach(async () => {
  folder = await makeTestFolder();
  database = await createTestDatabase();
  vi.stubEnv('TMPDIR', folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** The number of connections to this stack’s database. */
async function connections(): Promise<number> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') });
  await client.connect();
  try {
    const { rows } = await client.query<{ n: string }>(
      'SELECT count(*) AS n FROM pg_stat_activity WHERE datname = $1',
      [database.name],
    );
    return Number(rows[0]?.n);
  } finally {
    await client.end();
  }
}

const takenPort = (): number => Number(new URL(inject('databaseUrl')).port);

it.each<[string, () => StackOptions]>([
  ['the supplier finds its port taken', () => ({ supplier: { port: takenPort() } })],
  ['settings are refused', () => ({ env: { SIMWAY_TEST_TIMINGS: 'no JSON' } })],
  ['the API finds its port taken', () => ({ env: { SIMWAY_HTTP_PORT: String(takenPort()) } })],
  ['a process does not come up', () => ({ processes: 'own', env: { NODE_OPTIONS: '--no-such-flag' } })],
])('a start in which %s leaves no file and no connection', async (_what, options) => {
  await expect(startStack({ databaseUrl: database.url, ...options() })).rejects.toThrow();
  expect(await readdir(folder)).toEqual([]);
  await until(connections, (count) => count === 0);
});

it('a start that is killed leaves no file', async () => {
  const options: StackOptions = {
    databaseUrl: database.url,
    temporalAddress: inject('temporalAddress'),
    redisUrl: inject('redisUrl'),
    workflowBundle: inject('workflowBundle'),
    worker: false,
  };
  const fixture = join(import.meta.dirname, 'fixtures', 'hold-stack.ts');
  const child = spawn(process.execPath, [fixture, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: '/usr/bin:/bin', TMPDIR: folder },
  });
  const ended = once(child, 'exit');
  await once(createInterface(child.stdout), 'line');
  expect(await readdir(folder)).not.toEqual([]);
  child.kill('SIGKILL');
  await ended;
  await until(
    () => readdir(folder),
    (left) => left.length === 0,
  );
});
