/**
 * What operators may do in one world: the stuck list, a purchase's story, moves, differences and the books, each as the command line has it,
 * with the signed-in person in place of a name that is typed. Which moves their role may make is checked here. Thin: nothing is decided twice.
 */
import { DomainError } from '../../domain/errors.ts';
import type { ActionOutcome } from '../../operations/rules.ts';
import type { DifferenceKind, ReconcileSummary } from '../../reconciliation/payment-rules.ts';
import { mayMove, rolesThatMove } from '../../accounts/roles.ts';
import type { StuckItem } from '../../operations/stuck-rules.ts';
import type { ReconcileEngine } from '../../reconciliation/engine.ts';
import type { AccountsDb } from '../database/tables.ts';
import type { ByMerchant, Daily, TrialBalance, Waiting } from '../../reconciliation/books-rules.ts';
import type { Books, BooksRange } from '../../reconciliation/books.ts';
import type { ActionPreview, ActionRecord, MoveRequest, OperatorActions } from '../../operations/actions.ts';
import { inTime } from '../circuit-breaker.ts';
import { purchaseTimeline, type Timeline } from '../../operations/timeline.ts';
import { dismiss, replay, type ReplayDeps, type Replayed } from '../../operations/replay.ts';
import type { Differences, OpenDifference } from '../../reconciliation/reconcile.ts';
import { findStuck, type StuckDeps, type StuckFilter } from '../../operations/stuck.ts';
import type { Page } from '../../domain/page.ts';
import { EngineUnavailable } from '../../domain/outcome.ts';
import { refusePerson, type Session } from '../../accounts/sessions.ts';
import type { RequestContext } from '../telemetry/subject.ts';

interface PageQuery {
  readonly page: number;
  readonly limit: number;
}

export interface StuckPage extends Page<StuckItem> {
  /** There is more than the whole list holds. */
  readonly isCut: boolean;
  /** Without it `workflow-gone` is left out, and nothing else. */
  readonly temporalAsked: boolean;
}

export type DifferenceQuery = PageQuery & {
  readonly kind?: DifferenceKind;
  readonly currency?: string;
  readonly transactionId?: string;
};

/** A move by whoever is signed in. */
export type RequestedAction = Omit<MoveRequest, 'by'>;

export interface OpsWorld {
  listStuck(query: PageQuery & Omit<StuckFilter, 'transactionId'>): Promise<StuckPage>;
  /** By our id or anything that leads to it. TRANSACTION_NOT_FOUND. */
  tellStory(id: string): Promise<Timeline>;
  /** TRANSACTION_NOT_FOUND. */
  listMoves(
    transactionId: string,
  ): Promise<{ readonly preview: ActionPreview; readonly made: readonly ActionRecord[] }>;
  /** FORBIDDEN where the role may not make this move, which is on record then. */
  makeMove(session: Session, move: RequestedAction, context: RequestContext): Promise<ActionOutcome>;
  /** Oldest first. */
  listWaitingMoves(): Promise<readonly ActionRecord[]>;
  approveMove(session: Session, moveId: string): Promise<ActionOutcome>;
  declineMove(session: Session, moveId: string): Promise<ActionOutcome>;
  /** Whatever the stuck list names. TRANSACTION_NOT_FOUND. */
  replay(
    session: Session,
    id: string,
    wish: { readonly reason: string; readonly dryRun: boolean },
  ): Promise<Replayed>;
  /** NOT_FOUND where it is no event about no payment of ours, or was dismissed before. */
  dismissEvent(session: Session, id: string, reason: string): Promise<void>;
  /** Open ones, oldest first. */
  listDifferences(query: DifferenceQuery): Promise<Page<OpenDifference>>;
  /** NOT_FOUND; VALIDATION_ERROR where it is closed already. */
  closeDifference(session: Session, id: bigint, reason: string): Promise<void>;
  /** Waits a while for the run's end; null: nothing has happened that could be compared. SERVICE_UNAVAILABLE where it ended unfinished. */
  reconcile(
    session: Session,
    range: { readonly from: Date; readonly to: Date } | undefined,
  ): Promise<ReconcileSummary | 'running' | null>;
  readTrialBalance(): Promise<TrialBalance>;
  readDaily(range: BooksRange): Promise<Daily>;
  readByMerchant(range: BooksRange): Promise<ByMerchant>;
  readWaiting(): Promise<Waiting>;
  toCsv: Books['toCsv'];
}

export interface OpsWorldDeps {
  readonly accounts: AccountsDb;
  readonly stuck: StuckDeps;
  readonly moves: OperatorActions;
  readonly care: ReplayDeps;
  readonly differences: Differences;
  readonly books: Books;
  readonly reconcile: ReconcileEngine['reconcile'];
  /** How long somebody is kept waiting for a run. */
  readonly reconcileWithinMs?: number;
}

/** As long as a buyer is kept waiting for a purchase. */
const RECONCILE_WITHIN_MS = 8_000;

/** More differences than anybody closes by hand. */
const MOST_DIFFERENCES = 10_000;

export function createOpsWorld(deps: OpsWorldDeps): OpsWorld {
  const { stuck, moves, care, differences, books } = deps;
  return {
    listStuck: async ({ page, limit, ...filter }) => {
      const { items, isCut, temporalAsked } = await findStuck(stuck, filter);
      return { ...pageOf(items, { page, limit }), isCut, temporalAsked };
    },
    tellStory: async (id) => (await purchaseTimeline({ ...stuck, moves }, id)) ?? notFound(),
    listMoves: async (transactionId) => {
      const preview = await moves.preview(transactionId);
      if (!preview) return notFound();
      return { preview, made: await moves.listFor(transactionId) };
    },
    makeMove: (session, move, context) => makeMove(deps, session, move, context),
    listWaitingMoves: () => moves.pendingApprovals(),
    approveMove: (session, moveId) => moves.approve(moveId, session.person.email),
    declineMove: (session, moveId) => moves.decline(moveId, session.person.email),
    replay: async ({ person }, id, { reason, dryRun }) =>
      (await replay(care, id, { by: person.email, reason, isDryRun: dryRun })) ?? notFound(),
    dismissEvent: async ({ person }, id, reason) => {
      if (!(await dismiss(care, id, { by: person.email, reason })))
        throw new DomainError('NOT_FOUND', 'There is no such event about no payment of ours');
    },
    listDifferences: async ({ page, limit, kind, ...filter }) => {
      const kinds = kind === undefined ? {} : { kinds: [kind] };
      const open = await differences.listOpen({ ...filter, ...kinds, limit: MOST_DIFFERENCES });
      return pageOf(open, { page, limit });
    },
    closeDifference: async (session, id, reason) => {
      const closed = await differences.close(id, session.person.email, reason);
      if (closed.outcome === 'done') return;
      if (closed.code === 'NOT_FOUND') throw new DomainError('NOT_FOUND', 'There is no such difference');
      throw new DomainError('VALIDATION_ERROR', 'Invalid request', { details: CLOSE_REFUSALS[closed.code] });
    },
    reconcile: (session, range) => reconcile(deps, session, range),
    readTrialBalance: () => books.trialBalance(),
    readDaily: (range) => books.daily(range),
    readByMerchant: (range) => books.byMerchant(range),
    readWaiting: () => books.waiting(),
    toCsv: (report) => books.toCsv(report),
  };
}

const CLOSE_REFUSALS = {
  ALREADY_CLOSED: 'the difference is closed already',
  PERSON_NEEDED: 'who closes it is needed',
  REASON_NEEDED: 'reason: must have 3 to 500 characters',
} as const;

async function makeMove(
  { accounts, moves }: OpsWorldDeps,
  session: Session,
  move: RequestedAction,
  { requestId }: RequestContext,
): Promise<ActionOutcome> {
  const { role, email } = session.person;
  if (!mayMove(role, move.move)) {
    await refusePerson(accounts, session, {
      subject: move.transactionId,
      requestId,
      wanted: `make the move ${move.move} (that takes ${rolesThatMove(move.move).join(' or ')})`,
    });
  }
  return moves.make({ ...move, by: email });
}

async function reconcile(
  { reconcile: compare, reconcileWithinMs = RECONCILE_WITHIN_MS }: OpsWorldDeps,
  { person }: Session,
  range: { readonly from: Date; readonly to: Date } | undefined,
): Promise<ReconcileSummary | 'running' | null> {
  const run = compare({ askedBy: person.email, ...(range ? { range } : {}) });
  try {
    // How it ends after that is told by Temporal, and by the differences it finds.
    const compared = await inTime(run, reconcileWithinMs);
    return compared.late ? 'running' : compared.value;
  } catch (error) {
    const isAway = error instanceof EngineUnavailable;
    const why = error instanceof Error ? error.message : String(error);
    const refusal = new DomainError(
      'SERVICE_UNAVAILABLE',
      isAway ? 'Nobody can be asked to compare right now' : `The run ended unfinished: ${why}`,
    );
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
