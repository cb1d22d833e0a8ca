import type { Collection, Database } from './storage.ts';

export type Clock = ReturnType<typeof createClock>;

/** Real time plus what was skipped. */
export function createClock(base: () => number, meta: Database['meta']) {
  let aheadMs = Number(meta.read('clockAheadMs') ?? 0);
  let frozenAtMs: number | null = null;
  return {
    now: () => frozenAtMs ?? base() + aheadMs,
    at: (atMs: number, work: () => void): void => {
      const before = frozenAtMs;
      frozenAtMs = atMs;
      try {
        work();
      } finally {
        frozenAtMs = before;
      }
    },
    skipTo: (atMs: number) => {
      const wantedMs = atMs - base();
      if (wantedMs <= aheadMs) return;
      aheadMs = wantedMs;
      meta.write('clockAheadMs', String(aheadMs));
    },
    aheadMs: () => aheadMs,
  };
}

export interface Planned<Kind extends string, Target> {
  id: number;
  atMs: number;
  kind: Kind;
  target: Target;
  data: Record<string, unknown>;
}

export type Agenda<Kind extends string, Target> = ReturnType<typeof openAgenda<Kind, Target>>;

export function openAgenda<Kind extends string, Target>(database: Database) {
  type Row = Planned<Kind, Target>;
  const rows: Collection<Row> = database.collection<Row>('agenda', 'id', { indexes: ['atMs', 'target'] });
  return {
    plan: (kind: Kind, target: Target, atMs: number, data: object = {}): void =>
      void rows.add({ kind, target, atMs, data: { ...data } }),
    due: (nowMs: number, limit: number) => rows.list({ atMs: { to: nowMs } }, { by: 'atMs', limit }),
    nextAtMs: () => rows.find({}, { by: 'atMs' })?.atMs ?? null,
    drop: (id: number): void => void rows.remove({ id }),
    dropAfter: (target: Target & string, atMs: number): void =>
      void rows.remove({ target, atMs: { from: atMs + 1 } }),
  };
}

const LONGEST_SLEEP_MS = 60_000;

export function createAlarm(options: { now: () => number; nextAtMs: () => number | null; run: () => void }) {
  let timer: NodeJS.Timeout | undefined;
  let isWaking = false;
  let isStopped = false;
  const arm = () => {
    isWaking = false;
    if (isStopped) return;
    clearTimeout(timer);
    const atMs = options.nextAtMs();
    if (atMs === null) return;
    timer = setTimeout(ring, Math.min(LONGEST_SLEEP_MS, Math.max(0, atMs - options.now())));
    timer.unref();
  };
  function ring(): void {
    options.run();
    arm();
  }
  return {
    /** Something may be due earlier than before. Takes effect after the caller's transaction. */
    wake: (): void => {
      if (isWaking) return;
      isWaking = true;
      setImmediate(arm);
    },
    stop: (): void => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
