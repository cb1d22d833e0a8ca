/**
 * Keeps a dependency that hangs from holding everybody: a deadline for every call, and after failures in a row a pause in which calls
 * go straight to their stand-in, but for one probe at its end. Guarantee: `run` never rejects because of the call itself.
 */

export interface BreakerOptions {
  /** What one call may cost its caller. */
  readonly deadlineMs: number;
  /** Failures in a row that open the breaker. */
  readonly failuresToOpen: number;
  /** How long calls go to the stand-in before one tries again. */
  readonly openForMs: number;
  /** Told when it opens and when it closes again. */
  readonly onChange?: (state: 'open' | 'closed') => void;
}

export interface Breaker {
  /** The call's value within the deadline, else the stand-in's. Rejects only when the stand-in does. */
  run<T>(call: () => Promise<T>, standIn: () => T | Promise<T>): Promise<T>;
}

/** A breaker for one dependency. */
export function createBreaker(options: BreakerOptions): Breaker {
  const { deadlineMs, failuresToOpen, openForMs, onChange } = options;
  let failures = 0;
  let closedAgainAtMs = 0;
  let probing = false;

  const mayCall = (): boolean => {
    if (failures < failuresToOpen) return true;
    return !probing && performance.now() >= closedAgainAtMs;
  };
  const succeeded = (): void => {
    if (failures >= failuresToOpen) onChange?.('closed');
    failures = 0;
  };
  const failed = (): void => {
    failures += 1;
    if (failures === failuresToOpen) onChange?.('open');
    if (failures >= failuresToOpen) closedAgainAtMs = performance.now() + openForMs;
  };

  return {
    run: async (call, standIn) => {
      if (!mayCall()) return standIn();
      const isProbe = failures >= failuresToOpen;
      probing ||= isProbe;
      try {
        const value = await withinDeadline(call(), deadlineMs);
        succeeded();
        return value;
      } catch {
        failed();
      } finally {
        if (isProbe) probing = false;
      }
      return standIn();
    },
  };
}

/**
 * Rejects after the deadline. An answer that arrived while this process itself was held up (a busy machine, a long collection of
 * garbage) still counts: timers run before sockets are read, so the last word is left to the turn after.
 */
function withinDeadline<T>(promise: Promise<T>, deadlineMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => reject(new Error(`no answer within ${deadlineMs} ms`)));
    }, deadlineMs);
    promise.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
