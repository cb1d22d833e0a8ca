// Our own, since libraries measure a pause by the wall clock, which may jump, and let callers wait for the
// probe (docs/decisions).

/** The call took longer than its deadline. It continues by itself, and how it ends is ignored. */
export class DeadlinePassed extends Error {}
/** Nothing was called: the dependency failed too often a moment ago. */
export class CircuitOpen extends Error {}

export interface CircuitBreakerOptions {
  /** What one call may cost its caller. */
  readonly deadlineMs: number;
  /** Failures in a row that open the circuit. */
  readonly failuresToOpen: number;
  /** How long calls are refused before one of them tries again, alone. */
  readonly openForMs: number;
  /** Which errors count against the dependency; all of them unless given. */
  readonly isFailure?: (error: unknown) => boolean;
  readonly onChange?: (state: 'open' | 'closed') => void;
}

export interface CircuitBreaker {
  /** The call's result. Rejects with CircuitOpen, with DeadlinePassed, or as the call does. */
  run<T>(call: () => Promise<T>): Promise<T>;
}

/** A circuit breaker with a deadline for every call, for one dependency. */
export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { deadlineMs, failuresToOpen, openForMs, isFailure = () => true, onChange } = options;
  let failures = 0;
  let retryAtMs = 0;
  let probing = false;

  const isOpen = (): boolean => failures >= failuresToOpen;
  const succeeded = (isProbe: boolean): void => {
    // A call that began before the circuit opened proves nothing about the dependency now.
    if (isOpen() && !isProbe) return;
    if (isOpen()) onChange?.('closed');
    failures = 0;
  };
  const failed = (): void => {
    failures += 1;
    if (failures === failuresToOpen) onChange?.('open');
    if (isOpen()) retryAtMs = performance.now() + openForMs;
  };

  return {
    run: async (call) => {
      const isProbe = isOpen();
      if (isProbe && (probing || performance.now() < retryAtMs)) throw new CircuitOpen();
      probing ||= isProbe;
      try {
        const value = await withinDeadline(call(), deadlineMs);
        succeeded(isProbe);
        return value;
      } catch (error) {
        if (isFailure(error)) failed();
        else succeeded(isProbe);
        throw error;
      } finally {
        if (isProbe) probing = false;
      }
    },
  };
}

/** undefined where the dependency gave no answer in time, or was not asked. Other errors stay errors. */
export async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof DeadlinePassed || error instanceof CircuitOpen) return undefined;
    throw error;
  }
}

/** A healthy supplier answers well within a second, and people leave a page that takes longer. */
const SUPPLIER_READ_WITHIN_MS = 1_000;
/** For this long reads show what was known before. */
const SUPPLIER_PAUSE_MS = 10_000;

/** For reads of the supplier that a caller waits for: one that is late spares the next ones the wait. */
export function createSupplierReadBreaker(): CircuitBreaker {
  return createCircuitBreaker({
    deadlineMs: SUPPLIER_READ_WITHIN_MS,
    failuresToOpen: 1,
    openForMs: SUPPLIER_PAUSE_MS,
    isFailure: (error) => error instanceof DeadlinePassed,
  });
}

/** The result, or that it is late. Late work continues by itself, and how it ends is ignored. */
export async function inTime<T>(
  work: Promise<T>,
  timeLimitMs: number,
): Promise<{ readonly late: false; readonly value: T } | { readonly late: true; readonly value: undefined }> {
  try {
    return { late: false, value: await withinDeadline(work, timeLimitMs) };
  } catch (error) {
    if (error instanceof DeadlinePassed) return { late: true, value: undefined };
    throw error;
  }
}

/**
 * Rejects after the deadline. Timers run before sockets are read, so an answer that arrived while this
 * process itself was held up still counts: the turn of the event loop after the deadline decides.
 */
function withinDeadline<T>(work: Promise<T>, deadlineMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => reject(new DeadlinePassed(`no answer within ${deadlineMs} ms`)));
    }, deadlineMs);
    void work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
