/**
 * Compares our books with the vendors'. Guarantee: moves no money, and can be interrupted anywhere and
 * resumed. A vendor that does not answer leaves the run unfinished, never as if nothing differed.
 */
import { randomUUID } from 'node:crypto';
import { DAY_MS } from '../domain/clock.ts';
import type { ReconcileSummary } from './payment-rules.ts';
import {
  abandonRuns,
  beginRun,
  closeUnseen,
  countOpenDifferences,
  findLastRun,
  findOldDates,
  findRequest,
  findRun,
  finishRun,
  firstMoment,
  keepProgress,
  type RunRow,
} from './store/reconciliation.ts';
import { countLines, dropLines, type Slice } from './store/lines.ts';
import { compareGateway, readStatement } from './gateway.ts';
import { earlier, MARGIN_MS, type ReconcileDeps, type RunContext } from './run.ts';
import { compareSupplier, compareSupplierBalance, readOrders } from './supplier.ts';
import type { WorldDb } from '../platform/database/tables.ts';

interface ReconcileRequest {
  /** A person, or the schedule. */
  readonly askedBy: string;
  /** Only what happened within it; absent: everything since the last regular run, with some overlap. */
  readonly range?: Slice | undefined;
  /** The same key resumes the same run; absent: a new run. */
  readonly runKey?: string;
  /** Aborted: the run throws, and can be resumed. */
  readonly signal?: AbortSignal;
  /** Called after each slice of time that was read. */
  readonly onProgress?: (done: { readonly read: number; readonly of: number }) => void;
}

type WorkflowRequest = ReconcileRequest & { readonly runKey: string; readonly isScheduled: boolean };

/** The requester of a run that was started directly in Temporal. */
const UNVERIFIED = 'unverified';

/** Longer than the margin, and a few thousand lines in most. An interrupted run resumes at a slice. */
const SLICE_MS = 6 * 3_600_000;
const ABANDONED_AFTER_MS = DAY_MS;
/** Takes half of a statement's time limit. */
const DROP_ROWS = 20_000;

export type Reconciliation = ReturnType<typeof createReconciliation>;

export function createReconciliation(deps: ReconcileDeps) {
  return {
    /** Returns null where nothing has happened yet that can be compared. */
    run: (request: ReconcileRequest) => run(deps, request),
    /** For a workflow, whose input does not prove who asked: that is on record under `runKey`. */
    runForWorkflow: async (request: WorkflowRequest) => run(deps, await verified(deps, request)),
  };
}

/** As the row has it. Without a row the request is the schedule's, or it raises an alert. */
async function verified(
  { db, events }: Pick<ReconcileDeps, 'db' | 'events'>,
  { isScheduled, ...request }: WorkflowRequest,
): Promise<ReconcileRequest> {
  const { runKey, askedBy } = request;
  const asked = await findRequest(db, runKey);
  if (asked) return { ...request, ...asked };
  if (isScheduled || (await findRun(db, runKey))) return request;
  events.unverifiedRequest({
    what: 'reconciliation',
    runKey,
    detail: `no request is recorded; its input names ${askedBy}`,
  });
  return { ...request, askedBy: UNVERIFIED };
}

async function run(deps: ReconcileDeps, request: ReconcileRequest): Promise<ReconcileSummary | null> {
  const { db, clock } = deps;
  await abandonRuns(db, new Date(clock.now().getTime() - ABANDONED_AFTER_MS));
  await dropOldLines(deps);
  const row = await beginOrResume(deps, request);
  if (!row) return null;
  if (row.status === 'ABANDONED') throw new Error(`run ${row.id} was abandoned: start another`);
  if (row.status === 'DONE') return summaryOf(deps, row);
  const context = contextOf(deps, row, request.signal);
  await read(context, row, request);
  if (hasGateway(deps)) await compareGateway(context);
  await compareSupplier(context);
  const balance = await compareSupplierBalance(context);
  await closeUnseen(db, {
    runId: row.id,
    now: clock.now(),
    sides: hasGateway(deps) ? ['gateway', 'supplier'] : ['supplier'],
    within: row.is_regular ? undefined : context.own,
  });
  const ended = await finishRun(db, row.id, await countLines(db, row.id), balance);
  await dropOldLines(deps);
  const summary = await summaryOf(deps, ended);
  deps.events.reconciled(summary);
  return summary;
}

/** Without a gateway nothing can be looked up, so nothing may count as missing there. */
const hasGateway = ({ gateway }: Pick<ReconcileDeps, 'gateway'>): boolean => gateway.name !== 'none';

async function dropOldLines({ db }: ReconcileDeps): Promise<void> {
  while ((await dropLines(db, DROP_ROWS)) === DROP_ROWS);
}

/** The run of this key, begun now if it is new; undefined: nothing has happened that can be compared. */
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
  const isRegular = request.range === undefined;
  return beginRun(db, {
    run_key: runKey,
    asked_by: request.askedBy,
    is_regular: isRegular,
    from_at: own.from,
    to_at: own.to,
    new_from_at: isRegular && last ? last.settled_before : own.from,
    settled_before: new Date(now.getTime() - settings.settleMs),
    slices: JSON.stringify(await slicesOf(db, own, isRegular)),
  });
}

/** The run's time with a margin; for a regular run also the slices around older open differences. */
async function slicesOf(db: WorldDb, own: Slice, isRegular: boolean): Promise<Slice[]> {
  const [fromMs, toMs] = [own.from.getTime() - MARGIN_MS, own.to.getTime() + MARGIN_MS];
  const slices: Slice[] = [];
  for (let atMs = fromMs; atMs < toMs; atMs += SLICE_MS)
    slices.push({ from: new Date(atMs), to: new Date(Math.min(atMs + SLICE_MS, toMs)) });
  if (!isRegular) return slices;
  const startsMs = new Set<number>();
  for (const { from, to } of await findOldDates(db, own.from)) {
    const endMs = Math.min(to.getTime() + 1, own.from.getTime());
    for (let atMs = from.getTime() - (from.getTime() % SLICE_MS); atMs < endMs; atMs += SLICE_MS)
      startsMs.add(atMs);
  }
  const older = [...startsMs]
    .toSorted((one, other) => one - other)
    .map((atMs) => ({ from: new Date(atMs), to: earlier(new Date(atMs + SLICE_MS), own.from) }));
  return [...older, ...slices];
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

/** Reads both sides, slice by slice, from where the run was left. */
async function read(context: RunContext, row: RunRow, { onProgress }: ReconcileRequest): Promise<void> {
  const { db, runId, slices, signal } = context;
  for (const [index, slice] of slices.entries()) {
    if (index < row.slices_read) continue;
    signal?.throwIfAborted();
    if (hasGateway(context)) await readStatement(context, slice);
    await readOrders(context, slice);
    await keepProgress(db, runId, index + 1);
    onProgress?.({ read: index + 1, of: slices.length });
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
