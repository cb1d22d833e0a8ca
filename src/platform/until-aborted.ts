/**
 * Runs work until the signal is aborted: what is running then rejects with its reason, and nothing more
 * begins. No race with one promise for all: that would remember all the work there ever was.
 */
export function untilAborted(signal: AbortSignal): <T>(work: () => Promise<T>) => Promise<T> {
  const running = new Set<(reason: unknown) => void>();
  signal.addEventListener('abort', () => running.forEach((reject) => reject(signal.reason)), { once: true });
  return async <T>(work: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    work().then(resolve, reject);
    running.add(reject);
    return promise.finally(() => running.delete(reject));
  };
}
