// Docker cannot run here, so the test does what docker-compose.yml says: its script makes the logins, its
// commands run in its environment in a folder with exactly the files of the image, until its own health
// checks succeed. Only addresses differ.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startChild, type Child } from '../../src/dev/child.ts';
import { freePort } from '../../src/dev/ports.ts';
import { commandLineOf } from '../../src/dev/process-identity.ts';
import { CHECKOUT } from '../support/world/checkout.ts';
import { fillIn, readCompose, type ComposeService } from '../support/world/compose.ts';
import { createTestDatabase, type TestDatabase } from '../support/world/database.ts';
import { processEnv } from '../support/world/processes.ts';
import { quietLog, redisProgram } from '../support/world/services.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';
import { until } from '../support/time/until.ts';

const run = promisify(execFile);
const { services } = readCompose('docker-compose.yml');
/** The ENTRYPOINT and COPY lines of the image. */
const dockerfile = await readFile(join(CHECKOUT, 'Dockerfile'), 'utf8');
const ENTRYPOINT = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(dockerfile)?.[1] ?? '[]') as string[];
const COPIED = Array.from(dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm), ([, files = '']) =>
  files.split(' '),
)
  .flat()
  .filter((file) => file !== 'package-lock.json' && file !== '.npmrc');

/** A script in the dashboard's page. */
const ASSET = /src="(\/dashboard\/assets\/[^"]+\.js)"/;

const tag = randomBytes(4).toString('hex');
const children: Child[] = [];
let folder: string;
let image: string;
let database: TestDatabase;
/** Made by an older version, which migrated as the superuser. */
let older: TestDatabase;
/** What .env would contain. */
let values: Record<string, string>;
/** Addresses in the compose file, and the ones used here. */
let places: [from: string | RegExp, to: string][];
const ports: Record<string, number> = {};

beforeAll(async () => {
  folder = await makeTestFolder();
  image = join(folder, 'app');
  await mkdir(image);
  for (const name of COPIED) await cp(join(CHECKOUT, name), join(image, name), { recursive: true });
  // As npm makes it there: our own package is the image's, not the checkout's.
  await mkdir(join(image, 'node_modules'));
  for (const name of await readdir(join(CHECKOUT, 'node_modules')))
    await symlink(
      name === 'simway-client' ? '../packages/client' : join(CHECKOUT, 'node_modules', name),
      join(image, 'node_modules', name),
    );
  older = await createTestDatabase();
  database = await createTestDatabase({ migrate: null });
  for (const name of ['docker-compose.yml', '.env.example', 'ops'])
    await cp(join(CHECKOUT, name), join(folder, name), { recursive: true });
  await run('sh', [join(folder, 'ops', 'secrets.sh')]);
  values = {
    SIMWAY_PUBLIC_URL: 'https://api.test.example',
    SIMWAY_FIXED_RATES: 'NGN=1600.00',
    // The new merchant's website is on this machine.
    SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
  };
  const listening = ['api', 'admin', 'worker', 'redis'];
  const simulated = ['supplier', 'supplierControl', 'gateway', 'gatewayControl'];
  for (const name of [...listening, ...simulated]) ports[name] = await freePort();
  const { host, pathname } = new URL(database.url);
  places = [
    ['/run/secrets', join(folder, 'secrets')],
    ['simway_owner@', `simway_owner_${tag}@`],
    ['simway_app@', `simway_app_${tag}@`],
    ['@postgres:5432/simway', `@${host}${pathname}`],
    ['//redis:6379', `//127.0.0.1:${ports['redis']!}`],
    ['temporal:7233', inject('temporalAddress')],
    ['http://sandbox-supplier:3100', `http://127.0.0.1:${ports['supplier']!}`],
    ['http://sandbox-supplier:3101', `http://127.0.0.1:${ports['supplierControl']!}`],
    ['http://sandbox-gateway:3110', `http://127.0.0.1:${ports['gateway']!}`],
    ['http://api:3000', `http://127.0.0.1:${ports['api']!}`],
    // The addresses of the supplier's events; listed before 0.0.0.0, which it contains.
    ['10.0.0.0/8,', '127.0.0.0/8,'],
    ['0.0.0.0', '127.0.0.1'],
    ['http://127.0.0.1:3001', `http://127.0.0.1:${ports['admin']!}`],
    ['http://127.0.0.1:3002', `http://127.0.0.1:${ports['worker']!}`],
    ['--port=3100', `--port=${ports['supplier']!}`],
    ['--control-port=3101', `--control-port=${ports['supplierControl']!}`],
    ['--port=3110', `--port=${ports['gateway']!}`],
    ['--control-port=3111', `--control-port=${ports['gatewayControl']!}`],
  ];
});
afterAll(async () => {
  for (const child of children.toReversed()) await child.stop();
  await database.drop();
  await older.drop();
  for (const login of ['simway_owner', 'simway_app', 'temporal'])
    await query(inject('databaseUrl'), `drop role if exists ${login}_${tag}`);
  await rm(folder, { recursive: true, force: true });
});

function here(text: string): string {
  return places.reduce((so, [from, to]) => so.replaceAll(from, to), fillIn(text, values));
}

function serviceOf(name: string): ComposeService {
  const service = services[name];
  if (!service) throw new Error(`no service ${name}`);
  return service;
}

/** What a file in secrets/ holds. */
async function secretOf(name: string): Promise<string> {
  return (await readFile(join(folder, 'secrets', name), 'utf8')).trim();
}

/** A service's environment, with its own ports and its own namespace on the shared Temporal. */
function environmentOf(name: string): Record<string, string> {
  const given = Object.entries(serviceOf(name).environment ?? {}).map(([key, value]) => [key, here(value)]);
  return {
    ...(Object.fromEntries(given) as Record<string, string>),
    SIMWAY_NAMESPACE_PREFIX: `p-${tag}`,
    SIMWAY_HTTP_PORT: String(ports['api']),
    SIMWAY_ADMIN_PORT: String(ports['admin']),
    SIMWAY_WORKER_ADMIN_PORT: String(ports['worker']),
    ...processEnv(),
  };
}

/** The service's command line; `node` is the Node of this test. */
function wordsOf(name: string): string[] {
  const { entrypoint = ENTRYPOINT, command = [] } = serviceOf(name);
  const [program, ...words] = [...entrypoint, ...command].map(here);
  expect(program).toBe('node');
  return words.map((word) => (word === '--data=/data' ? `--data=${join(folder, name)}` : word));
}

/** The service's script, with the service's own arguments and environment. */
async function startRedis(): Promise<Child> {
  const { command = [], environment = {} } = serviceOf('redis');
  const child = await startChild({
    name: 'redis',
    command: '/bin/sh',
    args: [
      ...[join(CHECKOUT, 'ops', 'redis', 'start.sh'), ...command],
      ...['--bind', '127.0.0.1', '--port', String(ports['redis']), '--dir', folder],
    ],
    env: {
      REDIS_PASSWORD_FILE: here(environment['REDIS_PASSWORD_FILE'] ?? ''),
      PATH: `${dirname(await redisProgram())}:${processEnv()['PATH'] ?? ''}`,
    },
    log: quietLog,
  });
  children.push(child);
  await child.untilReady({ line: /Ready to accept connections/, deadlineMs: 20_000 });
  return child;
}

async function start(name: string): Promise<Child> {
  const child = await startChild({
    name,
    command: process.execPath,
    args: wordsOf(name),
    cwd: image,
    env: environmentOf(name),
    log: quietLog,
    stopDeadlineMs: 30_000,
  });
  children.push(child);
  await child.untilReady({ line: /^\{"ready":true/, deadlineMs: 60_000 });
  return child;
}

/** The result of the service's own health check. */
async function isHealthy(name: string): Promise<boolean> {
  const [kind, program, ...words] = serviceOf(name).healthcheck?.test ?? [];
  expect([kind, program]).toEqual(['CMD', 'node']);
  return run(process.execPath, words.map(here), { cwd: image }).then(
    () => true,
    () => false,
  );
}

/** The first column of the last statement's result. */
async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const answer = await client.query<Record<string, unknown>>(text);
    return [answer]
      .flat()
      .at(-1)!
      .rows.map((row) => Object.values(row)[0]);
  } finally {
    await client.end();
  }
}

/** The address of a database for one of the script's logins. */
async function loginTo(target: TestDatabase, login: string, password: string): Promise<string> {
  const url = new URL(target.url);
  url.username = `${login}_${tag}`;
  url.password = await secretOf(password);
  return url.href;
}

/** An operator's command, as `docker compose run --rm api …` runs it. */
async function operator(words: string): Promise<Record<string, string>> {
  const { stdout } = await run(
    process.execPath,
    [...ENTRYPOINT.slice(1), ...words.split(' '), '--by', 'a-test'],
    {
      cwd: image,
      env: environmentOf('api'),
    },
  );
  return JSON.parse(stdout) as Record<string, string>;
}

async function buyAsNewMerchant(): Promise<unknown> {
  const { accountId = '' } = await operator('account create --name M --email m@test.example --currency USD');
  await operator(
    `wallet fund --account ${accountId} --environment test --amount 50.00 --currency USD --reference first --reason begin`,
  );
  const website = `http://127.0.0.1:${ports['supplier']!}`;
  const { apiKey = '' } = await operator(
    `key create --account ${accountId} --environment test --addresses 127.0.0.1 --company M --website ${website}`,
  );
  const answer = await fetch(`http://127.0.0.1:${ports['api']!}/api/esim/buy`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': apiKey },
    body: JSON.stringify({ packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod: 'WALLET' }),
  });
  return answer.json();
}

/**
 * Runs the script on a database as psql does for init.sh, with logins of this test; roles without a login may
 * exist already.
 */
async function runRolesScript(target: TestDatabase): Promise<void> {
  const [script = '', init = ''] = await Promise.all(
    ['roles.sql', 'init.sh'].map((name) => readFile(join(CHECKOUT, 'ops', 'postgres', name), 'utf8')),
  );
  const { environment = {} } = serviceOf('postgres');
  const given = new Map<string, string>();
  for (const [, name = '', variable = ''] of init.matchAll(/^\\set (\w+) `cat "\$(\w+)"`$/gm))
    given.set(name, (await readFile(here(environment[variable] ?? ''), 'utf8')).trim());
  const filled = script
    .replaceAll(/^\s*--.*$/gm, '')
    .replaceAll(/:'(\w+)'/g, (_all, name: string) => `'${given.get(name)!}'`)
    .replaceAll(':"DBNAME"', `"${target.name}"`)
    .replaceAll(/\b(simway_owner|simway_app|temporal)\b/g, `$1_${tag}`);
  await query(target.url, filled);
}

const migrate = (env: Record<string, string> = {}) =>
  run(process.execPath, wordsOf('migrate'), { cwd: image, env: { ...environmentOf('migrate'), ...env } });

describe('what docker-compose.yml starts', () => {
  it('is not healthy before it runs', async () => {
    expect([await isHealthy('api'), await isHealthy('worker')]).toEqual([false, false]);
  });

  it('migrates under a login that owns the schemas and nothing else, made by the script', async () => {
    await runRolesScript(database);
    const { stdout } = await migrate();
    expect(stdout).toMatch(/migrations ran/);
    expect(stdout).toContain(`namespace p-${tag}-test: made`);
    expect((await migrate()).stdout).toContain('the database was up to date');
    const rights = `select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls from pg_roles
      where rolname in ('simway_owner_${tag}', 'simway_app_${tag}')`;
    expect(await query(database.url, rights)).toEqual([false, false]);
    const temporal = await loginTo(database, 'temporal', 'TEMPORAL_DB_PASSWORD');
    await expect(query(temporal, 'select 1')).rejects.toThrow('permission denied for database');
  });

  it('gives the owner the tables that an older version made as the superuser, and changes passwords', async () => {
    const withOldPassword = await loginTo(older, 'simway_owner', 'SIMWAY_OWNER_PASSWORD');
    await writeFile(join(folder, 'secrets', 'SIMWAY_OWNER_PASSWORD'), `${randomBytes(32).toString('hex')}\n`);
    await runRolesScript(older);
    const asOwner = await loginTo(older, 'simway_owner', 'SIMWAY_OWNER_PASSWORD');
    await expect(query(withOldPassword, 'select 1')).rejects.toThrow('password authentication failed');
    const others = `
      select 'schema ' || nspname from pg_namespace
       where nspname in ('accounts', 'test', 'live') and nspowner <> 'simway_owner_${tag}'::regrole
      union all select 'relation ' || oid::regclass from pg_class
       where relnamespace::regnamespace::text in ('accounts', 'test', 'live') and relowner <> 'simway_owner_${tag}'::regrole
      union all select 'function ' || oid::regprocedure from pg_proc
       where pronamespace::regnamespace::text in ('accounts', 'test', 'live') and proowner <> 'simway_owner_${tag}'::regrole`;
    expect(await query(older.url, others)).toEqual([]);
    expect((await migrate({ DATABASE_URL: asOwner })).stdout).toContain('the database was up to date');
    await query(asOwner, 'alter table live.purchases add column of_the_next_version integer');
    // The service's rights are unchanged.
    const asApp = await loginTo(older, 'simway_app', 'SIMWAY_APP_PASSWORD');
    const asWorld = `begin; set local role simway_live; select count(*)::int from live.purchases`;
    expect(await query(asApp, asWorld)).toEqual([0]);
  });

  it('starts Redis with a password that every client needs', async () => {
    await startRedis();
    const stranger = new Redis({ host: '127.0.0.1', port: ports['redis']!, lazyConnect: true });
    stranger.on('error', () => undefined);
    await expect(stranger.set('rate', '1')).rejects.toThrow('NOAUTH');
    stranger.disconnect();
  });

  it('builds the dashboard from what the image copies', async () => {
    for (const ignored of ['dashboard/dist', 'packages/client/generated'])
      await rm(join(image, ignored), { recursive: true, force: true });
    await run('npm', ['run', '--silent', 'build:dashboard'], { cwd: image });
    expect(await readFile(join(image, 'dashboard', 'dist', 'index.html'), 'utf8')).toMatch(ASSET);
    // Two minutes on two quiet cores.
  }, 600_000);

  it('starts, and sells, under a login that owns nothing', async () => {
    await start('sandbox-supplier');
    await start('sandbox-gateway');
    await start('worker');
    await start('api');
    for (const name of ['worker', 'api'])
      await until(
        () => isHealthy(name),
        (healthy) => healthy,
        { what: `${name} healthy` },
      );
    expect(await buyAsNewMerchant()).toMatchObject({ status: 'SUCCESS' });
    const page = await fetch(here('http://api:3000/dashboard'));
    const [, asset = ''] = ASSET.exec(await page.text()) ?? [];
    expect((await fetch(here(`http://api:3000${asset}`))).headers.get('content-type')).toContain(
      'javascript',
    );
    const asApp = await loginTo(database, 'simway_app', 'SIMWAY_APP_PASSWORD');
    await expect(query(asApp, 'select from test.purchases')).rejects.toThrow('permission denied');
    const password = await secretOf('REDIS_PASSWORD');
    const redis = new Redis(environmentOf('api')['REDIS_URL']!, { password });
    expect(await redis.dbsize()).toBeGreaterThan(0);
    redis.disconnect();
  });

  it('shows none of its secrets in a command line or an environment', async () => {
    const names = await readdir(join(folder, 'secrets'));
    const secrets = await Promise.all(names.map(secretOf));
    expect(secrets.length).toBeGreaterThan(8);
    expect(children).toHaveLength(5);
    for (const child of children) {
      const commandLine = await commandLineOf(child.pid);
      expect(commandLine).toMatch(/main\.ts|redis-server/);
      const environment = await readFile(`/proc/${child.pid}/environ`, 'utf8').catch(() => '');
      const shown = `${commandLine}${environment}`;
      expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
    }
  });

  it('stops on SIGTERM, without force', async () => {
    for (const child of children.toReversed()) {
      await child.stop();
      expect(await child.exited).toEqual({ code: 0, signal: null });
    }
  });
});
