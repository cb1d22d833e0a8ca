// Docker cannot run here, so the test does itself what docker-compose.yml says: its logins made by its own script, its commands run with its own
// environment in a folder that holds just what the image holds, until its own health checks are content. Only addresses differ.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startChild, type Child } from '../../src/dev/child.ts';
import { freePort } from '../../src/dev/ports.ts';
import { CHECKOUT, fillIn, readCompose, variablesOf, type ComposeService } from '../support/compose.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { quietLog } from '../support/services.ts';
import { makeTestFolder } from '../support/test-folder.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const { services } = readCompose('docker-compose.yml');
/** What the image's ENTRYPOINT and COPY lines say. */
const dockerfile = await readFile(join(CHECKOUT, 'Dockerfile'), 'utf8');
const ENTRYPOINT = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(dockerfile)?.[1] ?? '[]') as string[];
const COPIED = Array.from(dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm), ([, files = '']) =>
  files.split(' '),
)
  .flat()
  .filter((file) => file !== 'package-lock.json' && file !== '.npmrc');

const tag = randomBytes(4).toString('hex');
const children: Child[] = [];
let folder: string;
let image: string;
let database: TestDatabase;
/** What .env would hold. */
let values: Record<string, string>;
/** Addresses in the compose file, and where they are here. */
let places: [from: string, to: string][];
const ports: Record<string, number> = {};

beforeAll(async () => {
  folder = await makeTestFolder();
  image = join(folder, 'app');
  await mkdir(image);
  for (const name of COPIED) await cp(join(CHECKOUT, name), join(image, name), { recursive: true });
  await symlink(join(CHECKOUT, 'node_modules'), join(image, 'node_modules'));
  database = await createTestDatabase({ migrate: null });
  values = Object.fromEntries(
    variablesOf(JSON.stringify(services))
      .filter(({ isNeeded }) => isNeeded)
      .map(({ name }) => [name, randomBytes(32).toString('hex')]),
  );
  Object.assign(values, {
    SIMWAY_PUBLIC_URL: 'https://api.test.example',
    SIMWAY_FIXED_RATES: 'NGN=1600.00',
    // The new merchant's website is on this machine.
    SIMWAY_TEST_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
  });
  for (const name of ['api', 'admin', 'worker', 'supplier', 'supplierControl', 'gateway', 'gatewayControl'])
    ports[name] = await freePort();
  const owner = new URL(database.url);
  places = [
    ['postgres://simway:', `postgres://${owner.username}:`],
    [`${values['POSTGRES_PASSWORD']!}@`, `${owner.password}@`],
    ['simway_app:', `simway_app_${tag}:`],
    ['@postgres:5432/simway', `@${owner.host}${owner.pathname}`],
    ['redis://redis:6379', inject('redisUrl')],
    ['temporal:7233', inject('temporalAddress')],
    ['http://sandbox-supplier:3100', `http://127.0.0.1:${ports['supplier']!}`],
    ['http://sandbox-gateway:3110', `http://127.0.0.1:${ports['gateway']!}`],
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
  await asOwner(`drop role if exists simway_app_${tag}`, `drop role if exists temporal_${tag}`);
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

/** A service's environment, with ports of its own and a namespace of its own on the shared Temporal. */
function environmentOf(name: string): Record<string, string> {
  const given = Object.entries(serviceOf(name).environment ?? {}).map(([key, value]) => [key, here(value)]);
  return {
    ...(Object.fromEntries(given) as Record<string, string>),
    SIMWAY_NAMESPACE_PREFIX: `p-${tag}`,
    SIMWAY_HTTP_PORT: String(ports['api']),
    SIMWAY_ADMIN_PORT: String(ports['admin']),
    SIMWAY_WORKER_ADMIN_PORT: String(ports['worker']),
    PATH: '/usr/bin:/bin',
  };
}

/** The service's command line; `node` is the Node of this test. */
function wordsOf(name: string): string[] {
  const { entrypoint = ENTRYPOINT, command = [] } = serviceOf(name);
  const [program, ...words] = [...entrypoint, ...command].map(here);
  expect(program).toBe('node');
  return words.map((word) => (word === '--data=/data' ? `--data=${join(folder, name)}` : word));
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

/** What the service's own health check says. */
async function isHealthy(name: string): Promise<boolean> {
  const [kind, program, ...words] = serviceOf(name).healthcheck?.test ?? [];
  expect([kind, program]).toEqual(['CMD', 'node']);
  return run(process.execPath, words.map(here), { cwd: image }).then(
    () => true,
    () => false,
  );
}

async function asOwner(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
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

/** The script's statements, with psql's variables filled in and names of this test's own; roles without a login may be there already. */
async function rolesOfScript(): Promise<string[]> {
  const script = await readFile(join(CHECKOUT, 'ops', 'postgres', 'roles.sql'), 'utf8');
  return script
    .replaceAll(/^--.*$/gm, '')
    .replaceAll(":'app_password'", `'${values['SIMWAY_APP_PASSWORD']!}'`)
    .replaceAll(":'temporal_password'", `'${values['TEMPORAL_DB_PASSWORD']!}'`)
    .replace('simway_app', `simway_app_${tag}`)
    .replace('role temporal', `role temporal_${tag}`)
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
    .map((statement) =>
      statement.endsWith('nologin')
        ? `do $$ begin ${statement}; exception when duplicate_object then null; end $$`
        : statement,
    );
}

describe('what docker-compose.yml starts', () => {
  it('is not healthy before it runs', async () => {
    expect([await isHealthy('api'), await isHealthy('worker')]).toEqual([false, false]);
  });

  it('migrates as the owner, after the logins were made as the script makes them', async () => {
    await asOwner(...(await rolesOfScript()));
    const { stdout } = await run(process.execPath, wordsOf('migrate'), {
      cwd: image,
      env: environmentOf('migrate'),
    });
    expect(stdout).toMatch(/migrations ran/);
    expect(stdout).toContain(`namespace p-${tag}-test: made`);
    const again = await run(process.execPath, wordsOf('migrate'), {
      cwd: image,
      env: environmentOf('migrate'),
    });
    expect(again.stdout).toContain('the database was up to date');
  });

  it('comes up, and sells, under a login that owns nothing', async () => {
    await start('sandbox-supplier');
    await start('sandbox-gateway');
    await start('worker');
    await start('api');
    for (const name of ['worker', 'api'])
      await until(
        () => isHealthy(name),
        (healthy) => healthy,
        { what: `${name} healthy`, withinMs: 60_000 },
      );
    expect(await buyAsNewMerchant()).toMatchObject({ status: 'SUCCESS' });
    const app = new pg.Client({ connectionString: environmentOf('api')['DATABASE_URL'] });
    await app.connect();
    await expect(app.query('select from test.purchases')).rejects.toThrow('permission denied');
    await app.end();
  });

  it('stops on SIGTERM, without force', async () => {
    for (const child of children.toReversed()) {
      await child.stop();
      expect(await child.exited).toEqual({ code: 0, signal: null });
    }
  });
});
