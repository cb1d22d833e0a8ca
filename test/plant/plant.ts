// Plants the faults of faults.ts one by one in a copy of the checkout, runs the tests that should see each, and prints the score: `npm run plant`.
// With names of faults as arguments it plants only these. Exits 1 below 90 %, and where a fault no longer fits the code.
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { FAULTS, type Fault } from './faults.ts';

const LEAST_SHARE = 0.9;
/** Ten times what a file of tests takes. */
const TESTS_WITHIN_MS = 600_000;
const root = join(import.meta.dirname, '..', '..');
/** Results of builds and runs, and what is large and never changed. */
const NOT_COPIED = new Set(['node_modules', '.git', '.data', 'dist', 'reports']);

type Verdict = 'seen' | 'survived' | 'does-not-fit';

async function copyCheckout(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'simway-plant-'));
  await cp(root, copy, { recursive: true, filter: (path) => !NOT_COPIED.has(basename(path)) });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** The names of the tests that failed; undefined when none did. */
function runTests(copy: string, tests: readonly string[]): Promise<readonly string[] | undefined> {
  return new Promise((resolve) => {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const run = spawn(process.execPath, [vitest, 'run', '--bail=1', '--reporter=json', ...tests], {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const timer = setTimeout(() => run.kill('SIGTERM'), TESTS_WITHIN_MS);
    let output = '';
    run.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    run.on('close', (code) => {
      clearTimeout(timer);
      resolve(code === 0 ? undefined : failedTests(output));
    });
  });
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message?: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** The output may begin with lines of services. A file that does not load has no test results. */
function failedTests(output: string): readonly string[] {
  const report = JSON.parse(output.slice(output.indexOf('{"num'))) as Report;
  const failed = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  );
  return failed.length > 0 ? failed : ['(no test by name)'];
}

async function plant(copy: string, { file, find, replace, tests }: Fault): Promise<[Verdict, string]> {
  const path = join(copy, file);
  const before = await readFile(path, 'utf8');
  if (before.split(find).length !== 2) return ['does-not-fit', `${file} has not exactly one "${find}"`];
  await writeFile(
    path,
    before.replace(find, () => replace),
  );
  try {
    const failed = await runTests(copy, tests);
    return failed ? ['seen', failed[0] ?? ''] : ['survived', tests.join(', ')];
  } finally {
    await writeFile(path, before);
  }
}

const wanted = process.argv.slice(2);
const faults = FAULTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const copy = await copyCheckout();
const counts: Record<Verdict, number> = { seen: 0, survived: 0, 'does-not-fit': 0 };
try {
  for (const fault of faults) {
    const [verdict, detail] = await plant(copy, fault);
    counts[verdict] += 1;
    console.log(`${verdict.padEnd(12)} ${fault.name}: ${detail}`);
    if (verdict === 'survived' && fault.whyItMaySurvive !== undefined)
      console.log(`             known: ${fault.whyItMaySurvive}`);
  }
} finally {
  await rm(copy, { recursive: true, force: true });
}
const share = counts.seen / Math.max(1, faults.length);
console.log(`${counts.seen} of ${faults.length} faults are seen (${Math.round(share * 100)} %)`);
process.exitCode = share < LEAST_SHARE || counts['does-not-fit'] > 0 ? 1 : 0;
