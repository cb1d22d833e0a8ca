/**
 * `node bench/waiting.ts [options]`: what purchases cost that wait for money. Makes many that stay unpaid,
 * and tells memory, disk and processor time at a hundred, at as many as the worker keeps in memory, and at
 * each fifth. Then how fast others buy meanwhile, and how fast some of them are delivered once paid, also by
 * a worker that was restarted.
 *
 *   --purchases N    that wait, at least 1000 (100000)
 *   --cached N       workflows that the worker keeps in memory (600)
 *   --server KIND    Temporal: postgres (default), as it is deployed, or embedded
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { Agent, request } from 'undici';
import { readDevSettings } from '../src/app/config/config.ts';
import { memoryByProgram, readCpuTimes } from './support/cpu.ts';
import { quantile } from './support/rounds.ts';
import { startServers, temporalKindOf } from './support/servers.ts';
import { startService, type Service } from './support/service.ts';

/** A plan has a limit. */
const UNPAID_OF_A_MERCHANT = 5_000;
const FEWEST_MERCHANTS = 16;
const FEWEST_PURCHASES = 1_000;
const CLIENTS = 24;
const STEPS = 5;
const PAID = 100;
/** A look at programs at rest. */
const REST_MS = 20_000;
/** What a figure is at most: it was not delivered by then. */
const LONGEST_MS = 120_000;

const { values } = parseArgs({
  options: {
    purchases: { type: 'string', default: '100000' },
    cached: { type: 'string', default: '600' },
    server: { type: 'string', default: 'postgres' },
  },
});

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const tell = (facts: object): void => void process.stdout.write(`${JSON.stringify(facts)}\n`);

interface Waiting {
  readonly transactionId: string;
  readonly reference: string;
  readonly apiKey: string;
}

async function main(): Promise<void> {
  const log = { info: say, warn: say };
  if (!(Number(values.purchases) >= FEWEST_PURCHASES))
    throw new Error(`--purchases takes ${FEWEST_PURCHASES} or more`);
  const kind = { temporal: temporalKindOf(values.server), redis: true, codec: true };
  const servers = await startServers({ settings: readDevSettings(), ...kind, log });
  try {
    say(await servers.describe());
    const env = { SIMWAY_WORKER_CACHED_WORKFLOWS: values.cached };
    const service = await startService(servers, { log }, { gateway: true, env });
    await measure(service);
  } finally {
    await servers.close();
  }
}

async function measure(service: Service): Promise<void> {
  const total = Number(values.purchases);
  const merchants = Math.max(FEWEST_MERCHANTS, Math.ceil(total / UNPAID_OF_A_MERCHANT));
  const keys: string[] = [];
  for (let index = 0; index < merchants; index += 1) keys.push((await service.account()).apiKey);
  const shop = shopOf(service, keys);
  await shop.buyPaidByWallet(PAID);
  await shop.openUntil(PAID);
  await tellState(service, { waiting: shop.waiting.length });
  await shop.openUntil(Number(values.cached));
  await tellState(service, { waiting: shop.waiting.length });
  for (let step = 1; step <= STEPS; step += 1) {
    const [startedAtMs, before] = [performance.now(), shop.waiting.length];
    await shop.openUntil(Math.round((total * step) / STEPS));
    const perSecond = ((shop.waiting.length - before) * 1_000) / (performance.now() - startedAtMs);
    await tellState(service, {
      waiting: shop.waiting.length,
      perSecond: perSecond.toFixed(1),
      refused: shop.refused,
    });
  }
  tell({ walletPurchasesBeside: await shop.buyPaidByWallet(PAID) });
  tell({ paidAndDelivered: await shop.payAndWait(PAID) });
  await service.processes.worker.stop();
  const startedAtMs = performance.now();
  await service.startWorker();
  tell({ restartedWorkerReadyMs: Math.round(performance.now() - startedAtMs) });
  tell({ paidAfterRestart: await shop.payAndWait(PAID) });
  await tellState(service, { waiting: shop.waiting.length, after: 'restart' });
}

function shopOf(service: Service, keys: readonly string[]) {
  const dispatcher = new Agent({ connections: null });
  const waiting: Waiting[] = [];
  const paid = new Set<Waiting>();
  const refused: Record<number, number> = {};
  const post = async (apiKey: string, paymentMethod: string): Promise<Record<string, string | undefined>> => {
    const { statusCode, body } = await request(new URL('/api/esim/buy', service.apiUrl), {
      method: 'POST',
      body: JSON.stringify({ packageCode: 'SIM-OK', packageType: 'BASE', paymentMethod }),
      headers: { 'Content-Type': 'application/json', 'X-API-Key': apiKey },
      dispatcher,
    });
    const answer = (await body.json()) as Record<string, string | undefined>;
    if (statusCode === 201) return answer;
    if (statusCode !== 429 && statusCode !== 503)
      throw new Error(`a purchase answered ${statusCode}: ${JSON.stringify(answer)}`);
    refused[statusCode] = (refused[statusCode] ?? 0) + 1;
    await sleep(1_000);
    return post(apiKey, paymentMethod);
  };
  const statusOf = async ({ apiKey, transactionId }: Waiting): Promise<string | undefined> => {
    const at = new URL(`/api/esim/transactions/${transactionId}`, service.apiUrl);
    const { body } = await request(at, { headers: { 'X-API-Key': apiKey }, dispatcher });
    return ((await body.json()) as { status?: string }).status;
  };
  const pay = async (one: Waiting): Promise<number> => {
    const startedAtMs = performance.now();
    const at = `${service.gatewayControlUrl}/charges/${one.reference}/pay`;
    const { statusCode, body } = await request(at, { method: 'POST', body: '{}', dispatcher });
    await body.dump();
    if (statusCode >= 300) throw new Error(`paying ${one.reference} answered ${statusCode}`);
    while ((await statusOf(one)) !== 'SUCCESS') {
      if (performance.now() - startedAtMs > LONGEST_MS) break;
      await sleep(50);
    }
    return performance.now() - startedAtMs;
  };
  return {
    waiting,
    refused,
    openUntil: async (count: number): Promise<void> => {
      let begun = waiting.length;
      const client = async (): Promise<void> => {
        while (begun < count) {
          const apiKey = keys[begun++ % keys.length] ?? '';
          const { transactionId = '', gatewayReference: reference = '' } = await post(apiKey, 'CARD');
          waiting.push({ transactionId, reference, apiKey });
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
    },
    buyPaidByWallet: async (count: number) => {
      const times: number[] = [];
      for (let nth = 0; nth < count; nth += 1) {
        const startedAtMs = performance.now();
        await post(keys[nth % keys.length] ?? '', 'WALLET');
        times.push(performance.now() - startedAtMs);
      }
      return figuresOf(times);
    },
    /** Evenly from the oldest to the newest. */
    payAndWait: async (count: number) => {
      // A charge that is opened after the answer has no reference here.
      const unpaid = waiting.filter((one) => one.reference !== '' && !paid.has(one));
      const every = unpaid.length / count;
      const some = Array.from({ length: count }, (_, nth) => unpaid[Math.floor(nth * every)] as Waiting);
      for (const one of some) paid.add(one);
      const times: number[] = [];
      for (const one of some) times.push(await pay(one));
      return figuresOf(times);
    },
  };
}

const figuresOf = (times: readonly number[]) => ({
  count: times.length,
  p50Ms: Math.round(quantile(times, 0.5)),
  p95Ms: Math.round(quantile(times, 0.95)),
  maxMs: Math.round(Math.max(...times)),
});

/** Prints memory, disk, and processor time at rest. */
async function tellState(service: Service, about: object): Promise<void> {
  await sleep(REST_MS / 2);
  const before = await readCpuTimes();
  await sleep(REST_MS);
  const after = await readCpuTimes();
  const cores = [...after].map(([name, ms]) => [name, (ms - (before.get(name) ?? 0)) / REST_MS] as const);
  const { rows } = await sql<{ name: string; size: string }>`
    select datname as name, pg_database_size(oid) as size from pg_database`.execute(service.owner);
  const mb = (bytes: number): number => Math.round(bytes / 1e6);
  const { open } = await service.owner
    .selectFrom('purchases')
    .select((of) => of.fn.countAll<bigint>().as('open'))
    .where('status', '=', 'PENDING')
    .executeTakeFirstOrThrow();
  tell({
    ...about,
    open: Number(open),
    memoryMb: Object.fromEntries([...(await memoryByProgram())].map(([name, bytes]) => [name, mb(bytes)])),
    databaseMb: Object.fromEntries(rows.map(({ name, size }) => [name, mb(Number(size))])),
    coresAtRest: Object.fromEntries(
      cores.filter(([, used]) => used >= 0.005).map(([n, u]) => [n, u.toFixed(3)]),
    ),
  });
}

await main();
