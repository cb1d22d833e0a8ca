/**
 * How long somebody who only reads waits for the supplier. A look has a short time limit; one that is not back by then lets the others
 * rest, so that a supplier that hangs costs one read its second and not every one. An answer that comes late still does its work.
 */
import type { Clock } from '../domain/clock.ts';

export interface CircuitBreaker {
  /** What the look answers; undefined while looks rest, nothing asked then, and when it is not back in time. */
  wait<T>(look: () => Promise<T>): Promise<T | undefined>;
}

/** A fit supplier answers well within this, and a page that takes longer is one that people leave. */
const LOOK_WITHIN_MS = 1_000;
/** What was known before is served for so much longer, at most. */
const REST_MS = 10_000;

/** After a rest one look asks alone, and the others go on resting until it is back. */
export function createCircuitBreaker(clock: Clock): CircuitBreaker {
  let restsUntilMs: number | null = null;
  return {
    wait: async (look) => {
      const startedAtMs = clock.now().getTime();
      const isAfterRest = restsUntilMs !== null;
      if (restsUntilMs !== null && startedAtMs < restsUntilMs) return undefined;
      if (isAfterRest) restsUntilMs = startedAtMs + LOOK_WITHIN_MS;
      const answer = await inTime(look(), LOOK_WITHIN_MS);
      if (answer.late) restsUntilMs = clock.now().getTime() + REST_MS;
      else if (isAfterRest) restsUntilMs = null;
      return answer.value;
    },
  };
}

/** Answers what is there within the time limit. What is late goes on by itself, and how that ends is nobody's error any more. */
export async function inTime<T>(
  work: Promise<T>,
  timeLimitMs: number,
): Promise<{ readonly late: false; readonly value: T } | { readonly late: true; readonly value: undefined }> {
  const { promise: passed, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), timeLimitMs);
  try {
    return await Promise.race([
      work.then((value) => ({ late: false, value }) as const),
      passed.then(() => ({ late: true, value: undefined }) as const),
    ]);
  } finally {
    clearTimeout(timer);
  }
}
