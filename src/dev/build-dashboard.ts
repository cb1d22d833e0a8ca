import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ServiceLog } from './child.ts';

const FOLDER = join(import.meta.dirname, '../../dashboard');
/** In the built folder: the hash of what it was built from. */
const BUILT_FROM = join(FOLDER, 'dist/built-from');
const NOT_SOURCES = ['dist', 'node_modules', 'generated'];
const BUILD_TIMEOUT_MS = 120_000;

/** Builds the dashboard where its sources differ from those of the last build: some seconds, otherwise nothing. */
export async function buildDashboard(log: ServiceLog): Promise<void> {
  const hash = await hashOfSources();
  const built = await readFile(BUILT_FROM, 'utf8').catch(() => undefined);
  if (built === hash) return;
  log.info('dashboard: building');
  const vite = join(
    dirname(createRequire(join(FOLDER, 'package.json')).resolve('vite/package.json')),
    'bin/vite.js',
  );
  await promisify(execFile)(process.execPath, [vite, 'build', FOLDER, '--logLevel', 'warn'], {
    timeout: BUILD_TIMEOUT_MS,
    // Set here for every caller: with another value Vite builds for development, larger and with absolute paths.
    env: { NODE_ENV: 'production' },
  });
  await mkdir(dirname(BUILT_FROM), { recursive: true });
  await writeFile(BUILT_FROM, hash);
  log.info('dashboard: built');
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256');
  for (const path of (await filesIn(FOLDER)).toSorted())
    hash.update(path.slice(FOLDER.length)).update(await readFile(path));
  return hash.digest('hex');
}

/** Without the generated types, which a build does not read. */
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
