// Many things to do, a few at a time: lanes take the next as soon as they are free, so that one that waits keeps no other waiting; turns
// keep what all of them begin with from being begun at once.

/** Does all of it, `count` at a time, in the order given. Rejects with the first that failed, once those under way have ended. */
export async function runConcurrently<T>(
  items: readonly T[],
  count: number,
  act: (item: T, nth: number) => Promise<void>,
): Promise<void> {
  const waiting = items.entries();
  let failed = false;
  const lane = async (): Promise<void> => {
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
  const ended = await Promise.allSettled(Array.from({ length: Math.min(count, items.length) }, lane));
  const broken = ended.find((end) => end.status === 'rejected');
  if (broken) throw broken.reason;
}

/** Lets so many do something at one time; the others wait for their turn. */
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
