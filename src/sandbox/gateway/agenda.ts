/**
 * Does what is planned, at its time. Guarantee: each item is done once and in one transaction, as of the moment it was planned for, also
 * when it is taken up late or by another process.
 */
import type { Database } from '../support/database.ts';
import type { Clock } from './clock.ts';
import type { AgendaStore } from './storage/agenda.ts';
import type { AgendaKind, AgendaRow } from './storage/rows.ts';

export type AgendaDeeds = Record<AgendaKind, (target: number, data: Record<string, unknown>) => void>;

export interface Agenda {
  /** Does all that is due by now. */
  runDue: () => void;
  nextAtMs: () => number | null;
}

/** An agenda over what is stored. */
export function createAgenda(options: {
  clock: Clock;
  database: Database;
  store: AgendaStore;
  deeds: AgendaDeeds;
  onBug: (error: unknown) => void;
}): Agenda {
  const { clock, database, store, deeds } = options;
  const run = (item: AgendaRow) => {
    store.drop(item.id);
    deeds[item.kind](item.target, JSON.parse(item.data) as Record<string, unknown>);
  };
  return {
    nextAtMs: store.nextAtMs,
    runDue: () => {
      for (;;) {
        const item = store.firstDue(clock.now());
        if (item === undefined) return;
        try {
          clock.at(item.atMs, () => database.transact(() => run(item)));
        } catch (error) {
          // Kept, it would be in the way of everything after it.
          store.drop(item.id);
          options.onBug(error);
        }
      }
    },
  };
}
