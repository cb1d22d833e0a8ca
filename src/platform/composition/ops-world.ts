import { DomainError } from '../../domain/errors.ts';
import type { ActionOutcome } from '../../operations/rules.ts';
import type { DifferenceKind, ReconcileSummary } from '../../reconciliation/payment-rules.ts';
import { mayPerform, rolesFor } from '../../accounts/roles.ts';
import type { StuckItem } from '../../operations/stuck-rules.ts';
import type { AccountsDb } from '../database/tables.ts';
import type { ActionInput } from '../../operations/actions.ts';
import { bindAll } from './bind.ts';
import type { FinanceWorld } from './finance.ts';
import { inTime } from '../circuit-breaker.ts';
import { purchaseTimeline, type Timeline } from '../../operations/timeline.ts';
import { dismiss, replay, type Replayed } from '../../operations/replay.ts';
import type { OpenDifference } from '../../reconciliation/reconcile.ts';
import type { Slice } from '../../reconciliation/store/lines.ts';
import { findStuck, type StuckFilter } from '../../operations/stuck.ts';
import type { Page } from '../../domain/page.ts';
import { EngineUnavailable } from '../../domain/outcome.ts';
import { refusePerson, type Session } from '../../accounts/sessions.ts';
import type { RequestContext } from '../telemetry/subject.ts';

interface PageQuery {
  readonly page: number;
  readonly limit: number;
}

export interface StuckPage extends Page<StuckItem> {
  /** The list is longer than what is shown. */
  readonly isCut: boolean;
  /** false: `workflow-gone` is left out, and nothing else. */
  readonly temporalAsked: boolean;
}

type DifferenceQuery = PageQuery & {
  readonly kind?: DifferenceKind | undefined;
  readonly currency?: string | undefined;
  readonly transactionId?: string | undefined;
};

/** An action of the signed-in person. */
export type RequestedAction = Omit<ActionInput, 'by'>;

type OpsWorldDeps = Pick<
  FinanceWorld,
  'stuck' | 'actions' | 'replayDeps' | 'differences' | 'books' | 'reconcile'
> & {
  readonly accounts: AccountsDb;
  /** How long a caller waits for a run. */
  readonly reconcileWithinMs?: number;
};

/** As long as a buyer waits for a purchase. */
const RECONCILE_WITHIN_MS = 8_000;

/** More than people close by hand. */
const MOST_DIFFERENCES = 10_000;

/** What operators may do in one world. All of it throws DomainError. */
export type OpsWorld = ReturnType<typeof createOpsWorld>;

export function createOpsWorld(deps: OpsWorldDeps) {
  return {
    ...bindAll(deps, {
      listStuck,
      readTimeline,
      listMoves,
      makeMove,
      replay: replayPurchase,
      dismissEvent,
      listDifferences,
      closeDifference,
      reconcile,
      listWaitingMoves: ({ actions }) => actions.pendingApprovals(),
      approveMove: ({ actions }, { person }: Session, moveId: string) =>
        actions.approve(moveId, person.email),
      declineMove: ({ actions }, { person }: Session, moveId: string) =>
        actions.decline(moveId, person.email),
      readTrialBalance: ({ books }) => books.trialBalance(),
      readDaily: ({ books }, range: Slice) => books.daily(range),
      readByMerchant: ({ books }, range: Slice) => books.byMerchant(range),
      readWaiting: ({ books }) => books.waiting(),
    }),
    toCsv: deps.books.toCsv,
  };
}

async function listStuck(
  { stuck }: OpsWorldDeps,
  { page, limit, ...filter }: PageQuery & Omit<StuckFilter, 'transactionId'>,
): Promise<StuckPage> {
  const { items, isCut, temporalAsked } = await findStuck(stuck, filter);
  return { ...pageOf(items, { page, limit }), isCut, temporalAsked };
}

/** By our id or anything that leads to it. TRANSACTION_NOT_FOUND. */
async function readTimeline({ stuck, actions }: OpsWorldDeps, id: string): Promise<Timeline> {
  return (await purchaseTimeline({ ...stuck, actions }, id)) ?? notFound();
}

/** TRANSACTION_NOT_FOUND. */
async function listMoves({ actions }: OpsWorldDeps, transactionId: string) {
  const preview = (await actions.preview(transactionId)) ?? notFound();
  return { preview, made: await actions.listFor(transactionId) };
}

/** FORBIDDEN where the role may not take this action; that is then on record. */
async function makeMove(
  { accounts, actions }: OpsWorldDeps,
  session: Session,
  request: RequestedAction,
  { requestId }: RequestContext,
): Promise<ActionOutcome> {
  const { role, email } = session.person;
  if (!mayPerform(role, request.move)) {
    await refusePerson(accounts, session, {
      subject: request.transactionId,
      requestId,
      wanted: `perform ${request.move} (requires ${rolesFor(request.move).join(' or ')})`,
    });
  }
  return actions.perform({ ...request, by: email });
}

/** Takes every id of the stuck list. TRANSACTION_NOT_FOUND. */
async function replayPurchase(
  { replayDeps }: OpsWorldDeps,
  { person }: Session,
  id: string,
  { reason, dryRun }: { readonly reason: string; readonly dryRun: boolean },
): Promise<Replayed> {
  return (await replay(replayDeps, id, { by: person.email, reason, isDryRun: dryRun })) ?? notFound();
}

/** NOT_FOUND where the event has a payment here, or was dismissed before. */
async function dismissEvent(
  { replayDeps }: OpsWorldDeps,
  { person }: Session,
  id: string,
  reason: string,
): Promise<void> {
  if (!(await dismiss(replayDeps, id, { by: person.email, reason })))
    throw new DomainError('NOT_FOUND', 'There is no such event about no payment of ours');
}

/** Open ones, oldest first. */
async function listDifferences(
  { differences }: OpsWorldDeps,
  { page, limit, kind, currency, transactionId }: DifferenceQuery,
): Promise<Page<OpenDifference>> {
  const kinds = kind === undefined ? undefined : [kind];
  const open = await differences.listOpen({ kinds, currency, transactionId, limit: MOST_DIFFERENCES });
  return pageOf(open, { page, limit });
}

/** NOT_FOUND; VALIDATION_ERROR where it is closed already. */
async function closeDifference(
  { differences }: OpsWorldDeps,
  { person }: Session,
  id: bigint,
  reason: string,
): Promise<void> {
  const closed = await differences.close(id, person.email, reason);
  if (closed.outcome === 'done') return;
  if (closed.code === 'NOT_FOUND') throw new DomainError('NOT_FOUND', 'There is no such difference');
  throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: CLOSE_REFUSALS[closed.code] });
}

const CLOSE_REFUSALS = {
  ALREADY_CLOSED: 'the difference is closed already',
  PERSON_NEEDED: 'who closes it is needed',
  REASON_NEEDED: 'reason: must have 3 to 500 characters',
} as const;

/** Waits a while for the run's end. null: nothing to compare yet. SERVICE_UNAVAILABLE where it ended unfinished. */
async function reconcile(
  { reconcile: compare, reconcileWithinMs = RECONCILE_WITHIN_MS }: OpsWorldDeps,
  { person }: Session,
  range: { readonly from: Date; readonly to: Date } | undefined,
): Promise<ReconcileSummary | 'running' | null> {
  const run = compare({ askedBy: person.email, range });
  try {
    // The run goes on without the caller: Temporal and the list of differences show how it ends.
    const compared = await inTime(run, reconcileWithinMs);
    return compared.late ? 'running' : compared.value;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message =
      error instanceof EngineUnavailable
        ? 'Reconciliation is not available right now'
        : `The run ended unfinished: ${why}`;
    const refusal = new DomainError('SERVICE_UNAVAILABLE', message);
    refusal.cause = error;
    throw refusal;
  }
}

function pageOf<T>(all: readonly T[], { page, limit }: PageQuery): Page<T> {
  const start = (page - 1) * limit;
  return { items: all.slice(start, start + limit), total: all.length, page, limit };
}

function notFound(): never {
  throw new DomainError('TRANSACTION_NOT_FOUND', 'There is no such purchase or funding');
}
