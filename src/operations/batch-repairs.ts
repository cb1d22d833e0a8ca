/** Each item is tried out first. Once another person approves the list, the workers act on each row. */
import { randomBytes } from 'node:crypto';
import type { Session } from '../domain/callers.ts';
import type { Clock } from '../domain/clock.ts';
import { DomainError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import type { Money } from '../domain/money.ts';
import type { PageQuery } from '../domain/page.ts';
import type { JobEngine } from '../jobs/engine.ts';
import { MAX_JOB_ROWS } from '../jobs/rules.ts';
import { findJob, listJobs, listRows, noteRow, type Job, type JobRow } from '../jobs/store/jobs.ts';
import type { AccountsDb, WorldDb } from '../platform/database/tables.ts';
import type { RequestContext } from '../platform/telemetry/subject.ts';
import { detailOf, type OperatorActions } from './actions.ts';
import {
  mayRepair,
  nextAttemptMs,
  outcomeOfReplay,
  rolesForRepair,
  totalsOf,
  type BatchRepairAction,
} from './batch-repair-rules.ts';
import { requireAsker, requireRole, type Requirement } from './permissions.ts';
import { replay, type ReplayDeps } from './replay.ts';
import { REFUSAL_MESSAGES, type ActionOutcome } from './rules.ts';
import {
  askToStop,
  findTaken,
  insertBatchRepair,
  listDecisions,
  recordDecision,
  sumRepairs,
  type Decision,
  type NewBatchRepair,
  type PlannedRow,
} from './store/batch-repairs.ts';
import { findStuck, type StuckDeps } from './stuck.ts';
import type { StuckItem } from './stuck-rules.ts';

export interface BatchRepairDeps {
  readonly accounts: AccountsDb;
  readonly db: WorldDb;
  readonly clock: Clock;
  readonly stuck: StuckDeps;
  readonly actions: OperatorActions;
  readonly replayDeps: ReplayDeps;
  readonly jobEngine: JobEngine;
}

interface BatchRepairRequest extends Pick<NewBatchRepair, 'action' | 'filter' | 'reason' | 'by'> {
  /** At most this many items, the longest stuck first. */
  readonly maxRows: number;
  readonly evidence?: string | undefined;
  readonly repairKey?: string | undefined;
}

/** What an action would do with one item; `isPossible`: it becomes a row. `isSure`: no vendor decides. */
type PreviewedRow = PlannedRow & { readonly isPossible: boolean; readonly isSure: boolean };

/** Each is a transaction that is rolled back, on connections that other operators use as well. */
const TRIED_AT_ONCE = 4;

/**
 * A preview asks vendors about this many items, within this time: operators' checks have an eighth of the
 * supplier's allowance, and a person waits. The other items say that nobody was asked.
 */
const MAX_ASKED = 40;
const ASK_WITHIN_MS = 15_000;

const toRepair = (action: BatchRepairAction): Requirement => ({
  roles: rolesForRepair(action),
  subject: 'batch repairs',
  wanted: `repair by ${action}`,
});

/** The dry run. Nothing is written. FORBIDDEN as for askForBatchRepair. */
export async function previewBatchRepair(
  deps: BatchRepairDeps,
  session: Session,
  request: Omit<BatchRepairRequest, 'by' | 'reason'>,
  context: RequestContext,
) {
  const by = await requireRole(deps.accounts, session, toRepair(request.action), context);
  return planBatchRepair(deps, { ...request, by, reason: 'a dry run' });
}

/** FORBIDDEN, which is then recorded. VALIDATION_ERROR: nothing to repair, or the key was used before. */
export async function askForBatchRepair(
  deps: BatchRepairDeps,
  session: Session,
  request: Omit<BatchRepairRequest, 'by'>,
  context: RequestContext,
) {
  const by = await requireRole(deps.accounts, session, toRepair(request.action), context);
  const id = makeId('repair', randomBytes(16).toString('hex'));
  const { action, filter, reason, evidence = null, repairKey = id } = request;
  const planned = await planBatchRepair(deps, { ...request, by });
  const rows = planned.rows.filter((row) => row.isPossible);
  // A key that was used before returns the earlier batch repair, even if nothing is left to do.
  if (rows.length === 0 && request.repairKey === undefined) throw invalid(NOTHING_MATCHES);
  const repair = { id, repairKey, action, filter, reason, evidence, by, rows, now: deps.clock.now() };
  const inserted = await insertBatchRepair(deps.db, repair);
  if (inserted === 'in-another')
    throw invalid(
      rows.length === 0 ? NOTHING_MATCHES : 'filter: every item is part of another open batch repair',
    );
  if (inserted === 'inserted') return readBatchRepair(deps, id);
  if (!inserted.isSame) throw invalid('repairKey: was used for another batch repair');
  return readBatchRepair(deps, inserted.existing);
}

/** NOT_FOUND; FORBIDDEN for the asker, or if the asker may not do so any more; VALIDATION_ERROR. */
export async function decideBatchRepair(
  deps: BatchRepairDeps,
  { person: { email: by } }: Session,
  repairId: string,
  decision: Decision,
  reason: string,
) {
  if (decision === 'approve') {
    const { repair } = await readBatchRepair(deps, repairId);
    await requireAsker(deps.accounts, repair.by_person, (role) => mayRepair(role, repair.action));
  }
  const now = deps.clock.now();
  const outcome = await recordDecision(deps.db, repairId, decision, { by, reason, now });
  if (outcome === 'not-found') throw noSuchRepair();
  if (outcome === 'SAME_PERSON' || outcome === 'NOT_INDEPENDENT')
    throw new DomainError('FORBIDDEN', REFUSAL_MESSAGES[outcome]);
  if (outcome !== 'decided') throw invalid(REFUSAL_MESSAGES[outcome]);
  if (decision === 'approve') await deps.jobEngine.begin({ id: repairId, kind: 'repair', accountId: null });
  return readBatchRepair(deps, repairId);
}

/** What runs goes on; the rest is skipped. NOT_FOUND; VALIDATION_ERROR where it does not run. */
export async function stopBatchRepair(
  deps: BatchRepairDeps,
  { person }: Session,
  repairId: string,
  reason: string,
) {
  const who = { by: person.email, reason, now: deps.clock.now() };
  const isStopping = await askToStop(deps.db, repairId, who);
  const repair = await readBatchRepair(deps, repairId);
  if (!isStopping) throw invalid('this batch repair is not running');
  return repair;
}

export async function readBatchRepair({ db }: Pick<BatchRepairDeps, 'db'>, repairId: string) {
  const repair = await findJob(db, repairId, 'repair');
  if (!repair) throw noSuchRepair();
  const [rows, totals, decisions] = await Promise.all([
    listRows(db, repairId),
    sumRepairs(db, [repairId]),
    listDecisions(db, repairId),
  ]);
  return { repair, rows, decisions, totals: totals(repairId) };
}

export async function listBatchRepairs(
  { db }: Pick<BatchRepairDeps, 'db'>,
  { isOpen, ...page }: PageQuery & { readonly isOpen?: boolean | undefined },
) {
  const repairs = await listJobs(db, { kind: 'repair', isOpen }, page);
  const totals = await sumRepairs(
    db,
    repairs.items.map(({ id }) => id),
  );
  return { ...repairs, items: repairs.items.map((repair) => ({ repair, totals: totals(repair.id) })) };
}

const NOTHING_MATCHES = 'filter: nothing matches on which this action is possible';
const noSuchRepair = () => new DomainError('NOT_FOUND', 'No such batch repair');
const invalid = (details: string) => new DomainError('VALIDATION_ERROR', 'Invalid request', { details });

export const amountOfRow = ({ amount_minor: amountMinor, currency }: JobRow): Money | null =>
  amountMinor === null || currency === null ? null : { amountMinor, currency };

/** What it has moved: a row is done with the approved amount, or not at all. */
export const movedByRow = (row: JobRow): Money | null => (row.status === 'DONE' ? amountOfRow(row) : null);

/** Tries the action out on each item that the filter finds. Says of the others why it is not possible. */
async function planBatchRepair(deps: BatchRepairDeps, request: BatchRepairRequest) {
  const { class: stuckClass, ...filter } = request.filter;
  const classes = stuckClass === undefined ? undefined : [stuckClass];
  const { items, isCut, temporalAsked } = await findStuck(deps.stuck, { classes, ...filter });
  // An item may be on the list under several classes.
  const found = [
    ...new Map(items.toReversed().map((item) => [item.transactionId, item])).values(),
  ].toReversed();
  const wanted = found.slice(0, Math.min(request.maxRows, MAX_JOB_ROWS));
  const taken = await findTaken(
    deps.db,
    wanted.map((item) => item.transactionId),
  );
  const rows: PreviewedRow[] = [];
  const left = wanted.entries();
  const [askUntilMs, toAsk] = [performance.now() + ASK_WITHIN_MS, wanted.slice(0, MAX_ASKED).values()];
  const isToAsk = () => performance.now() < askUntilMs && toAsk.next().done !== true;
  const tryNext = async (): Promise<void> => {
    for (const [index, item] of left) rows[index] = await previewRow(deps, request, item, { taken, isToAsk });
  };
  await Promise.all(Array.from({ length: TRIED_AT_ONCE }, tryNext));
  const totals = totalsOf(rows.filter((row) => row.isPossible).map((row) => row.amount));
  return { rows, totals, matches: found.length, isCut, temporalAsked };
}

async function previewRow(
  { actions, replayDeps }: BatchRepairDeps,
  { action, by, reason, evidence }: BatchRepairRequest,
  { transactionId, class: stuckClass }: StuckItem,
  { taken, isToAsk }: { readonly taken: ReadonlyMap<string, string>; readonly isToAsk: () => boolean },
): Promise<PreviewedRow> {
  const row = { transactionId, class: stuckClass, amount: null, isPossible: false, isSure: false };
  const other = taken.get(transactionId);
  if (other !== undefined) return { ...row, preview: `is part of ${other}` };
  if (action === 'replay') {
    const replayed = await replay(replayDeps, transactionId, { by, reason, isDryRun: true });
    if (!replayed) return { ...row, preview: 'there is no such purchase, event or message' };
    const steps = replayed.steps.filter((step) => step.outcome === 'would-do');
    return {
      ...row,
      isPossible: steps.length > 0,
      isSure: steps.length > 0,
      preview:
        steps.length > 0
          ? steps.map(({ step }) => step).join(', ')
          : outcomeOfReplay(replayed).detail || 'no step can be retried',
    };
  }
  const seen = await actions.previewEffect({ transactionId, action, by, reason, evidence }, isToAsk);
  if (seen.outcome === 'would-do')
    return { ...row, isPossible: true, isSure: seen.isSure, amount: seen.amount, preview: seen.did };
  return { ...row, preview: `${PREVIEWED[seen.outcome]}${detailOf(seen)}` };
}

/** Before what became of the same action. */
const PREVIEWED = {
  refused: '',
  done: 'was done before: ',
  'waits-for-approval': 'awaits approval already: ',
} as const;

/** What is needed to take the action on one row. */
export type RowRepairDeps = Pick<BatchRepairDeps, 'db' | 'clock' | 'actions' | 'replayDeps'>;

/** Takes the action on one row. May run twice: an action with the same terms is taken once. */
export async function repairRow(
  deps: RowRepairDeps,
  repair: Pick<Job, 'id' | 'action' | 'by_person' | 'decided_by' | 'reason' | 'evidence'>,
  row: JobRow,
): Promise<void> {
  const { status, detail } = await takeAction(deps, repair, row);
  const now = deps.clock.now();
  const againMs = status === 'UNKNOWN' ? nextAttemptMs(row.attempts + 1) : undefined;
  const end =
    againMs === undefined ? { status, detail } : { nextAt: new Date(now.getTime() + againMs), detail };
  await noteRow(deps.db, row, end, now);
}

interface RowOutcome {
  readonly status: 'DONE' | 'REFUSED' | 'UNKNOWN';
  readonly detail: string;
}

async function takeAction(
  { actions, replayDeps }: RowRepairDeps,
  { id, action, by_person: by, decided_by: approver, reason: why, evidence }: Parameters<typeof repairRow>[1],
  row: JobRow,
): Promise<RowOutcome> {
  const { transaction_id: transactionId } = row;
  const reason = `${why} (${id})`;
  if (approver === null) return { status: 'REFUSED', detail: REFUSAL_MESSAGES.NOT_ASKED };
  if (action === 'replay') return takeReplay(replayDeps, { transactionId, preview: row.preview, by, reason });
  // What the second person saw, and nothing else.
  const amount = amountOfRow(row);
  const made = await actions.perform({
    transactionId,
    action: action,
    by,
    approver,
    reason,
    evidence: evidence ?? undefined,
    amount: amount ?? undefined,
    movesNoMoney: amount === null,
  });
  return rowOutcome(await approveIfWaiting(actions, made, approver));
}

/** Takes what is possible now. One above a limit keeps waiting: the second person saw no amount. */
async function takeReplay(
  replayDeps: ReplayDeps,
  {
    transactionId,
    preview,
    by,
    reason,
  }: Readonly<Record<'transactionId' | 'preview' | 'by' | 'reason', string>>,
): Promise<RowOutcome> {
  // Ending a purchase gives money back: only where the second person saw it.
  const mayCancel = preview.split(', ').includes('cancel');
  const replayed = await replay(replayDeps, transactionId, { by, reason, isDryRun: false, mayCancel });
  if (!replayed) return { status: 'REFUSED', detail: REFUSAL_MESSAGES.NOT_FOUND };
  const { outcome, detail } = outcomeOfReplay(replayed);
  const status = STATUS_OF_REPLAY[outcome];
  return { status, detail: detail === '' ? 'nothing was left to do' : detail };
}

const STATUS_OF_REPLAY = {
  refused: 'REFUSED',
  'waits-for-approval': 'REFUSED',
  unknown: 'UNKNOWN',
  'would-do': 'UNKNOWN',
  done: 'DONE',
  'nothing-to-do': 'DONE',
} as const;

const approveIfWaiting = (
  actions: OperatorActions,
  made: ActionOutcome,
  approver: string,
): ActionOutcome | Promise<ActionOutcome> =>
  made.outcome === 'waits-for-approval' ? actions.approve(made.actionId, approver) : made;

const STATUS_OF_OUTCOME = {
  done: 'DONE',
  refused: 'REFUSED',
  unknown: 'UNKNOWN',
  'waits-for-approval': 'UNKNOWN',
} as const;

const rowOutcome = (made: ActionOutcome): RowOutcome => ({
  status: STATUS_OF_OUTCOME[made.outcome],
  detail: `${made.outcome === 'waits-for-approval' ? 'awaits approval: ' : ''}${detailOf(made)}`,
});
