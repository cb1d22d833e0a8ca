/** What people who have signed in do with purchases and accounts. Each refusal is a DomainError. */
import type { Bound } from '../platform/bind.ts';
import type { Session } from '../domain/callers.ts';
import { mayPerform, rolesFor } from '../accounts/operators/action-table.ts';
import { type Role } from '../domain/operator-roles.ts';
import { refusePerson } from '../accounts/operators/sessions.ts';
import { findPerson } from '../accounts/store/people.ts';
import { DomainError } from '../domain/errors.ts';
import { pageOf, type Page, type PageQuery } from '../domain/page.ts';
import type { AccountsDb } from '../platform/database/tables.ts';
import type { RequestContext } from '../platform/telemetry/subject.ts';
import {
  listAccountEndpoints,
  listAccountKeys,
  listAccountMembers,
  listUndeliveredMessages,
} from './account-access.ts';
import {
  changeAccount,
  listAccounts,
  listAccountTransactions,
  readAccount,
  type AccountDeps,
} from './accounts.ts';
import type { ActionInput, OperatorActions } from './actions.ts';
import { readAuditLog, type AuditQuery } from './audit-log.ts';
import { mayRepair, rolesForRepair, type BatchRepairAction } from './batch-repair-rules.ts';
import type { BatchRepairRequest, BatchRepairs } from './batch-repairs.ts';
import { dismiss, replay, type Replayed, type ReplayDeps } from './replay.ts';
import type { ActionOutcome } from './rules.ts';
import { search } from './search.ts';
import type { EffectPreview } from './store/actions.ts';
import type { Decision } from './store/batch-repairs.ts';
import type { StuckItem, StuckFilter } from './stuck-rules.ts';
import { findStuck } from './stuck.ts';
import { purchaseTimeline, type Timeline } from './timeline.ts';

export interface StuckPage extends Page<StuckItem> {
  /** The list is longer than what is shown. */
  readonly isCut: boolean;
  /** false: Temporal did not answer, so items of `workflow-gone` are missing. All others are there. */
  readonly temporalAsked: boolean;
}

interface OperatorDeps extends AccountDeps {
  readonly actions: OperatorActions;
  readonly batchRepairs: BatchRepairs;
  readonly replayDeps: ReplayDeps;
}

type RequestedAction = Omit<ActionInput, 'by'>;
type RequestedRepair = Omit<BatchRepairRequest, 'by'>;

/** Bound to their dependencies in app/composition. */
export const operatorUseCases = {
  listStuck,
  readTimeline,
  listActions,
  makeAction,
  previewAction,
  listWaitingActions: ({ actions }: OperatorDeps) => actions.pendingApprovals(),
  previewApproval,
  approveAction,
  declineAction: ({ actions }: OperatorDeps, { person }: Session, actionId: string, reason?: string) =>
    actions.decline(actionId, person.email, reason),
  replay: replayPurchase,
  dismissEvent,
  planBatchRepair,
  askForBatchRepair,
  decideBatchRepair,
  stopBatchRepair: ({ batchRepairs }: OperatorDeps, { person }: Session, repairId: string, reason: string) =>
    batchRepairs.stop(repairId, { by: person.email, reason }),
  readBatchRepair: ({ batchRepairs }: OperatorDeps, repairId: string) => batchRepairs.read(repairId),
  listBatchRepairs: ({ batchRepairs }: OperatorDeps, query: Parameters<BatchRepairs['list']>[0]) =>
    batchRepairs.list(query),
  listAccounts,
  readAccount,
  listAccountTransactions,
  listAccountMembers,
  listAccountKeys,
  listAccountEndpoints,
  listUndeliveredMessages,
  changeAccount,
  readAudit: ({ accounts, stuck: { db } }: OperatorDeps, query: AuditQuery) =>
    readAuditLog({ accounts, db }, query),
  search: (deps: OperatorDeps, { person }: Session, text: string) => search(deps, text, person.role),
};

export type OperatorCases = Bound<typeof operatorUseCases>;

async function listStuck(
  { stuck }: OperatorDeps,
  { page, limit, ...filter }: PageQuery & Omit<StuckFilter, 'transactionId'>,
): Promise<StuckPage> {
  const { items, isCut, temporalAsked } = await findStuck(stuck, filter);
  return { ...pageOf(items, { page, limit }), isCut, temporalAsked };
}

/** By our id or anything that leads to it. TRANSACTION_NOT_FOUND. */
async function readTimeline({ stuck, actions }: OperatorDeps, id: string): Promise<Timeline> {
  return (await purchaseTimeline({ ...stuck, actions }, id)) ?? notFound();
}

/** TRANSACTION_NOT_FOUND. */
async function listActions({ actions }: OperatorDeps, transactionId: string) {
  const preview = (await actions.preview(transactionId)) ?? notFound();
  return { preview, made: await actions.listFor(transactionId) };
}

/** FORBIDDEN where the role may not take this action; that is then on record. */
async function makeAction(
  deps: OperatorDeps,
  session: Session,
  request: RequestedAction,
  context: RequestContext,
): Promise<ActionOutcome> {
  const by = await requireRole(deps, session, toPerform(request), context);
  return deps.actions.perform({ ...request, by });
}

/** What the action would do now. FORBIDDEN as for the action itself. */
async function previewAction(
  deps: OperatorDeps,
  session: Session,
  request: RequestedAction,
  context: RequestContext,
): Promise<EffectPreview> {
  const by = await requireRole(deps, session, toPerform(request), context);
  return deps.actions.previewEffect({ ...request, by });
}

interface Requirement {
  readonly roles: readonly Role[];
  /** What it is about, for the audit log. */
  readonly subject: string;
  /** What the role must allow, after "may not". */
  readonly wanted: string;
}

/** The person's e-mail address. Throws FORBIDDEN unless their role is one of `roles`, and records that. */
async function requireRole(
  { accounts }: OperatorDeps,
  session: Session,
  { roles, subject, wanted }: Requirement,
  { requestId }: RequestContext,
): Promise<string> {
  const { role, email } = session.person;
  if (!roles.includes(role)) {
    const words = `${wanted} (requires ${roles.join(' or ')})`;
    await refusePerson(accounts, session, { subject, requestId, wanted: words });
  }
  return email;
}

const toPerform = ({ action, transactionId }: RequestedAction): Requirement => ({
  roles: rolesFor(action),
  subject: transactionId,
  wanted: `perform ${action}`,
});

const toRepair = (action: BatchRepairAction): Requirement => ({
  roles: rolesForRepair(action),
  subject: 'batch repairs',
  wanted: `repair by ${action}`,
});

/** The dry run. FORBIDDEN as for askForBatchRepair. */
async function planBatchRepair(
  deps: OperatorDeps,
  session: Session,
  request: Omit<RequestedRepair, 'reason'>,
  context: RequestContext,
) {
  const by = await requireRole(deps, session, toRepair(request.action), context);
  return deps.batchRepairs.plan({ ...request, by, reason: 'a dry run' });
}

/** FORBIDDEN if the role may not take this action, which is then recorded. VALIDATION_ERROR. */
async function askForBatchRepair(
  deps: OperatorDeps,
  session: Session,
  request: RequestedRepair & { readonly repairKey?: string | undefined },
  context: RequestContext,
) {
  const by = await requireRole(deps, session, toRepair(request.action), context);
  return deps.batchRepairs.ask({ ...request, by });
}

/** Throws NOT_FOUND; FORBIDDEN also if the person who asked lacks the permission by now. */
async function decideBatchRepair(
  { accounts, batchRepairs }: OperatorDeps,
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
async function previewApproval({ actions }: OperatorDeps, actionId: string): Promise<EffectPreview> {
  const effect = await actions.previewApproval(actionId);
  if (!effect) throw new DomainError('NOT_FOUND', 'No such action that waits for approval');
  return effect;
}

/** Throws FORBIDDEN if the person who asked lacks the permission by now. */
async function approveAction(
  { accounts, actions }: OperatorDeps,
  { person }: Session,
  actionId: string,
  reason?: string,
) {
  const waiting = (await actions.pendingApprovals()).find((action) => action.actionId === actionId);
  if (waiting) await requireAsker(accounts, waiting.by, (role) => mayPerform(role, waiting.action));
  return actions.approve(actionId, person.email, reason);
}

async function requireAsker(
  accounts: AccountsDb,
  email: string,
  mayStill: (role: Role) => boolean,
): Promise<void> {
  const asker = await findPerson(accounts, { email: email.toLowerCase() });
  if (!asker || asker.disabled_at !== null || !mayStill(asker.role))
    throw new DomainError('FORBIDDEN', `${email}, who asked for it, may not do so any more: decline it`);
}

/** Takes every id of the stuck list. TRANSACTION_NOT_FOUND. */
async function replayPurchase(
  { replayDeps }: OperatorDeps,
  { person }: Session,
  id: string,
  { reason, dryRun }: { readonly reason: string; readonly dryRun: boolean },
): Promise<Replayed> {
  return (await replay(replayDeps, id, { by: person.email, reason, isDryRun: dryRun })) ?? notFound();
}

/** NOT_FOUND where the event has a payment here, or was dismissed before. */
async function dismissEvent(
  { replayDeps }: OperatorDeps,
  { person }: Session,
  id: string,
  reason: string,
): Promise<void> {
  if (!(await dismiss(replayDeps, id, { by: person.email, reason })))
    throw new DomainError('NOT_FOUND', 'No unmatched gateway event has this id');
}

function notFound(): never {
  throw new DomainError('TRANSACTION_NOT_FOUND', 'No such purchase or funding');
}
