/** The simulator's clock, what is planned for later, and skipping time. */
import type { Database } from '../support/database.ts';
import { createAlarm } from '../support/sending.ts';
import type { Stores } from './storage/store.ts';
import type { AgendaRow } from './storage/tables.ts';
import type { WebhookSender } from './webhooks.ts';

export type Clock = ReturnType<typeof createClock>;

/** Real time plus what was skipped, which is kept over a restart. */
export function createClock(base: () => number, meta: Database['meta']) {
  let aheadMs = Number(meta.read('clockAheadMs') ?? 0);
  let frozenAtMs: number | null = null;
  return {
    now: () => frozenAtMs ?? base() + aheadMs,
    /** Runs `work` as if it were this moment. */
    at: (atMs: number, work: () => void): void => {
      const before = frozenAtMs;
      frozenAtMs = atMs;
      try {
        work();
      } finally {
        frozenAtMs = before;
      }
    },
    /** Skips forward to this moment; does nothing when it has passed. */
    skipTo: (atMs: number) => {
      const wantedMs = atMs - base();
      if (wantedMs <= aheadMs) return;
      aheadMs = wantedMs;
      meta.write('clockAheadMs', String(aheadMs));
    },
    /** How far it is ahead of real time. */
    aheadMs: () => aheadMs,
  };
}

export type AgendaHandlers = Record<
  AgendaRow['kind'],
  (target: number, data: Record<string, unknown>) => void
>;

/** Does all that is due by now: each item once, in one transaction, as of the moment it was planned for. */
export function createAgenda(options: {
  clock: Clock;
  database: Database;
  store: Stores['agenda'];
  handlers: AgendaHandlers;
  onBug: (error: unknown) => void;
}): () => void {
  const { clock, database, store, handlers } = options;
  const run = (item: AgendaRow) => {
    store.drop(item.id);
    handlers[item.kind](item.target, JSON.parse(item.data) as Record<string, unknown>);
  };
  return () => {
    for (;;) {
      const item = store.firstDue(clock.now());
      if (item === undefined) return;
      try {
        clock.at(item.atMs, () => database.transact(() => run(item)));
      } catch (error) {
        // Kept, it would block everything after it.
        store.drop(item.id);
        options.onBug(error);
      }
    }
  };
}

/** Runs what is due, from the agenda and of webhooks, and skips time. */
export function createTimer(options: {
  clock: Clock;
  agenda: Stores['agenda'];
  runDue: () => void;
  sender: WebhookSender;
}) {
  const { clock, agenda, runDue, sender } = options;
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
