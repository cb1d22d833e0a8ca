// The package as npm would publish it: what it holds, and that a stranger's strict compiler takes the README.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { CHECKOUT } from '../support/world/checkout.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';

const run = promisify(execFile);
const SDK = join(CHECKOUT, 'packages/sdk');
const BIN = join(CHECKOUT, 'node_modules/.bin');
let folder: string;
let files: readonly string[];
beforeAll(async () => {
  folder = await makeTestFolder();
  const built = join(folder, 'built');
  await run(join(BIN, 'tsc'), ['-p', 'tsconfig.build.json', '--outDir', join(built, 'dist')], { cwd: SDK });
  for (const name of ['package.json', 'README.md', 'LICENSE'])
    await copyFile(join(SDK, name), join(built, name));
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const packed = await run('npm', pack, { cwd: built });
  const [{ filename, files: found }] = JSON.parse(packed.stdout) as [
    { filename: string; files: readonly { path: string }[] },
  ];
  files = found.map(({ path }) => path);
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  await run('tar', ['-xzf', filename, '-C', 'node_modules'], { cwd: folder });
  await run('mv', ['package', 'simway-sdk'], { cwd: modules });
  for (const name of ['standardwebhooks', '@stablelib', 'fast-sha256', '@types'])
    await symlink(join(CHECKOUT, 'node_modules', name), join(modules, name));
});

it('holds built files, its README and its licence, and nothing else', () => {
  const others = files.filter((path) => !/^dist\/[\w./]+\.(js|d\.ts)$/.test(path));
  expect(others.toSorted()).toEqual(['LICENSE', 'README.md', 'package.json']);
  expect(files).toContain('dist/index.d.ts');
});

it('has nothing of Node in its code, so that it runs on Bun, in workers and in browsers', async () => {
  const code = files.filter((path) => path.endsWith('.js'));
  const foreign = await Promise.all(
    code.map(async (path) => {
      const text = await readFile(join(folder, 'node_modules/simway-sdk', path), 'utf8');
      const imports = Array.from(text.matchAll(/from '([^.'][^']*)'/g), ([, name]) => name);
      return [...imports, ...(text.match(/\b(?:require\(|process\.\w|Buffer\b|__dirname)/g) ?? [])];
    }),
  );
  expect(new Set(foreign.flat())).toEqual(new Set(['standardwebhooks']));
});

it('has a README that compiles', async () => {
  const readme = await readFile(join(SDK, 'README.md'), 'utf8');
  const blocks = Array.from(readme.matchAll(/```typescript\n(.+?)```/gs), ([, block]) => block);
  await writeFile(join(folder, 'readme.mts'), blocks.join('\n'));
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
  const compiled = await run(join(BIN, 'tsc'), [...options, 'readme.mts'], { cwd: folder }).catch(
    (error: unknown) => error as { stdout: string },
  );
  expect(compiled.stdout).toBe('');
});
