import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ServiceLog } from './child.ts';

const FOLDER = join(import.meta.dirname, '../../dashboard');
/** The client that the build contains is written from the routes, which are here. */
const ROUTES = join(import.meta.dirname, '..');
/** In the folder: the hash of what it was built from. */
const BUILT_FROM = 'dist/built-from';
const NOT_SOURCES = ['dist', 'node_modules'];
/** Writes what the build reads of the routes. */
const WRITE_CLIENT = join(import.meta.dirname, '../../packages/client/generate.js');
const BUILD_TIMEOUT_MS = 600_000;

/**
 * Builds the dashboard where its sources or the routes differ from those of the last build: some seconds,
 * otherwise nothing.
 */
export async function buildDashboard(
  log: Pick<ServiceLog, 'info'>,
  /** For tests. */
  { folder = FOLDER, routes = ROUTES, build = buildByVite } = {},
): Promise<void> {
  const hash = await hashOf([folder, routes]);
  const builtFrom = join(folder, BUILT_FROM);
  const built = await readFile(builtFrom, 'utf8').catch(() => undefined);
  if (built === hash) return;
  log.info('dashboard: building');
  await build(folder);
  await mkdir(dirname(builtFrom), { recursive: true });
  await writeFile(builtFrom, hash);
  log.info('dashboard: built');
}

async function buildByVite(folder: string): Promise<void> {
  const vite = join(
    dirname(createRequire(join(folder, 'package.json')).resolve('vite/package.json')),
    'bin/vite.js',
  );
  const run = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, args, {
      timeout: BUILD_TIMEOUT_MS,
      // Set here for every caller: with another value Vite builds for development, larger and with absolute
      // paths.
      env: { NODE_ENV: 'production' },
    });
  await run(WRITE_CLIENT);
  await run(vite, 'build', folder, '--logLevel', 'warn');
}

async function hashOf(roots: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const root of roots)
    for (const path of (await filesIn(root)).toSorted())
      hash.update(path.slice(root.length)).update(await readFile(path));
  return hash.digest('hex');
}

async function filesIn(folder: string): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (NOT_SOURCES.includes(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) paths.push(...(await filesIn(path)));
    else paths.push(path);
  }
  return paths;
}
