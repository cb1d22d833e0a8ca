// The one way tests wait: look again until it is so, with a deadline. Guarantee: a deadline that passes is a failure that shows what
// was seen last, never a silent go-on.
import { inspect } from 'node:util';

export interface UntilOptions {
  readonly withinMs?: number;
  readonly everyMs?: number;
  /** What is waited for, for the failure's message. */
  readonly what?: string;
}

const WITHIN_MS = 20_000;
const EVERY_MS = 50;

/** Answers the first value that is good. A look that throws is "not yet". Rejects at the deadline with what was seen last. */
export async function until<T>(
  look: () => Promise<T> | T,
  good: (value: T) => boolean,
  { withinMs = WITHIN_MS, everyMs = EVERY_MS, what = 'what the test waits for' }: UntilOptions = {},
): Promise<T> {
  const endsAtMs = performance.now() + withinMs;
  for (;;) {
    let seen: unknown;
    try {
      const value = await look();
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
