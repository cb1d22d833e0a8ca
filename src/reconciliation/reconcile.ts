/**
 * Our books beside the gateway's statement and the supplier's orders and balance: what differs is kept as an open difference until it is
 * gone or a person closes it. Guarantee: moves no money, and may be left anywhere and taken up again. What cannot be asked leaves the run
 * unfinished, never as if all were well.
 */
import { randomUUID } from 'node:crypto';
import type { Difference, ReconcileSummary } from './payment-rules.ts';
import {
  abandonRuns,
  beginRun,
  closeDifference,
  closeUnseen,
  countOpenDifferences,
  findLastRun,
  findOldDates,
  findRun,
  finishRun,
  firstMoment,
  keepProgress,
  listOpenDifferences,
  type DifferenceFilter,
  type DifferenceRow,
  type RunRow,
} from './store/reconciliation.ts';
import { countLines, dropLines, type Slice } from './store/lines.ts';
import { compareGateway, readStatement, compareAllDisputes } from './gateway.ts';
import { earlier, throwIfAborted, MARGIN_MS, type ReconcileDeps, type RunContext } from './run.ts';
import { compareSupplier, compareSupplierBalance, readOrders } from './supplier.ts';

export type { ReconcileDeps, ReconcileSettings } from './run.ts';

export interface ReconcileRequest {
  /** Who asked: a person, or the schedule. */
  readonly askedBy: string;
  /** Only what happened within it; absent: everything since the last regular run, with some overlap. */
  readonly range?: Slice;
  /** The same key is the same run, taken up where it was left; absent: a run of its own. */
  readonly runKey?: string;
  /** Instead of the setting. */
  readonly settleMs?: number;
  /** Aborted: the run is left where it is, and throws. */
  readonly signal?: AbortSignal;
  /** Called after each stretch of time that was read. */
  readonly onProgress?: (done: { readonly read: number; readonly of: number }) => void;
}

/** A difference as it is listed. */
export interface OpenDifference extends Difference {
  readonly id: bigint;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
}

export type CloseOutcome =
  | { readonly outcome: 'done' }
  | {
      readonly outcome: 'refused';
      readonly code: 'NOT_FOUND' | 'ALREADY_CLOSED' | 'PERSON_NEEDED' | 'REASON_NEEDED';
    };

/** Differences that were found. */
export interface Differences {
  /** Those that are open, oldest first. */
  listOpen(filter: DifferenceFilter): Promise<OpenDifference[]>;
  /** It stays closed while the facts are the same. */
  close(id: bigint, by: string, reason: string): Promise<CloseOutcome>;
}

export interface Reconciliation extends Differences {
  /** Compares; null where nothing has happened yet that could be compared. */
  run(request: ReconcileRequest): Promise<ReconcileSummary | null>;
}

/** Both sides are asked for such stretches, longer than the margin: a few thousand lines in most; a run that was left goes on with the next. */
const SLICE_MS = 6 * 3_600_000;
/** A run untouched for so long is given up. */
const ABANDONED_AFTER_MS = 24 * 3_600_000;
/** Within half of a statement's time limit. */
const DROP_ROWS = 20_000;
const MIN_REASON = 3;
const MAX_REASON = 500;

export function createReconciliation(deps: ReconcileDeps): Reconciliation {
  return { ...createDifferences(deps), run: (request) => run(deps, request) };
}

/** Without the vendors: lists and closes differences. */
export function createDifferences({ db, clock }: Pick<ReconcileDeps, 'db' | 'clock'>): Differences {
  return {
    listOpen: async (filter) => (await listOpenDifferences(db, filter)).map(toOpenDifference),
    close: async (id, by, reason) => {
      if (by.trim() === '') return { outcome: 'refused', code: 'PERSON_NEEDED' };
      const { length } = reason.trim();
      if (length < MIN_REASON || length > MAX_REASON) return { outcome: 'refused', code: 'REASON_NEEDED' };
      const done = await closeDifference(db, { id, by: by.trim(), reason: reason.trim(), now: clock.now() });
      if (done === 'done') return { outcome: 'done' };
      return { outcome: 'refused', code: done === 'absent' ? 'NOT_FOUND' : 'ALREADY_CLOSED' };
    },
  };
}

async function run(deps: ReconcileDeps, request: ReconcileRequest): Promise<ReconcileSummary | null> {
  const { db, clock } = deps;
  await abandonRuns(db, new Date(clock.now().getTime() - ABANDONED_AFTER_MS));
  await dropOldLines(deps);
  const row = await beginOrResume(deps, request);
  if (!row) return null;
  if (row.status === 'ABANDONED') throw new Error(`run ${row.id} was given up: begin another`);
  if (row.status === 'DONE') return summaryOf(deps, row);
  const context = contextOf(deps, row, request.signal);
  await read(context, row, request);
  if (hasGateway(deps)) {
    await compareGateway(context);
    await compareAllDisputes(context);
  }
  await compareSupplier(context);
  const balance = await compareSupplierBalance(context);
  await closeUnseen(db, {
    runId: row.id,
    now: clock.now(),
    sides: hasGateway(deps) ? ['gateway', 'supplier'] : ['supplier'],
    ...(row.is_regular ? {} : { within: context.own }),
  });
  const ended = await finishRun(db, row.id, { compared: await countLines(db, row.id), balance });
  await dropOldLines(deps);
  const summary = await summaryOf(deps, ended);
  deps.events.reconciled(summary);
  return summary;
}

/** Where no gateway is configured, nothing can be asked, and nothing is told apart from "not there". */
const hasGateway = ({ gateway }: Pick<ReconcileDeps, 'gateway'>): boolean => gateway.name !== 'none';

async function dropOldLines({ db }: ReconcileDeps): Promise<void> {
  while ((await dropLines(db, DROP_ROWS)) === DROP_ROWS);
}

/** The run of this key, begun now if it is not known; undefined: nothing has happened that could be compared. */
async function beginOrResume(deps: ReconcileDeps, request: ReconcileRequest): Promise<RunRow | undefined> {
  const { db, clock, settings } = deps;
  const runKey = request.runKey ?? `by hand ${randomUUID()}`;
  const known = await findRun(db, runKey);
  if (known) return known;
  const first = await firstMoment(db);
  if (!first) return undefined;
  const now = clock.now();
  const last = await findLastRun(db);
  const since = last ? new Date(last.to_at.getTime() - settings.overlapMs) : first;
  const own = request.range ?? { from: since < now ? since : now, to: now };
  return beginRun(db, {
    runKey,
    askedBy: request.askedBy,
    isRegular: request.range === undefined,
    ...own,
    newFrom: request.range || !last ? own.from : last.settled_before,
    settledBefore: new Date(now.getTime() - (request.settleMs ?? settings.settleMs)),
    slices: (await slicesOf(deps, own, request.range === undefined)).map(({ from, to }) => ({
      from: from.toISOString(),
      to: to.toISOString(),
    })),
  });
}

/** The time itself with a margin, cut small; for a regular run also the stretches around older differences that are still open. */
async function slicesOf({ db }: ReconcileDeps, own: Slice, isRegular: boolean): Promise<Slice[]> {
  const [fromMs, toMs] = [own.from.getTime() - MARGIN_MS, own.to.getTime() + MARGIN_MS];
  const slices: Slice[] = [];
  for (let atMs = fromMs; atMs < toMs; atMs += SLICE_MS)
    slices.push({ from: new Date(atMs), to: new Date(Math.min(atMs + SLICE_MS, toMs)) });
  if (!isRegular) return slices;
  const cells = new Set<number>();
  for (const { from, to } of await findOldDates(db, own.from)) {
    const endMs = Math.min(to.getTime() + 1, own.from.getTime());
    for (let cell = Math.trunc(from.getTime() / SLICE_MS); cell * SLICE_MS < endMs; cell += 1)
      cells.add(cell);
  }
  const old = [...cells].toSorted((one, other) => one - other);
  return [
    ...old.map((cell) => ({
      from: new Date(cell * SLICE_MS),
      to: earlier(new Date((cell + 1) * SLICE_MS), own.from),
    })),
    ...slices,
  ];
}

function contextOf(deps: ReconcileDeps, row: RunRow, signal: AbortSignal | undefined): RunContext {
  return {
    ...deps,
    runId: row.id,
    signal,
    rules: { settledBefore: row.settled_before, fees: deps.settings.fees },
    slices: row.slices.map(({ from, to }) => ({ from: new Date(from), to: new Date(to) })),
    own: { from: row.from_at, to: row.to_at },
    newFrom: row.new_from_at,
  };
}

/** Reads both sides, stretch by stretch, from where it was left. */
async function read(context: RunContext, row: RunRow, { onProgress }: ReconcileRequest): Promise<void> {
  const { db, runId, slices } = context;
  for (const [nth, slice] of slices.entries()) {
    if (nth < row.slices_read) continue;
    throwIfAborted(context);
    if (hasGateway(context)) await readStatement(context, slice);
    await readOrders(context, slice);
    await keepProgress(db, runId, nth + 1);
    onProgress?.({ read: nth + 1, of: slices.length });
  }
}

async function summaryOf({ db }: ReconcileDeps, row: RunRow): Promise<ReconcileSummary> {
  return {
    runId: String(row.id),
    from: row.from_at.toISOString(),
    to: row.to_at.toISOString(),
    compared: row.compared,
    opened: row.differences_opened,
    closed: row.differences_closed,
    open: await countOpenDifferences(db),
  };
}

function toOpenDifference(row: DifferenceRow): OpenDifference {
  return {
    id: row.id,
    kind: row.kind,
    subject: row.subject,
    transactionId: row.transaction_id,
    currency: row.currency,
    amountMinor: row.amount_minor,
    ours: row.ours,
    theirs: row.theirs,
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
  };
}
