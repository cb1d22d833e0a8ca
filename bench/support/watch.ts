/**
 * Watches a long run: memory of API and worker, connections at Postgres. Growth is the last quarter's median
 * against the second's: the first quarter fills caches and pools.
 */
import { sql } from 'kysely';
import { residentMiB } from './cpu.ts';
import { quantile } from './rounds.ts';
import type { Service } from './service.ts';

/** The length of a run as a person would write it. */
export const minutesText = (ms: number): string => String(Number((ms / 60_000).toFixed(1)));

const INTERVAL_MS = 5_000;
const TELL_EVERY = 12;

export function startWatch(service: Service, progress: (line: string) => void) {
  const samples = new Map<string, number[]>();
  const keep = (name: string, value: number | null): void => {
    if (value !== null) samples.set(name, [...(samples.get(name) ?? []), value]);
  };
  let looks = 0;
  const look = async (): Promise<void> => {
    keep('API memory, MiB', await residentMiB(service.processes.api.pid));
    keep('worker memory, MiB', await residentMiB(service.processes.worker.pid));
    const { rows } = await sql<{ connections: number }>`
      select count(*)::int as connections from pg_stat_activity where application_name like 'simway-%'`.execute(
      service.owner,
    );
    keep('connections to Postgres', rows[0]?.connections ?? null);
    looks += 1;
    if (looks % TELL_EVERY === 0)
      progress([...samples].map(([name, values]) => `${name} ${values.at(-1)?.toFixed(0) ?? ''}`).join(', '));
  };
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look).catch(() => undefined);
  }, INTERVAL_MS);
  const growth = () =>
    new Map(
      [...samples].map(([name, values]) => {
        const quarter = Math.max(1, Math.floor(values.length / 4));
        const early = quantile(values.slice(quarter, 2 * quarter), 0.5);
        return [name, { early, late: quantile(values.slice(-quarter), 0.5) }] as const;
      }),
    );
  return {
    /** Medians of the second and the last quarter, by what was watched. */
    growth,
    /** Lines for the report. */
    stop: async () => {
      clearInterval(timer);
      await looking;
      return [...growth()].map(
        ([name, { early, late }]) =>
          `${name}: ${early.toFixed(0)} in the second quarter, ${late.toFixed(0)} in the last`,
      );
    },
  };
}
