// Records the examples of the reference from the HTTP tests that name some: `npm run record:examples`. Starts
// all services it needs.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createRouteTable } from '../../../src/app/routes/route-table.ts';
import type { RecordedExample } from './examples.ts';

const FILE = 'src/app/routes/examples.json';

const folder = mkdtempSync(join(tmpdir(), 'simway-examples-'));
try {
  const files = globSync('test/**/*.http.test.ts')
    .filter((file) => /\bexample(?: }|\?|:)/.test(readFileSync(file, 'utf8')))
    .sort();
  // In processes of their own, so that no file sees rows of another.
  const run = spawnSync('npx', ['vitest', 'run', '--project', 'services', '--isolate', ...files], {
    stdio: 'inherit',
    env: { ...process.env, SIMWAY_EXAMPLES: folder },
  });
  if (run.status !== 0) throw new Error('the tests fail: nothing is recorded');
  writeFileSync(FILE, `${JSON.stringify(merged(files), null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}

/** In the order of the routes; of several under one name the first. */
function merged(files: readonly string[]): object {
  const lines = files
    .map((file) => join(folder, `${basename(file)}.jsonl`))
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line) as RecordedExample);
  const operations = createRouteTable({ version: '1.2.3', brand: 'simway' }).map(
    ({ docs }) => docs?.operationId,
  );
  const examples: Record<string, Record<string, Record<string, unknown>>> = {};
  for (const id of operations) {
    for (const { of, name, value } of lines.filter(({ operationId }) => operationId === id)) {
      const named = ((examples[id ?? ''] ??= {})[of] ??= {});
      named[name] ??= value;
    }
  }
  return examples;
}
