// Welch's t-test, as the timing checks of cryptographic code use it: is one kind of call slower than another, or is it chance?

export interface Compared {
  /** Below 4.5 in size: no difference that could be told from chance. */
  readonly t: number;
  readonly meansNs: readonly [number, number];
  readonly samples: number;
}

/** The slowest calls say more about the machine than about the code, and hide small differences: they are left out of both kinds. */
const KEPT_SHARE = 0.9;

/** Compares two kinds of calls, nanoseconds each. Throws when there are too few to say anything. */
export function compareTimes(first: readonly number[], second: readonly number[]): Compared {
  const all = [...first, ...second].sort((a, b) => a - b);
  const slowest = all[Math.trunc(all.length * KEPT_SHARE)];
  if (slowest === undefined) throw new RangeError('nothing was measured');
  const kinds = [first, second].map((times) => momentsOf(times.filter((time) => time <= slowest)));
  const [a, b] = kinds as [Moments, Moments];
  if (a.count < 100 || b.count < 100) throw new RangeError('too few samples');
  return {
    t: (a.mean - b.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count),
    meansNs: [a.mean, b.mean],
    samples: first.length + second.length,
  };
}

interface Moments {
  readonly count: number;
  readonly mean: number;
  readonly variance: number;
}

function momentsOf(times: readonly number[]): Moments {
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  const squares = times.reduce((sum, time) => sum + (time - mean) ** 2, 0);
  return { count: times.length, mean, variance: squares / (times.length - 1) };
}
