/** What both simulators need to send webhooks: a POST, bounded concurrency, and a timer for what is due later. */

/** The status that was answered; null for none. Never throws, and does not follow redirects. */
export async function postJson(
  url: string,
  body: string,
  options: { headers?: Record<string, string>; timeoutMs: number; stopping: AbortSignal },
): Promise<number | null> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...options.headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([options.stopping, AbortSignal.timeout(options.timeoutMs)]),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}

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

const LONGEST_SLEEP_MS = 60_000;

export interface Alarm {
  /** Something may be due earlier than before. Takes effect after the caller's transaction. */
  wake: () => void;
  stop: () => void;
}

/** Calls `run` whenever the time that `nextAtMs` answers has come. */
export function createAlarm(options: {
  now: () => number;
  nextAtMs: () => number | null;
  run: () => void;
}): Alarm {
  let timer: NodeJS.Timeout | undefined;
  let isWaking = false;
  let isStopped = false;
  const arm = () => {
    isWaking = false;
    if (isStopped) return;
    clearTimeout(timer);
    const atMs = options.nextAtMs();
    if (atMs === null) return;
    timer = setTimeout(ring, Math.min(LONGEST_SLEEP_MS, Math.max(0, atMs - options.now())));
    timer.unref();
  };
  function ring(): void {
    options.run();
    arm();
  }
  return {
    wake: () => {
      if (isWaking) return;
      isWaking = true;
      setImmediate(arm);
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
