// The SDK on the runtimes that its README names, as npm would install it: the code of the README, of the
// guides and of the agent skill, and a small worker over connections that break after a random number of
// bytes. Installs Bun and workerd into a folder of its own.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import getPort from 'get-port';
import { build } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readRunningFile, type RunningInfo } from '../../src/dev/running-file.ts';
import { startCuttingProxy } from '../sdk/cutting-proxy.support.ts';
import { createRandom } from '../support/time/size.ts';
import { CHECKOUT } from '../support/world/checkout.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';

const run = promisify(execFile);
const RUNTIMES = ['bun@1.4.5', 'workerd@1.20261117.1'];
const ORDERS = 20;
const INSTALL_MS = 180_000;

/** Both runtimes serve what a module's default export answers. */
const WORKER = `
import { intend, Simway, verifyWebhook, WebhookVerificationError } from 'simway-sdk';

export default {
  port: Number(globalThis.process?.env.PORT),
  async fetch(request) {
    const { baseUrl, apiKey, count } = await request.json();
    const simway = new Simway({ baseUrl, apiKey, deadlineMs: 60_000, attemptMs: 3_000 });
    const body = { packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' };
    const bought = await Promise.all(Array.from({ length: count }, () => simway.send(intend('buy', { body }))));
    let isForgeryRefused = false;
    try {
      verifyWebhook('{}', new Headers(), 'whsec_bmV3LW5ldy1uZXc=');
    } catch (error) {
      isForgeryRefused = error instanceof WebhookVerificationError;
    }
    return Response.json({ ids: bought.map(({ transactionId }) => transactionId), isForgeryRefused });
  },
};
`;

const workerdConfig = (port: number): string => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2026-01-01", globalOutbound = "outside")),
    (name = "outside", network = (allow = ["local", "private", "public"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`;

let running: RunningInfo;
let folder: string;
let server: ChildProcess | undefined;
beforeAll(async () => {
  const found = await readRunningFile(join(CHECKOUT, '.data'));
  if (found === null) throw new Error('Nothing is running in this checkout: start it with npm start');
  running = found;
  folder = await makeTestFolder();
  await run('npm', ['install', '--no-save', '--prefix', folder, ...RUNTIMES]);
  const sdk = join(folder, 'node_modules/simway-sdk');
  await mkdir(sdk);
  await copyFile(join(CHECKOUT, 'packages/sdk/package.json'), join(sdk, 'package.json'));
  const tsc = ['-p', join(CHECKOUT, 'packages/sdk/tsconfig.build.json'), '--outDir', join(sdk, 'dist')];
  await run(join(CHECKOUT, 'node_modules/.bin/tsc'), tsc);
  for (const name of ['standardwebhooks', '@stablelib', 'fast-sha256'])
    await symlink(join(CHECKOUT, 'node_modules', name), join(folder, 'node_modules', name));
  await writeFile(join(folder, 'source.js'), WORKER);
  const lib = { entry: join(folder, 'source.js'), formats: ['es' as const], fileName: () => 'worker.js' };
  await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    build: { lib, outDir: folder, emptyOutDir: false },
  });
}, INSTALL_MS);
afterAll(() => server?.kill());

/** The code of a page is one module. Answers what it prints, and what its comments say that it prints. */
async function runCodeOf(
  page: string,
  runtime: 'bun' | 'node',
): Promise<{ printed: string; said: string[] }> {
  const text = await readFile(join(CHECKOUT, page), 'utf8');
  const blocks = Array.from(text.matchAll(/^```typescript\n(.+?)^```/gms), ([, block]) => block);
  expect(blocks.length).toBeGreaterThan(0);
  const code = blocks.join('\n');
  await writeFile(join(folder, 'page.mts'), code);
  const program = runtime === 'bun' ? join(folder, 'node_modules/.bin/bun') : process.execPath;
  const variables = [`URL=${running.apiUrl}`, `KEY=${running.keys.ngn}`];
  const { stdout } = await run('env', [...variables, program, 'page.mts'], { cwd: folder });
  const said = Array.from(code.matchAll(/^console\.log\(.+; \/\/ (.+)$/gm), ([, line]) => line ?? '');
  return { printed: stdout, said };
}

it.each(['bun', 'node'] as const)('runs the code of its README on %s', async (name) => {
  const { printed } = await runCodeOf('packages/sdk/README.md', name);
  expect(printed).toMatch(/^SUCCESS txn-/);
  expect(printed).toContain('fund the wallet');
  expect(printed).toMatch(/EXPIRED\n$/);
});

const WITH_CODE = [
  ...globSync('docs/guides/*.md', { cwd: CHECKOUT }),
  '.agents/skills/simway/SKILL.md',
].filter((page) => readFileSync(join(CHECKOUT, page), 'utf8').includes('\n```typescript\n'));

it('most guides have code', () => expect(WITH_CODE.length).toBeGreaterThan(7));

it.each(WITH_CODE.flatMap((page) => (['bun', 'node'] as const).map((name) => [page, name] as const)))(
  '%s prints on %s what its comments say',
  async (page, name) => {
    const { printed, said } = await runCodeOf(page, name);
    expect(printed).not.toBe('');
    expect(printed.split('\n')).toEqual(expect.arrayContaining(said));
  },
);

it.each(['bun', 'workerd'] as const)('buys each order once on %s, however answers are lost', async (name) => {
  const port = await getPort();
  await writeFile(join(folder, 'config.capnp'), workerdConfig(port));
  const arguments_ = name === 'bun' ? ['run', 'source.js'] : ['serve', 'config.capnp'];
  const program = join(folder, 'node_modules/.bin', name);
  const variables = [`PORT=${port}`, 'DO_NOT_TRACK=1'];
  server = spawn('env', [...variables, program, ...arguments_], { cwd: folder, stdio: 'inherit' });
  const proxy = await startCuttingProxy(running.apiUrl, createRandom(1));
  const apiKey = running.keys.usd;
  try {
    const before = await countPurchases();
    const answer = await whenUp(() =>
      fetch(`http://127.0.0.1:${port}`, {
        method: 'POST',
        body: JSON.stringify({ baseUrl: proxy.url, apiKey, count: ORDERS }),
      }),
    );
    const { ids, isForgeryRefused } = (await answer.json()) as { ids: string[]; isForgeryRefused: boolean };
    expect(new Set(ids).size).toBe(ORDERS);
    expect((await countPurchases()) - before).toBe(ORDERS);
    expect(proxy.cuts.answer + proxy.cuts.request).toBeGreaterThan(0);
    expect(isForgeryRefused).toBe(true);
  } finally {
    server.kill();
    server = undefined;
    await proxy.close();
  }
});

async function whenUp(ask: () => Promise<Response>): Promise<Response> {
  let answer: Response | undefined;
  await expect
    .poll(async () => (answer = await ask().catch(() => undefined)), { timeout: 60_000 })
    .toBeDefined();
  return answer!;
}

async function countPurchases(): Promise<number> {
  const headers = { 'X-API-Key': running.keys.usd };
  const answer = await fetch(`${running.apiUrl}/api/esim/my-esims?limit=1`, { headers });
  return ((await answer.json()) as { total: number }).total;
}
