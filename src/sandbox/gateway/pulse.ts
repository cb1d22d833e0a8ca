/**
 * What makes planned things happen: one timer for the agenda and for webhooks, and skipping time for those who cannot wait.
 * Guarantee: while time is skipped everything happens in order and at its own moment, retries included.
 */
import type { Agenda } from './agenda.ts';
import type { Clock } from './clock.ts';
import type { Courier } from './webhooks/courier.ts';

const LONGEST_SLEEP_MS = 60_000;

export interface Pulse {
  /** Something may be due earlier than what is waited for; cheap, works after the caller's transaction. */
  wake: () => void;
  /** Skips this much time and does all that was due in it. */
  advance: (byMs: number) => Promise<void>;
  stop: () => void;
}

/** A pulse over agenda and courier. */
export function createPulse(options: { clock: Clock; agenda: Agenda; courier: Courier }): Pulse {
  const { clock, agenda, courier } = options;
  let timer: NodeJS.Timeout | undefined;
  let isWaking = false;
  let isStopped = false;
  let skipping: Promise<void> = Promise.resolve();

  const nextAtMs = (): number | null => {
    const moments = [agenda.nextAtMs(), courier.nextAtMs()].filter((atMs) => atMs !== null);
    return moments.length === 0 ? null : Math.min(...moments);
  };
  const beat = () => {
    if (isStopped) return;
    agenda.runDue();
    courier.run();
    arm();
  };
  function arm(): void {
    isWaking = false;
    if (isStopped) return;
    clearTimeout(timer);
    const atMs = nextAtMs();
    if (atMs === null) return;
    timer = setTimeout(beat, Math.min(LONGEST_SLEEP_MS, Math.max(0, atMs - clock.now())));
    timer.unref();
  }
  const skip = async (byMs: number): Promise<void> => {
    const untilMs = clock.now() + byMs;
    for (;;) {
      agenda.runDue();
      courier.run();
      await courier.idle();
      const atMs = nextAtMs();
      if (isStopped || atMs === null || atMs > untilMs) break;
      clock.skipTo(atMs);
    }
    if (isStopped) return;
    clock.skipTo(untilMs);
    beat();
  };
  return {
    wake: () => {
      if (isWaking) return;
      isWaking = true;
      setImmediate(arm);
    },
    advance: (byMs) => {
      skipping = skipping.then(() => skip(byMs));
      return skipping;
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
