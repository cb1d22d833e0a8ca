// `npm start` builds the workflows, the dashboard and the documentation where their sources changed since the
// last build, and then only.
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { build } from '../../src/dev/build.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';

let folder: string;
let builds: number;

beforeEach(async () => {
  builds = 0;
  folder = join(await makeTestFolder(), 'dashboard');
  await write('index.html', '<div id="root"></div>');
  await write('src/main.tsx', 'start();');
  await write('../routes/purchases.ts', '');
  await write('../SECURITY.md', '# Security');
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await writeFile(join(folder, path), text);
}

async function start(make = () => write('dist/index.html', 'built')): Promise<void> {
  await build(
    { info: () => undefined },
    {
      name: 'dashboard',
      sources: [folder, join(folder, '../routes'), join(folder, '../SECURITY.md')],
      folder: join(folder, 'dist'),
      aboutSeconds: 1,
      make: () => {
        builds += 1;
        return make();
      },
    },
  );
}

it('builds at the first start, and not again while nothing changes', async () => {
  await start();
  await start();
  expect(builds).toBe(1);
});

it.each([
  ['a changed file', () => write('src/main.tsx', 'startAgain();')],
  ['a new file', () => write('src/ui/more.tsx', '')],
  ['a renamed file', () => rename(join(folder, 'src/main.tsx'), join(folder, 'src/other.tsx'))],
  ['a changed route', () => write('../routes/purchases.ts', 'export {};')],
  ['a changed page', () => write('../SECURITY.md', '# Safety')],
  ['a removed file', () => rm(join(folder, 'index.html'))],
])('builds again after %s', async (_what, change) => {
  await start();
  await change();
  await start();
  await start();
  expect(builds).toBe(2);
});

it('takes no package and no built file for a source', async () => {
  await start();
  await write('node_modules/vite/package.json', '{}');
  await write('dist/assets/app.js', 'start()');
  await start();
  expect(builds).toBe(1);
});

it('builds again where the last build failed', async () => {
  await expect(start(() => Promise.reject(new Error('a fault in a source')))).rejects.toThrow('a fault');
  await start();
  expect(builds).toBe(2);
});
