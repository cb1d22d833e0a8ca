/**
 * What one purchase costs, counted on a second copy of the service behind wire counters: SQL statements and
 * Redis commands, and the processor time of every program that takes part.
 */
import { figuresOf, withClients } from '../support/load.ts';
import type { BenchOptions } from '../support/options.ts';
import { cpuPerUnit, readCpuTimes } from '../support/cpu.ts';
import type { Servers } from '../support/servers.ts';
import { startCountedService } from '../support/counted-service.ts';
import { createBuyer } from './buyer.ts';
import type { Floors } from './floors.ts';

const PURCHASES = 50;
const CLIENTS = 8;
const LONGEST_STATEMENT_SHOWN = 110;

/** Lines for the report. */
export async function costOfPurchases(
  servers: Servers,
  floors: Floors,
  options: BenchOptions,
): Promise<string[]> {
  const { service, postgres, redis } = await startCountedService(servers, options);
  const { apiKey } = await service.account();
  const buyer = createBuyer(service.apiUrl, [apiKey]);
  try {
    const purchase = await cpuOf(() => buyer.buy(), options);
    const sameShape = await cpuOf(() => floors.run('sameShape'), options);
    const background = await quietCount(postgres);
    postgres.reset();
    redis?.reset();
    const startedAtMs = performance.now();
    for (let index = 0; index < PURCHASES; index += 1) await buyer.buy();
    const elapsedS = (performance.now() - startedAtMs) / 1000;
    const statements = [...postgres.counts()].filter(([, times]) => times >= PURCHASES / 2);
    const total = (postgres.total() - background * elapsedS) / PURCHASES;
    return [
      `processor time of a purchase by program, ms: ${purchase}`,
      `processor time of the same shape by program, ms: ${sameShape}`,
      `SQL statements a purchase: ${total.toFixed(1)} (begin and commit included)`,
      ...statements
        .sort(([, a], [, b]) => b - a)
        .map(
          ([text, times]) =>
            `  ${(times / PURCHASES).toFixed(1)} × ${text.slice(0, LONGEST_STATEMENT_SHOWN)}`,
        ),
      ...(redis ? [`Redis commands a purchase: ${(redis.total() / PURCHASES).toFixed(1)}`] : []),
    ];
  } finally {
    buyer.close();
  }
}

async function cpuOf(once: () => Promise<unknown>, options: BenchOptions): Promise<string> {
  const load = { clients: CLIENTS, forMs: options.sliceMs ?? 10_000 };
  figuresOf(await withClients(once, load));
  const before = await readCpuTimes();
  const loaded = await withClients(once, load);
  const after = await readCpuTimes();
  figuresOf(loaded);
  return cpuPerUnit(before, after, loaded.done)
    .map(([name, ms]) => `${name} ${ms.toFixed(1)}`)
    .join(', ');
}

/** Statements a second without any request: polls of the catalogue and of the keys. */
async function quietCount(postgres: { total(): number; reset(): void }): Promise<number> {
  const seconds = 3;
  postgres.reset();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  return postgres.total() / seconds;
}
