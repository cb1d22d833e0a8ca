import { DomainError } from '../../domain/errors.ts';
import type { ActionOutcome } from '../../operations/rules.ts';
import type { DifferenceKind, ReconcileSummary } from '../../reconciliation/payment-rules.ts';
import { mayPerform, rolesFor, type Role } from '../../accounts/roles.ts';
import { findPerson } from '../../accounts/store/people.ts';
import type { StuckItem } from '../../operations/stuck-rules.ts';
import { mayRepair, rolesForRepair, type BatchRepairAction } from '../../operations/batch-repair-rules.ts';
import type { BatchRepairRequest } from '../../operations/batch-repairs.ts';
import type { EffectPreview } from '../../operations/store/actions.ts';
import type { Decision } from '../../operations/store/batch-repairs.ts';
import type { AccountsDb } from '../database/tables.ts';
import type { ActionInput } from '../../operations/actions.ts';
import {
  listAccountEndpoints,
  listAccountKeys,
  listAccountMembers,
  listUndeliveredMessages,
} from '../../operations/account-access.ts';
import {
  changeAccount,
  listAccounts,
  listAccountTransactions,
  readAccount,
  type AccountDeps,
} from '../../operations/accounts.ts';
import { readAuditLog, type AuditQuery } from '../../operations/audit-log.ts';
import { search } from '../../operations/search.ts';
import { createOverview } from '../../reconciliation/overview.ts';
import { bindAll, guardAll } from './bind.ts';
import type { FinanceWorld } from './finance.ts';
import { inTime } from '../circuit-breaker.ts';
import { purchaseTimeline, type Timeline } from '../../operations/timeline.ts';
import { dismiss, replay, type Replayed } from '../../operations/replay.ts';
import type { ListedDifference } from '../../reconciliation/reconcile.ts';
import { findStuck, type StuckFilter } from '../../operations/stuck.ts';
import type { Page, PageQuery } from '../../domain/page.ts';
import { EngineUnavailable } from '../../domain/outcome.ts';
import { refusePerson, type Session } from '../../accounts/sessions.ts';
import { pricingUseCases } from '../../catalogue/operator-pricing.ts';
import type { RateDeps } from '../../catalogue/rates.ts';
import type { RequestContext } from '../telemetry/subject.ts';

export interface StuckPage extends Page<StuckItem> {
  /** The list is longer than what is shown. */
  readonly isCut: boolean;
  /** false: `workflow-gone` is left out, and nothing else. */
  readonly temporalAsked: boolean;
}

type DifferenceQuery = PageQuery & {
  /** One difference, also a closed one. */
  readonly id?: bigint | undefined;
  readonly kind?: DifferenceKind | undefined;
  readonly currency?: string | undefined;
  readonly transactionId?: string | undefined;
};

/** An action of the signed-in person. */
export type RequestedAction = Omit<ActionInput, 'by'>;

type OpsWorldDeps = Pick<
  FinanceWorld,
  'db' | 'clock' | 'stuck' | 'actions' | 'batchRepairs' | 'replayDeps' | 'differences' | 'books' | 'reconcile'
> & {
  readonly accounts: AccountsDb;
  readonly environment: AccountDeps['environment'];
  readonly configuredRates?: RateDeps['configuredRates'];
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
  const overview = createOverview(deps);
  return {
    ...bindAll(deps, {
      listStuck,
      readTimeline,
      listActions,
      makeAction,
      previewAction,
      replay: replayPurchase,
      dismissEvent,
      listDifferences,
      closeDifference,
      reconcile,
      previewApproval,
      approveAction,
      declineAction: ({ actions }, { person }: Session, moveId: string, reason?: string) =>
        actions.decline(moveId, person.email, reason),
      planBatchRepair,
      askForBatchRepair,
      decideBatchRepair,
      stopBatchRepair: ({ batchRepairs }, { person }: Session, repairId: string, reason: string) =>
        batchRepairs.stop(repairId, { by: person.email, reason }),
      ...pricingUseCases,
      readOverview: (_deps, { person }: Session) => overview(person.role),
      readAudit: ({ accounts, stuck: { db } }, query: AuditQuery) => readAuditLog({ accounts, db }, query),
      listAccounts,
      readAccount,
      listAccountTransactions,
      listAccountMembers,
      listAccountKeys,
      listAccountEndpoints,
      listUndeliveredMessages,
      changeAccount,
      search: (own, { person }: Session, text: string) => search(own, text, person.role),
    }),
    ...guardAll({
      listWaitingActions: deps.actions.pendingApprovals,
      readBatchRepair: deps.batchRepairs.read,
      listBatchRepairs: deps.batchRepairs.list,
      readTrialBalance: deps.books.trialBalance,
      readDaily: deps.books.daily,
      readByMerchant: deps.books.byMerchant,
      readWaiting: deps.books.waiting,
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
async function listActions({ actions }: OpsWorldDeps, transactionId: string) {
  const preview = (await actions.preview(transactionId)) ?? notFound();
  return { preview, made: await actions.listFor(transactionId) };
}

/** FORBIDDEN where the role may not take this action; that is then on record. */
async function makeAction(
  deps: OpsWorldDeps,
  session: Session,
  request: RequestedAction,
  context: RequestContext,
): Promise<ActionOutcome> {
  const by = await requireActor(deps, session, request, context);
  return deps.actions.perform({ ...request, by });
}

/** What the action would do now. FORBIDDEN as for the action itself. */
async function previewAction(
  deps: OpsWorldDeps,
  session: Session,
  request: RequestedAction,
  context: RequestContext,
): Promise<EffectPreview> {
  const by = await requireActor(deps, session, request, context);
  return deps.actions.previewEffect({ ...request, by });
}

async function requireActor(
  { accounts }: OpsWorldDeps,
  session: Session,
  request: RequestedAction,
  { requestId }: RequestContext,
): Promise<string> {
  const { role, email } = session.person;
  if (!mayPerform(role, request.move)) {
    await refusePerson(accounts, session, {
      subject: request.transactionId,
      requestId,
      wanted: `perform ${request.move} (requires ${rolesFor(request.move).join(' or ')})`,
    });
  }
  return email;
}

type RequestedRepair = Omit<BatchRepairRequest, 'by'>;

/** FORBIDDEN as for the ask itself. */
async function planBatchRepair(
  deps: OpsWorldDeps,
  session: Session,
  request: Omit<RequestedRepair, 'reason'>,
  context: RequestContext,
) {
  const by = await requireRepairer(deps, session, request.action, context);
  return deps.batchRepairs.plan({ ...request, by, reason: 'a dry run' });
}

/** FORBIDDEN where the role may not take this action; that is then on record. VALIDATION_ERROR. */
async function askForBatchRepair(
  deps: OpsWorldDeps,
  session: Session,
  request: RequestedRepair & { readonly repairKey?: string | undefined },
  context: RequestContext,
) {
  const by = await requireRepairer(deps, session, request.action, context);
  return deps.batchRepairs.ask({ ...request, by });
}

/** Throws NOT_FOUND; FORBIDDEN also if the person who asked lacks the permission by now. */
async function decideBatchRepair(
  { accounts, batchRepairs }: OpsWorldDeps,
  { person }: Session,
  repairId: string,
  decision: Decision,
  reason: string,
) {
  if (decision === 'approve') {
    const { repair } = await batchRepairs.read(repairId);
    await requireAsker(accounts, repair.by_person, (role) => mayRepair(role, repair.action));
  }
  return batchRepairs.decide(repairId, decision, { by: person.email, reason });
}

/** What the approval would do now. Throws NOT_FOUND if the action does not wait. */
async function previewApproval({ actions }: OpsWorldDeps, moveId: string): Promise<EffectPreview> {
  const effect = await actions.previewApproval(moveId);
  if (!effect) throw new DomainError('NOT_FOUND', 'There is no such action that waits for approval');
  return effect;
}

/** Throws FORBIDDEN if the person who asked lacks the permission by now. */
async function approveAction(
  { accounts, actions }: OpsWorldDeps,
  { person }: Session,
  moveId: string,
  reason?: string,
) {
  const waiting = (await actions.pendingApprovals()).find((action) => action.moveId === moveId);
  if (waiting) await requireAsker(accounts, waiting.by, (role) => mayPerform(role, waiting.move));
  return actions.approve(moveId, person.email, reason);
}

/** A name from the command line need not be a known person: its user has access to the database anyway. */
async function requireAsker(
  accounts: AccountsDb,
  email: string,
  mayStill: (role: Role) => boolean,
): Promise<void> {
  const asker = await findPerson(accounts, { email: email.toLowerCase() });
  if (asker && (asker.disabled_at !== null || !mayStill(asker.role)))
    throw new DomainError('FORBIDDEN', `${email}, who asked for it, may not do so any more: decline it`);
}

async function requireRepairer(
  { accounts }: OpsWorldDeps,
  session: Session,
  action: BatchRepairAction,
  { requestId }: RequestContext,
): Promise<string> {
  const { role, email } = session.person;
  if (!mayRepair(role, action)) {
    await refusePerson(accounts, session, {
      subject: 'batch repairs',
      requestId,
      wanted: `repair by ${action} (requires ${rolesForRepair(action).join(' or ')})`,
    });
  }
  return email;
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
    throw new DomainError('NOT_FOUND', 'No unmatched gateway event has this id');
}

/** Open ones, oldest first; or the one with this id. */
async function listDifferences(
  { differences }: OpsWorldDeps,
  { page, limit, id, kind, currency, transactionId }: DifferenceQuery,
): Promise<Page<ListedDifference>> {
  if (id !== undefined) {
    const found = await differences.find(id);
    return pageOf(found ? [found] : [], { page, limit });
  }
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
