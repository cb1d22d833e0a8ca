/**
 * L2's sides under load, and how many clients each needs for its best rate: capacity is compared with
 * capacity.
 */
import { cpuDuring } from '../support/cpu.ts';
import { closedLoop, figuresOf } from '../support/load.ts';
import type { BenchOptions } from '../support/options.ts';
import type { Findings } from '../support/report.ts';
import { interleave, series, type Side } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';
import type { Buyer } from './buyer.ts';
import type { Floors } from './floors.ts';

/** What L2's parts share: who buys where, beside which floors, and where it is noted. */
export interface Run {
  readonly service: Service;
  readonly buyer: Buyer;
  readonly floors: Floors;
  readonly options: BenchOptions;
  readonly findings: Findings;
}

/** How a side does its work once. */
export interface Way {
  once(): Promise<unknown>;
  /** Works off what a slice left behind, so that the next side's does not bear it; answers figures of it. */
  settle?(): Promise<Readonly<Record<string, number>>>;
}

export type Ways<Name extends string> = Readonly<Record<Name, Way>>;
export type Clients<Name extends string> = Readonly<Record<Name, number>>;

export const DEFAULT_SLICE_MS = 10_000;
const CLIENTS_TRIED = [8, 16, 32];

/**
 * Sides with so many clients each. The rate is that of the slice alone; processor time counts what was left
 * to settle too.
 */
export function sidesOf<Name extends string>(ways: Ways<Name>, clientsOf: (name: Name) => number): Side[] {
  return namesOf(ways).map((name) => ({
    name,
    run: async (sliceMs) => {
      const way = ways[name];
      const { result, cpuMs } = await cpuDuring(async () => ({
        load: await closedLoop(() => way.once(), { clients: clientsOf(name), forMs: sliceMs }),
        settled: await way.settle?.(),
      }));
      return { ...figuresOf(result.load), cpuMs: cpuMs / result.load.done, ...result.settled };
    },
  }));
}

/** The number of clients with which each side was quickest. */
export async function findSaturation<Name extends string>(
  ways: Ways<Name>,
  options: BenchOptions,
): Promise<Clients<Name>> {
  const best = new Map<Name, { clients: number; rate: number }>();
  for (const clients of CLIENTS_TRIED) {
    const tried = await interleave({
      sides: sidesOf(ways, () => clients),
      rounds: 1,
      sliceMs: (options.sliceMs ?? DEFAULT_SLICE_MS) / 2,
      onRound: (line) => options.progress(`${clients} clients, ${line}`),
    });
    for (const side of namesOf(ways)) {
      const rate = series(tried, side, 'rate')[0] ?? 0;
      if (rate > (best.get(side)?.rate ?? 0)) best.set(side, { clients, rate });
    }
  }
  return Object.fromEntries([...best].map(([side, { clients }]) => [side, clients])) as Clients<Name>;
}

const namesOf = <Name extends string>(ways: Ways<Name>): Name[] => Object.keys(ways) as Name[];
