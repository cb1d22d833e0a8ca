/**
 * Sides under load, and how many clients each needs for its best rate: capacity is compared with capacity.
 */
import { cpuDuring } from './cpu.ts';
import { figuresOf, withClients } from './load.ts';
import type { BenchOptions } from './options.ts';
import { series, takeTurns, type Samples } from './rounds.ts';

/** How a side does its work once. */
export interface Way {
  once(): Promise<unknown>;
  /** Works off what a slice left behind, so that the next side's does not bear it; answers figures of it. */
  settle?(): Promise<Readonly<Record<string, number>>>;
}

type Ways<Name extends string> = Readonly<Record<Name, Way>>;
export type Clients<Name extends string> = Readonly<Record<Name, number>>;

const CLIENTS_TRIED = [8, 16, 32];
const namesOf = <Name extends string>(ways: Ways<Name>): Name[] => Object.keys(ways) as Name[];

/**
 * Runs the sides in turns, with so many clients each. The rate is that of the slice alone; processor time
 * counts what was left to settle too.
 */
export function measureSides<Name extends string>(
  ways: Ways<Name>,
  clientsOf: (name: Name) => number,
  options: Parameters<typeof takeTurns>[1],
): Promise<Samples> {
  const sides = namesOf(ways).map((name) => ({
    name,
    run: async (forMs: number) => {
      const way = ways[name];
      const { result, cpuMs } = await cpuDuring(async () => ({
        load: await withClients(() => way.once(), { clients: clientsOf(name), forMs }),
        settled: await way.settle?.(),
      }));
      return { ...figuresOf(result.load), cpuMs: cpuMs / result.load.done, ...result.settled };
    },
  }));
  return takeTurns(sides, options);
}

/** The number of clients with which each side was quickest. */
export async function findSaturation<Name extends string>(
  ways: Ways<Name>,
  { progress, sliceMs }: Pick<BenchOptions, 'progress'> & { readonly sliceMs: number },
): Promise<Clients<Name>> {
  const best = new Map<Name, { clients: number; rate: number }>();
  for (const clients of CLIENTS_TRIED) {
    const tried = await measureSides(ways, () => clients, {
      rounds: 1,
      sliceMs: sliceMs / 2,
      progress: (line) => progress(`${clients} clients, ${line}`),
    });
    for (const side of namesOf(ways)) {
      const rate = series(tried, side, 'rate')[0] ?? 0;
      if (rate > (best.get(side)?.rate ?? 0)) best.set(side, { clients, rate });
    }
  }
  return Object.fromEntries([...best].map(([side, { clients }]) => [side, clients])) as Clients<Name>;
}
