// Records what the release of package.json sends to Postgres, from the current code: `npm run
// record:statements`. Runs the tests that walk through the service with the recorder loaded, and writes
// releases/<version>.json. What earlier releases need is never touched.
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountsMigrations, worldMigrations } from '../../migrations/registry.ts';
import { VERSION } from '../../src/platform/version.ts';
import { CHECKOUT } from '../support/world/checkout.ts';
import { distinct, RELEASES, type ReleaseRecord } from './releases.ts';
import type { SentStatement } from './statement-recorder.ts';

/** Together they send every statement that API, workers and commands send. */
const TESTS = ['.store.', '.workflow.', '.e2e.'];

async function runTests(folder: string): Promise<void> {
  const recorder = `${new URL('./statement-recorder.ts', import.meta.url).href}?folder=${folder}`;
  // Every process of the run loads it, whatever pool or project it belongs to.
  const child = spawn('env', [`NODE_OPTIONS=--import=${recorder}`, 'npx', 'vitest', 'run', ...TESTS], {
    cwd: CHECKOUT,
    stdio: 'inherit',
  });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error('tests failed: what they did not get to is not on record');
}

async function readAll(folder: string): Promise<SentStatement[]> {
  const files = await readdir(folder);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return texts
    .join('')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SentStatement);
}

const folder = await mkdtemp(join(tmpdir(), 'simway-statements-'));
try {
  await runTests(folder);
  const record: ReleaseRecord = {
    accounts: Object.keys(accountsMigrations),
    world: Object.keys(worldMigrations),
    statements: distinct(await readAll(folder)),
  };
  await writeFile(join(RELEASES, `${VERSION}.json`), `${JSON.stringify(record, null, 1)}\n`);
  console.log(`${record.statements.length} statements`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
