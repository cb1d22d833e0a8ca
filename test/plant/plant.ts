// `npm run plant`: plants the faults of faults.ts one by one in a copy of the checkout and runs the tests
// that should see each. Prints each result as it comes, then the score. Only the named faults: `npm run plant
// -- 'a name' 'another'`. Exits 1 below 90 %, and where a fault no longer fits the code.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { environmentOf, startTestServices, type TestServices } from '../support/world/services.ts';
import type { Fault } from './fault.ts';
import { FAULTS } from './faults.ts';

const LEAST_SHARE = 0.9;
/** Many faults show as a test that waits for ever. As long as a test has in its own run. */
const TEST_WITHIN_MS = 180_000;
/** Ten times what a file of tests takes. */
const FILES_WITHIN_MS = 600_000;
const root = join(import.meta.dirname, '..', '..');
/** Results of builds and runs, and what is large and never changed. */
const NOT_COPIED = new Set(['node_modules', '.git', '.data', 'dist', 'reports']);

/** `unclear`: the tests fail without the fault, too, or no test failed by name. */
type Verdict = 'seen' | 'survived' | 'unclear' | 'does-not-fit';

async function copyCheckout(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'simway-plant-'));
  await cp(root, copy, { recursive: true, filter: (path) => !NOT_COPIED.has(basename(path)) });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** The names of the tests that failed; undefined when none did. All runs share the services. */
async function runTests(
  copy: string,
  services: TestServices,
  test: string,
): Promise<readonly string[] | undefined> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const report = join(copy, 'plant-report.json');
  await rm(report, { force: true });
  const options = [
    '--bail=1',
    `--testTimeout=${TEST_WITHIN_MS}`,
    '--reporter=json',
    `--outputFile=${report}`,
  ];
  const run = spawn(process.execPath, [vitest, 'run', ...options, test], {
    cwd: copy,
    env: environmentOf(services),
    stdio: 'ignore',
    timeout: FILES_WITHIN_MS,
  });
  const [code] = (await once(run, 'close')) as [number | null];
  return code === 0 ? undefined : failedTests(report);
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** None where the run was stopped. */
async function failedTests(report: string): Promise<readonly string[]> {
  if (!existsSync(report)) return [];
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as Report;
  return testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  );
}

/** Whether tests pass on the code as it is, by their files. */
const sound = new Map<string, boolean>();

async function plant(
  copy: string,
  services: TestServices,
  { file, find, replace, test }: Fault,
): Promise<[Verdict, string]> {
  const path = join(copy, file);
  const before = await readFile(path, 'utf8');
  if (before.split(find).length !== 2) return ['does-not-fit', `${file} has not exactly one "${find}"`];
  if (!sound.has(test)) sound.set(test, (await runTests(copy, services, test)) === undefined);
  if (!sound.get(test)) return ['unclear', `${test} fails on the code as it is`];
  await writeFile(
    path,
    before.replace(find, () => replace),
  );
  try {
    const failed = await runTests(copy, services, test);
    if (!failed) return ['survived', test];
    return failed[0] === undefined ? ['unclear', test] : ['seen', failed[0]];
  } finally {
    await writeFile(path, before);
  }
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !FAULTS.some((fault) => fault.name === name));
if (unknown.length > 0) throw new Error(`no such fault: ${unknown.join(', ')}`);
const faults = FAULTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const counts: Record<Verdict, number> = { seen: 0, survived: 0, unclear: 0, 'does-not-fit': 0 };
const copy = await copyCheckout();
try {
  const services = await startTestServices();
  try {
    for (const fault of faults) {
      const [verdict, detail] = await plant(copy, services, fault);
      counts[verdict] += 1;
      console.log(`${verdict.padEnd(12)} ${fault.name}: ${detail}`);
    }
  } finally {
    await services.close();
  }
} finally {
  await rm(copy, { recursive: true, force: true });
}
const share = counts.seen / faults.length;
console.log(`${counts.seen} of ${faults.length} faults are seen (${Math.round(share * 100)} %)`);
process.exitCode = share < LEAST_SHARE || counts['does-not-fit'] > 0 ? 1 : 0;
