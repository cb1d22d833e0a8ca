// The embedded Postgres: data kept between runs, however the last run ended; one server per folder; closed to
// others.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { startPostgres, type PostgresOptions, type RunningPostgres } from '../../src/dev/postgres.ts';
import {
  end,
  hold,
  isPortFree,
  killWatchdogsOf,
  rememberingLog,
  runs,
  testFolder,
  until,
} from './support.ts';

/**
 * The first test makes the cluster `kept`, which later ones start again: making one takes longer than most
 * tests.
 */
const folder = await testFolder();
const started = new Set<RunningPostgres>();

async function start(name: string, options: Partial<PostgresOptions> = {}): Promise<RunningPostgres> {
  const postgres = await startPostgres({
    dataDir: join(folder, name),
    spillDir: join(folder, 'spill'),
    durability: 'off',
    log: rememberingLog(),
    ...options,
  });
  started.add(postgres);
  return postgres;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows.map((row) => Object.values(row)[0]);
  } finally {
    await client.end();
  }
}

afterEach(async () => {
  for (const postgres of started) await postgres.stop();
  started.clear();
});

test('Postgres keeps its data over stop, restart, a crash and a new start; the cluster is made once', async () => {
  const log = rememberingLog();
  const first = await start('kept', { log });
  await query(first.url, 'CREATE TABLE kept (n int)');
  for (const again of [() => first.restart(), () => first.kill().then(() => first.start())]) {
    const pid = first.pid;
    await again();
    expect(first.pid).not.toBe(pid);
    expect(await runs(pid)).toBe(false);
    await query(first.url, 'INSERT INTO kept VALUES (1)');
  }
  await first.stop();
  const second = await start('kept', { log });
  expect(await query(second.url, 'SELECT count(*)::int FROM kept')).toEqual([2]);
  expect(log.lines.filter((line) => line.includes('new Postgres cluster'))).toHaveLength(1);
});

test('Postgres is durable by default, uses UTF-8 and UTC, and takes 200 connections', async () => {
  const { url } = await start('kept', { durability: 'on' });
  const settings = [
    'fsync',
    'synchronous_commit',
    'full_page_writes',
    'max_connections',
    'shared_buffers',
    'timezone',
  ];
  const values = await Promise.all(settings.map((name) => query(url, `SHOW ${name}`)));
  expect(values.flat()).toEqual(['on', 'on', 'on', '200', '128MB', 'UTC']);
  expect(await query(url, 'SHOW server_encoding')).toEqual(['UTF8']);
  expect(await query(url, "SELECT upper('ñandú')")).toEqual(['ÑANDÚ']);
  expect(await query(url, 'SELECT current_database()')).toEqual(['simway']);
});

test('Postgres listens on loopback only, opens no socket file, and requires its password', async () => {
  const { url, port } = await start('kept');
  expect(await query(url, 'SHOW listen_addresses')).toEqual(['127.0.0.1']);
  expect(await query(url, 'SHOW unix_socket_directories')).toEqual(['']);
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.internal === false && address.family === 'IPv4');
  if (outside !== undefined) {
    const elsewhere = url.replace('127.0.0.1', outside.address);
    await expect(query(elsewhere, 'SELECT 1')).rejects.toThrow(/ECONNREFUSED/);
  }
  const wrong = `postgres://simway:wrong@127.0.0.1:${port}/simway`;
  await expect(query(wrong, 'SELECT 1')).rejects.toThrow('password authentication failed');
  const cluster = join(folder, 'kept', 'cluster');
  expect((await stat(join(cluster, 'simway.password'))).mode & 0o777).toBe(0o600);
  expect((await stat(cluster)).mode & 0o777).toBe(0o700);
});

test('startPostgres makes the cluster again when the first run was killed half-way', async () => {
  const partial = join(folder, 'half', 'cluster.partial');
  await mkdir(partial, { recursive: true });
  await writeFile(join(partial, 'PG_VERSION'), '17\n');
  await writeFile(join(folder, 'half', 'simway.password.partial'), 'old');
  const { url } = await start('half');
  expect(await query(url, 'SELECT 1')).toEqual([1]);
  expect((await readdir(join(folder, 'half'))).filter((name) => name.includes('partial'))).toEqual([]);
});

test('Postgres starts over a stale pid file, even when another program now has that process id', async () => {
  const first = await start('kept');
  await first.stop();
  const other = spawn('sleep', ['600']);
  await once(other, 'spawn');
  const pidFile = join(folder, 'kept', 'cluster', 'postmaster.pid');
  await writeFile(
    pidFile,
    `${other.pid!}\n${join(folder, 'kept', 'cluster')}\n1\n${first.port}\n\n127.0.0.1\n`,
  );
  const second = await start('kept');
  expect(await query(second.url, 'SELECT 1')).toEqual([1]);
  expect(await runs(other.pid!)).toBe(true);
  other.kill();
});

test('a killed run leaves no Postgres behind', async () => {
  const holder = await hold('postgres', join(folder, 'kept'));
  const { pid, url } = holder.started;
  expect(await query(url, 'SELECT 1')).toEqual([1]);
  await end(holder, 'SIGKILL');
  await until(async () => !(await runs(pid)), 20_000);
});

test('startPostgres stops a server that a killed run left behind, and continues with its data', async () => {
  const holder = await hold('postgres', join(folder, 'kept'));
  const { pid, url } = holder.started;
  await query(url, 'CREATE TABLE orphaned AS SELECT 1 AS n');
  await killWatchdogsOf(pid);
  await end(holder, 'SIGKILL');
  expect(await query(url, 'SELECT n FROM orphaned')).toEqual([1]);
  const log = rememberingLog();
  const next = await start('kept', { log });
  expect(log.lines).toContain(`stopping the Postgres that an earlier run left behind (process ${pid})`);
  expect(await runs(pid)).toBe(false);
  expect(await query(next.url, 'SELECT n FROM orphaned')).toEqual([1]);
});

test('two runs of Postgres cannot work on one folder', async () => {
  const first = await start('kept');
  await expect(start('kept')).rejects.toThrow(`is in use by process ${process.pid}`);
  expect(await query(first.url, 'SELECT 1')).toEqual([1]);
  await first.stop();
  const holder = await hold('postgres', join(folder, 'kept'));
  await expect(first.start()).rejects.toThrow(`is in use by process ${holder.process.pid!}`);
  await end(holder, 'SIGTERM');
  await first.start();
});

test('Postgres takes another port when the preferred one is taken, and fails when a required one is', async () => {
  const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const postgres = await start('kept', { preferredPort: port });
  expect(postgres.port).not.toBe(port);
  await postgres.stop();
  await expect(start('kept', { port })).rejects.toThrow(/could not bind.*Address already in use/s);
  server.close();
  await once(server, 'close');
  expect((await start('kept', { preferredPort: port })).port).toBe(port);
});

test('Postgres stops with clients connected, and frees its port', async () => {
  const postgres = await start('kept');
  const { url, port } = postgres;
  const client = new pg.Client({ connectionString: url });
  const errors: Error[] = [];
  client.on('error', (error) => errors.push(error));
  await client.connect();
  const asleep = client.query('SELECT pg_sleep(600)').catch((error: unknown) => error as Error);
  await postgres.stop();
  expect(await asleep).toBeInstanceOf(Error);
  expect(await isPortFree(port)).toBe(true);
});

test('Postgres removes all files it made', async () => {
  const postgres = await start('kept');
  await postgres.remove();
  await expect(stat(join(folder, 'kept'))).rejects.toThrow('ENOENT');
  expect(await runs(postgres.pid)).toBe(false);
});
