/**
 * Bounded concurrency for what a simulator sends in the background. Guarantee: jobs begin in order of arrival; none begins after the end.
 */

/** Runs jobs in order of arrival, at most `most` at once, until stopped. A job must not reject. */
export function createPool(most: number, stopping: AbortSignal): (job: () => Promise<void>) => void {
  const waiting: (() => Promise<void>)[] = [];
  let running = 0;
  const pump = () => {
    while (running < most && !stopping.aborted) {
      const next = waiting.shift();
      if (next === undefined) return;
      running += 1;
      void next().finally(() => {
        running -= 1;
        pump();
      });
    }
  };
  return (job) => {
    waiting.push(job);
    pump();
  };
}
