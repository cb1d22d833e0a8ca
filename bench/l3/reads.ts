/**
 * Catalogue and detail reads beside a bare Koa server that sends the same bytes, and what a cached read asks
 * of Postgres and Redis.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startChild } from '../../src/dev/child.ts';
import type { BenchOptions } from '../support/options.ts';
import { startCountedService } from '../support/counted-service.ts';
import type { Findings } from '../support/report.ts';
import { takeTurns } from '../support/rounds.ts';
import type { Servers } from '../support/servers.ts';
import type { Service } from '../support/service.ts';
import { shoot } from './gun.ts';

const DEFAULT_SLICE_MS = 5_000;
const COUNTED_READS = 1_000;
const QUIET_MS = 10_000;
const CHECKOUT = join(import.meta.dirname, '..', '..');

/** What is read: small, middling and large bodies. */
export async function readsOf(service: Service): Promise<Readonly<Record<string, string>>> {
  const packages = await service.owner
    .selectFrom('packages')
    .select(['package_code', 'region_code'])
    .where('package_type', '=', 'BASE')
    .where('region_type', '=', 'LC')
    .where('package_code', 'not like', 'SIM-%')
    .orderBy('package_code')
    .limit(1)
    .executeTakeFirstOrThrow();
  return {
    'packages of a region': `/api/esim/packages?regionCode=${packages.region_code}`,
    'one package': `/api/esim/packages/${packages.package_code}`,
    'all regions': '/api/esim/regions',
  };
}

export async function compareReads(
  servers: Servers,
  service: Service,
  apiKey: string,
  options: BenchOptions,
  findings: Findings,
): Promise<void> {
  const reads = await readsOf(service);
  const headers = { 'X-API-Key': apiKey };
  const bare = await startBareServer(servers, service, reads, headers, options);
  for (const [name, path] of Object.entries(reads)) {
    const sides = [
      { name: 'ours', run: (ms: number) => shoot(service.apiUrl + path, headers, ms) },
      { name: 'bare', run: (ms: number) => shoot(bare.url + path, headers, ms) },
    ];
    const samples = await takeTurns(sides, {
      rounds: options.rounds,
      sliceMs: options.sliceMs ?? DEFAULT_SLICE_MS,
      progress: (line) => options.progress(`${name}, ${line}`),
    });
    const ours = { samples, ours: 'ours' };
    findings.compare(
      { ...ours, what: `${name}, ${bare.bytes[path] ?? 0} bytes`, unit: 'per second', figure: 'rate' },
      ['bare', 'bare Koa, the same bytes', { atLeast: 0.6 }],
    );
    const what = `${name}: processor time of API and Redis`;
    findings.compare({ ...ours, what, unit: 'µs a read', figure: 'cpuUs' }, ['bare', 'bare Koa']);
  }
  await bare.stop();
}

async function startBareServer(
  servers: Servers,
  service: Service,
  reads: Readonly<Record<string, string>>,
  headers: Record<string, string>,
  { log }: BenchOptions,
) {
  const bytes: Record<string, number> = {};
  const args = ['bench/l3/bare-server.ts'];
  for (const [index, path] of Object.values(reads).entries()) {
    const answer = await fetch(service.apiUrl + path, { headers });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
    const body = Buffer.from(await answer.arrayBuffer());
    const file = join(servers.folder, `body-${index}.json`);
    await writeFile(file, body);
    bytes[path] = body.length;
    args.push(`${new URL(path, service.apiUrl).pathname}=${file}`);
  }
  const child = await startChild({
    name: 'bare Koa',
    command: process.execPath,
    args,
    cwd: CHECKOUT,
    env: { PATH: '/usr/bin:/bin' },
    log,
  });
  servers.onClose(() => child.stop());
  const line = await child.untilReady({ line: /^\{"ready":true/, deadlineMs: 20_000 });
  const { url } = JSON.parse(line) as { url: string };
  return { url, bytes, stop: () => child.stop() };
}

/**
 * On a copy of the service behind wire counters: reads of what is cached, beside the same time without a
 * read.
 */
export async function countReads(servers: Servers, options: BenchOptions, findings: Findings): Promise<void> {
  const { service, postgres, redis } = await startCountedService(servers, options);
  const { apiKey } = await service.account();
  const headers = { 'X-API-Key': apiKey };
  const paths = Object.values(await readsOf(service));
  const read = async (path: string): Promise<void> => {
    const answer = await fetch(service.apiUrl + path, { headers });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  };
  for (const path of paths) await read(path);
  const totals = () => ({ postgres: postgres.total(), redis: redis?.total() ?? 0 });
  const reset = (): void => {
    postgres.reset();
    redis?.reset();
  };
  reset();
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  const idle = totals();
  reset();
  const startedAtMs = performance.now();
  for (let index = 0; index < COUNTED_READS; index += 1) await read(paths[index % paths.length] ?? '');
  const share = (performance.now() - startedAtMs) / QUIET_MS;
  const loaded = totals();
  const perRead = (value: number, quiet: number): number =>
    Number((Math.max(0, value - quiet * share) / COUNTED_READS).toFixed(2));
  const statements = perRead(loaded.postgres, idle.postgres);
  findings.count('Postgres statements of a cached read', 'per read', statements, { atMost: 0 });
  if (redis) {
    const trips = perRead(loaded.redis, idle.redis);
    findings.count('Redis round trips of a cached read', 'per read', trips, { atMost: 1 });
  }
  findings.remarks.push(
    `statements of an idle service, a second: ${(idle.postgres / (QUIET_MS / 1000)).toFixed(1)} (polls of catalogue and keys)`,
  );
}
