// Welch's t-test, as the timing checks of cryptographic code use it: is one kind of call slower than another,
// or is it chance?

/** The times of calls with several keys, in nanoseconds: a list for each key. */
type TimesByKey = readonly (readonly number[])[];

/**
 * The slowest calls depend on the machine rather than the code, and hide small differences: they are left out
 * of both kinds.
 */
const KEPT_SHARE = 0.9;

/**
 * Compares calls with keys of two kinds. A key's mean is one sample: its own place in maps and memory makes
 * it tens of nanoseconds faster or slower than others of its kind at every call. Throws when there are too
 * few samples.
 */
export function compareTimes(first: TimesByKey, second: TimesByKey) {
  const all = [...first, ...second].flat().sort((a, b) => a - b);
  const slowest = all[Math.trunc(all.length * KEPT_SHARE)];
  if (slowest === undefined) throw new RangeError('nothing was measured');
  const [a, b] = [first, second].map((keys) => {
    const kept = keys.map((times) => times.filter((time) => time <= slowest));
    return momentsOf(kept.filter((times) => times.length > 0).map(meanOf));
  }) as [Moments, Moments];
  if (a.count < 100 || b.count < 100) throw new RangeError('too few keys');
  return {
    /** Below 4.5 in size the difference may be chance. */
    t: (a.mean - b.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count),
    meansNs: [a.mean, b.mean],
  };
}

interface Moments {
  readonly count: number;
  readonly mean: number;
  readonly variance: number;
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function momentsOf(values: readonly number[]): Moments {
  const mean = meanOf(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { count: values.length, mean, variance: squares / (values.length - 1) };
}
