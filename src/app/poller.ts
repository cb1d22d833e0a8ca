/** Runs a task again and again with a pause between, never twice at once; a failure is reported and the next turn tries again. */
export interface Poller {
  stop(): void;
}

export function startPoller(
  task: () => Promise<void>,
  intervalMs: number,
  onError: (error: unknown) => void,
): Poller {
  let stopped = false;
  let timer: NodeJS.Timeout;
  const turn = (): void => {
    task()
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
    },
  };
}
