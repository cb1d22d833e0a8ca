// The one way to wait in tests: read repeatedly until the value is right, with a deadline. At the deadline it
// fails and shows the last value.
import { inspect } from 'node:util';

export interface UntilOptions {
  readonly withinMs?: number;
  readonly everyMs?: number;
  /** The awaited event, for the failure's message. */
  readonly what?: string;
}

/** Many times the usual time on a quiet machine: a busy one is slow, not wrong. */
const WITHIN_MS = 120_000;
const EVERY_MS = 50;

/**
 * Resolves with the first good value. A read that throws counts as not yet. Rejects at the deadline with the
 * last value.
 */
export async function until<T>(
  read: () => Promise<T> | T,
  good: (value: T) => boolean,
  { withinMs = WITHIN_MS, everyMs = EVERY_MS, what = 'what the test waits for' }: UntilOptions = {},
): Promise<T> {
  const endsAtMs = performance.now() + withinMs;
  for (;;) {
    let seen: unknown;
    try {
      const value = await read();
      if (good(value)) return value;
      seen = value;
    } catch (error) {
      seen = error;
    }
    if (performance.now() > endsAtMs) {
      throw new Error(`${what}: not within ${withinMs} ms; last seen: ${inspect(seen, { depth: 4 })}`);
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
