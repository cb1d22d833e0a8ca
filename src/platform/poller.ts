/**
 * Runs a task again and again with a pause between, never twice at once; a failure is reported and the next
 * run tries again.
 */
export interface Poller {
  /** Resolves once the current run has ended. */
  stop(): Promise<void>;
}

/** The first run is after one interval. */
export function startPoller(
  task: () => Promise<unknown>,
  intervalMs: number,
  onError: (error: unknown) => void,
): Poller {
  let stopped = false;
  let timer: NodeJS.Timeout;
  let underWay: Promise<unknown> = Promise.resolve();
  const turn = (): void => {
    underWay = task()
      .catch(onError)
      .finally(() => {
        if (!stopped) schedule();
      });
  };
  const schedule = (): void => {
    timer = setTimeout(turn, intervalMs).unref();
  };
  schedule();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      return underWay.then(() => undefined);
    },
  };
}
