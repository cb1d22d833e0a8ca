/**
 * Sides take turns: every side runs for one slice, A B A B …, so that other work on the machine slows all of
 * them alike. The first round warms up and is not counted. Judging is report.ts's.
 */
import type { BenchOptions } from './options.ts';

/** One side's way to run for a slice; answers figures by name, such as `rate` (per second) or `medianMs`. */
export interface Side {
  readonly name: string;
  run(sliceMs: number): Promise<Readonly<Record<string, number>>>;
}

/** Figures of each side, one for each counted round, in the order they were taken. */
export type Samples = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

/** The warm-up is as long as a slice, but no longer than this. */
const LONGEST_WARM_UP_MS = 5_000;

export async function takeTurns(
  sides: readonly Side[],
  { rounds, sliceMs, progress }: Pick<BenchOptions, 'rounds' | 'progress'> & { readonly sliceMs: number },
): Promise<Samples> {
  const samples: Record<string, Record<string, number[]>> = {};
  for (let round = 0; round <= rounds; round += 1) {
    const summaries: string[] = [];
    for (const side of sides) {
      const figures = await side.run(round === 0 ? Math.min(sliceMs, LONGEST_WARM_UP_MS) : sliceMs);
      if (round === 0) continue;
      const mine = (samples[side.name] ??= {});
      for (const [name, value] of Object.entries(figures)) (mine[name] ??= []).push(value);
      const shown = Object.entries(figures).map(([name, value]) => `${name} ${value.toFixed(1)}`);
      summaries.push(`${side.name}: ${shown.join(', ')}`);
    }
    if (round > 0) progress(`round ${round} of ${rounds}: ${summaries.join(' | ')}`);
  }
  return samples;
}

/** One side's samples of one figure; throws when it was never measured. */
export function series(samples: Samples, side: string, figure: string): readonly number[] {
  const found = samples[side]?.[figure];
  if (!found) throw new Error(`${side} has no figure ${figure}`);
  return found;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), min: Math.min(...values), max: Math.max(...values) };
}

/** The value below which this share of the values lies; between two values, the nearer. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}
