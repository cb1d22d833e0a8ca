import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ServiceLog } from './child.ts';

const ROOT = join(import.meta.dirname, '../..');
const DASHBOARD = join(ROOT, 'dashboard');
/** In the folder of what is built: the hash of what it was built from. */
const BUILT_FROM = 'built-from';
const NOT_SOURCES = ['dist', 'node_modules', 'generated'];
const BUILD_TIMEOUT_MS = 600_000;

export interface Build {
  readonly name: string;
  /** Files and folders. */
  readonly sources: readonly string[];
  /** Where it writes. */
  readonly folder: string;
  readonly make: () => Promise<unknown>;
  /** On two quiet cores. */
  readonly aboutSeconds: number;
}

/** The client that the build contains is written from the routes. */
const dashboard: Build = {
  name: 'dashboard',
  sources: [
    DASHBOARD,
    ...['src', 'packages/client', 'packages/compress-files.ts'].map((path) => join(ROOT, path)),
  ],
  folder: join(DASHBOARD, 'dist'),
  aboutSeconds: 15,
  async make() {
    await run(join(ROOT, 'packages/client/generate.js'));
    const vite = createRequire(join(DASHBOARD, 'package.json')).resolve('vite/package.json');
    await run(join(vite, '../bin/vite.js'), 'build', DASHBOARD, '--logLevel', 'warn');
  },
};

/** Its pages are documents from all over the repository (packages/docs-site/navigation.ts). */
const docs: Build = {
  name: 'documentation',
  sources: ['docs', 'packages', 'SECURITY.md', 'CONTRIBUTING.md', 'examples/shop/README.md', '.agents'].map(
    (path) => join(ROOT, path),
  ),
  folder: join(ROOT, 'packages/docs-site/dist'),
  aboutSeconds: 10,
  make: () => run(join(ROOT, 'packages/docs-site/build.ts')),
};

/** Webpack takes seconds and 200 MB, which a worker would keep: it runs in a process of its own. */
const workflows: Build = {
  name: 'workflows',
  sources: ['workflows', 'src', 'package-lock.json'].map((path) => join(ROOT, path)),
  folder: join(ROOT, 'node_modules/.cache/workflows'),
  aboutSeconds: 5,
  async make() {
    await mkdir(workflows.folder, { recursive: true });
    await run(join(ROOT, 'src/main.ts'), 'bundle', WORKFLOW_BUNDLE);
  },
};

/** For SIMWAY_WORKFLOW_BUNDLE, once it is built. */
export const WORKFLOW_BUNDLE = join(workflows.folder, 'bundle.js');

const run = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, args, {
    timeout: BUILD_TIMEOUT_MS,
    // Set here for every caller: with another value Vite builds for development, larger and with absolute
    // paths.
    env: { NODE_ENV: 'production' },
  });

/** One after the other: each build uses every processor. */
export async function buildAll(log: Pick<ServiceLog, 'info'>): Promise<void> {
  for (const one of [workflows, dashboard, docs]) await build(log, one);
}

/** Builds where the sources differ from those of the last build: some seconds, otherwise nothing. */
export async function build(
  log: Pick<ServiceLog, 'info'>,
  { name, sources, folder, make, aboutSeconds }: Build,
): Promise<void> {
  const hash = await hashOf(sources);
  const builtFrom = join(folder, BUILT_FROM);
  const last = await readFile(builtFrom, 'utf8').catch(() => undefined);
  if (last === hash) return;
  log.info(`${name}: building, once, about ${aboutSeconds} s`);
  await make();
  await mkdir(folder, { recursive: true });
  await writeFile(builtFrom, hash);
  log.info(`${name}: built`);
}

async function hashOf(roots: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const root of roots)
    for (const path of (await filesIn(root)).toSorted())
      hash.update(path.slice(root.length)).update(await readFile(path));
  return hash.digest('hex');
}

async function filesIn(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [path];
  const paths: string[] = [];
  for (const entry of await readdir(path)) {
    if (NOT_SOURCES.includes(entry)) continue;
    paths.push(...(await filesIn(join(path, entry))));
  }
  return paths;
}
