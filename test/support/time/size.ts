// The size of a proof: the size of continuous integration, or the one that promises are stated at (`npm run
// prove`, which provides `proveSize` in vitest.prove.config.ts). Also chooses seeds: SIMWAY_TEST_SEED repeats
// a run; and rates: SIMWAY_TEST_PER_SECOND lowers one; and how many seeds: SIMWAY_TEST_SEEDS; and how many
// generated cases: SIMWAY_TEST_CASES.
import { randomInt } from 'node:crypto';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Absent in `npm test`. */
    proveSize: 'prove' | undefined;
  }
}

/** The value for this run. */
export function size<T>(sizes: { readonly ci: T; readonly prove: T }): T {
  return inject('proveSize') === 'prove' ? sizes.prove : sizes.ci;
}

/**
 * A rate per second: as `size`, or at full size the value of SIMWAY_TEST_PER_SECOND, for a machine that is
 * too slow for the promise.
 */
export function perSecond(sizes: { readonly ci: number; readonly prove: number }): number {
  return size({ ...sizes, prove: numberIn('SIMWAY_TEST_PER_SECOND') ?? sizes.prove });
}

/** A seed for this run: a new one each time, or the one that SIMWAY_TEST_SEED names. */
export function seedOfRun(): number {
  return numberIn('SIMWAY_TEST_SEED') ?? randomInt(2 ** 31);
}

/** How many seeds a proof takes: as `size`, or as SIMWAY_TEST_SEEDS says. */
export function seedsOfRun(sizes: { readonly ci: number; readonly prove: number }): number[] {
  const first = seedOfRun();
  return Array.from({ length: numberIn('SIMWAY_TEST_SEEDS') ?? size(sizes) }, (_, nth) => first + nth);
}

/** How many cases a generated proof takes: as `size`, or as SIMWAY_TEST_CASES says. */
export function casesOfRun(sizes: { readonly ci: number; readonly prove: number }): number {
  return numberIn('SIMWAY_TEST_CASES') ?? size(sizes);
}

function numberIn(variable: string): number | undefined {
  const given = process.env[variable] ?? '';
  return given === '' ? undefined : Number(given);
}

/** Runs a proof with a seed; a failure names the seed, so that it can be repeated. */
export async function withSeed<T>(proof: (seed: number) => Promise<T> | T): Promise<T> {
  const seed = seedOfRun();
  try {
    return await proof(seed);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`with SIMWAY_TEST_SEED=${seed}: ${message}`, { cause: error });
  }
}

export type Random = ReturnType<typeof createRandom>;

/** The same numbers for the same seed (mulberry32); for schedules, never for secrets. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.trunc(next() * limit);
  return {
    /** A whole number from 0 up to, and not including, `below`. */
    below,
    pick: <T>(items: readonly T[]): T => {
      if (items.length === 0) throw new RangeError('nothing to pick from');
      return items[below(items.length)]!;
    },
  };
}

/**
 * The secret key of a test account at the payment gateway; undefined in a normal run. With it the contract
 * also runs against the gateway's own test mode.
 */
export const paystackTestKey = process.env['SIMWAY_PAYSTACK_TEST_KEY'] || undefined;
