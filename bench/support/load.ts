/**
 * Load: a fixed number of clients that each send the next request when the last is answered, or a fixed pace
 * that does not wait for answers. Every failure counts. The first is kept, so that the report shows it.
 */
import { quantile } from './rounds.ts';

type LoadResult = ReturnType<ReturnType<typeof newTally>['result']>;

/**
 * Runs `once` with `clients` at a time; a request begun before the end is waited for and counts, with its
 * time.
 */
export async function withClients(
  once: (client: number) => Promise<unknown>,
  { clients, forMs }: { readonly clients: number; readonly forMs: number },
): Promise<LoadResult> {
  const tally = newTally();
  const startedAtMs = performance.now();
  const client = async (index: number): Promise<void> => {
    while (performance.now() - startedAtMs < forMs) await tally.measure(() => once(index));
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  return tally.result(performance.now() - startedAtMs);
}

/**
 * Begins `perSecond` requests a second, evenly; latencies count from when a request was due, so that waiting
 * is not hidden.
 */
export async function paced(
  once: (index: number) => Promise<unknown>,
  { perSecond, forMs }: { readonly perSecond: number; readonly forMs: number },
): Promise<LoadResult> {
  const tally = newTally();
  const startedAtMs = performance.now();
  const underWay = new Set<Promise<void>>();
  const total = Math.floor((forMs / 1000) * perSecond);
  for (let index = 0; index < total; index += 1) {
    const dueMs = startedAtMs + (index * 1000) / perSecond;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const running = tally.measure(() => once(index), dueMs).finally(() => underWay.delete(running));
    underWay.add(running);
  }
  await Promise.all(underWay);
  return tally.result(performance.now() - startedAtMs);
}

function newTally() {
  const latenciesMs: number[] = [];
  let failed = 0;
  let firstFailure: unknown;
  return {
    measure: async (run: () => Promise<unknown>, fromMs = performance.now()): Promise<void> => {
      try {
        await run();
        latenciesMs.push(performance.now() - fromMs);
      } catch (error) {
        failed += 1;
        firstFailure ??= error;
      }
    },
    /** `latenciesMs`: of those that succeeded. */
    result: (elapsedMs: number) => {
      return { done: latenciesMs.length, failed, firstFailure, elapsedMs, latenciesMs };
    },
  };
}

/** The figures of a slice. Throws when anything failed: a rate with errors in it is no rate. */
export function figuresOf(result: LoadResult) {
  if (result.failed > 0) {
    throw new Error(`${result.failed} of ${result.failed + result.done} failed`, {
      cause: result.firstFailure,
    });
  }
  return {
    rate: (result.done * 1000) / result.elapsedMs,
    medianMs: quantile(result.latenciesMs, 0.5),
    p95Ms: quantile(result.latenciesMs, 0.95),
  };
}
