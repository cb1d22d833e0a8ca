// Limits how much runs at the same time.

/**
 * Runs `act` on every item, `count` at a time, in the order given. Rejects with the first failure, once
 * running ones have ended.
 */
export async function runConcurrently<T>(
  items: readonly T[],
  count: number,
  act: (item: T, nth: number) => Promise<void>,
): Promise<void> {
  const waiting = items.entries();
  let failed = false;
  const loop = async (): Promise<void> => {
    for (const [nth, item] of waiting) {
      if (failed) return;
      try {
        await act(item, nth);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(count, items.length) }, loop));
  const broken = ended.find((end) => end.status === 'rejected');
  if (broken) throw broken.reason;
}

/** Lets `count` callers run at the same time; the others wait. */
export function createSemaphore(count: number): <T>(act: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = count;
  return async (act) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
