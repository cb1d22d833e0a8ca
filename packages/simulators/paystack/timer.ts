/** Does what is due, from the agenda and of webhooks, and skips time. */
import { createAlarm, type Clock } from '../kit/clock.ts';
import type { PlannedKind, Storage } from './storage.ts';
import type { WebhookSender } from './webhooks.ts';

export type AgendaHandlers = Record<PlannedKind, (target: number, data: Record<string, unknown>) => void>;

/**
 * Does all of the agenda that is due by now: each item once, in one transaction, as of the moment it was
 * planned for.
 */
export function createRunDue(
  clock: Clock,
  { agenda, database }: Storage,
  handlers: AgendaHandlers,
  onBug: (error: unknown) => void,
) {
  return (): void => {
    for (;;) {
      const [item] = agenda.due(clock.now(), 1);
      if (item === undefined) return;
      const run = () => {
        agenda.drop(item.id);
        handlers[item.kind](item.target, item.data);
      };
      try {
        clock.at(item.atMs, () => database.transact(run));
      } catch (error) {
        // Kept, it would block everything after it.
        agenda.drop(item.id);
        onBug(error);
      }
    }
  };
}

/** Runs what is due in real time, and skips time. */
export function createTimer(clock: Clock, { agenda }: Storage, runDue: () => void, sender: WebhookSender) {
  let isStopped = false;
  let skipping: Promise<void> = Promise.resolve();
  const nextAtMs = (): number | null => {
    const moments = [agenda.nextAtMs(), sender.nextAtMs()].filter((atMs) => atMs !== null);
    return moments.length === 0 ? null : Math.min(...moments);
  };
  const run = () => {
    runDue();
    sender.run();
  };
  const alarm = createAlarm({ now: clock.now, nextAtMs, run });
  const skip = async (byMs: number): Promise<void> => {
    const untilMs = clock.now() + byMs;
    for (;;) {
      run();
      await sender.idle();
      const atMs = nextAtMs();
      if (isStopped) return;
      if (atMs === null || atMs > untilMs) break;
      clock.skipTo(atMs);
    }
    clock.skipTo(untilMs);
    run();
    alarm.wake();
  };
  return {
    wake: alarm.wake,
    /** Skips this much time and does all that was due in it, in order and each at its own moment. */
    advance: (byMs: number): Promise<void> => {
      skipping = skipping.then(() => skip(byMs));
      return skipping;
    },
    stop: () => {
      isStopped = true;
      alarm.stop();
    },
  };
}
