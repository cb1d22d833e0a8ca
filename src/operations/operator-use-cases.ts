/** What people who have signed in do with purchases and accounts. Each refusal is a DomainError. */
import { mayPerform, rolesFor } from '../accounts/operators/action-table.ts';
import { readAccountNames } from '../accounts/store/find-accounts.ts';
import type { Session } from '../domain/callers.ts';
import { DomainError } from '../domain/errors.ts';
import { pageOf, type PageQuery } from '../domain/page.ts';
import type { Bound } from '../platform/bind.ts';
import type { RequestContext } from '../platform/telemetry/subject.ts';
import {
  changeAccount,
  exportAccounts,
  listAccountEndpoints,
  listAccountKeys,
  listAccountMembers,
  listAccounts,
  listAccountTransactions,
  listUndeliveredMessages,
  readAccount,
  type AccountDeps,
} from './accounts.ts';
import type { ActionInput } from './actions.ts';
import { readAuditLog, type AuditQuery } from './audit-log.ts';
import {
  askForBatchRepair,
  decideBatchRepair,
  listBatchRepairs,
  previewBatchRepair,
  readBatchRepair,
  stopBatchRepair,
  type BatchRepairDeps,
} from './batch-repairs.ts';
import { exportLines, listLines } from './lists.ts';
import { listNotes, writeNote } from './notes.ts';
import { requireAsker, requireRole } from './permissions.ts';
import { dismissEvent, replay } from './replay.ts';
import { search } from './search.ts';
import type { StuckFilter } from './stuck-rules.ts';
import { findOwners } from './store/stuck.ts';
import { findStuck } from './stuck.ts';
import {
  askForAdjustment,
  confirmAdjustment,
  declineAdjustment,
  listAdjustments,
  type AdjustmentDeps,
} from './wallet-adjustments.ts';
import { purchaseTimeline } from './timeline.ts';

type OperatorDeps = AccountDeps & BatchRepairDeps & AdjustmentDeps;

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
  previewBatchRepair,
  askForBatchRepair,
  decideBatchRepair,
  stopBatchRepair,
  readBatchRepair,
  listBatchRepairs,
  listAccounts,
  exportAccounts,
  readAccount,
  listAccountTransactions,
  listAccountMembers,
  listAccountKeys,
  listAccountEndpoints,
  listUndeliveredMessages,
  changeAccount,
  askForAdjustment,
  confirmAdjustment,
  declineAdjustment,
  listAdjustments,
  listNotes,
  writeNote,
  listLines,
  exportLines,
  readAudit: ({ accounts, db }: OperatorDeps, query: AuditQuery) => readAuditLog({ accounts, db }, query),
  search: (deps: OperatorDeps, { person }: Session, text: string) => search(deps, text, person.role),
};

export type OperatorCases = Bound<typeof operatorUseCases>;

/** One page, each item with its account and its beginning. */
async function listStuck(
  { stuck, accounts }: OperatorDeps,
  { page, limit, ...filter }: PageQuery & Omit<StuckFilter, 'transactionIds'>,
) {
  const { items, ...known } = await findStuck(stuck, filter);
  const shown = pageOf(items, { page, limit });
  const owners = await findOwners(
    stuck.db,
    shown.items.map((item) => item.transactionId),
  );
  const names = await readAccountNames(
    accounts,
    [...owners.values()].map((owner) => owner.account_id),
  );
  return {
    ...shown,
    ...known,
    items: shown.items.map((item) => {
      const { account_id: accountId, opened_at: openedAt = null } = owners.get(item.transactionId) ?? {};
      const account = accountId === undefined ? null : { accountId, name: names.get(accountId) ?? accountId };
      return { ...item, account, openedAt };
    }),
  };
}

/** By our id or anything that leads to it. TRANSACTION_NOT_FOUND. */
async function readTimeline({ stuck, actions, accounts }: OperatorDeps, id: string) {
  const timeline = (await purchaseTimeline({ ...stuck, actions }, id)) ?? notFound();
  const { accountId } = timeline;
  const names = await readAccountNames(accounts, accountId === null ? [] : [accountId]);
  return { ...timeline, accountName: names.get(accountId ?? '') ?? null };
}

/** TRANSACTION_NOT_FOUND. */
async function listActions({ actions }: OperatorDeps, transactionId: string) {
  const preview = (await actions.preview(transactionId)) ?? notFound();
  return { preview, made: await actions.listFor(transactionId) };
}

type RequestedAction = Omit<ActionInput, 'by'>;

/** FORBIDDEN where the role may not take this action; that is then on record. */
async function makeAction(deps: OperatorDeps, ...asked: AskedAction) {
  return deps.actions.perform(await actionOf(deps, ...asked));
}

/** What the action would do now. FORBIDDEN as for the action itself. */
async function previewAction(deps: OperatorDeps, ...asked: AskedAction) {
  return deps.actions.previewEffect(await actionOf(deps, ...asked));
}

type AskedAction = readonly [session: Session, request: RequestedAction, context: RequestContext];

async function actionOf(
  { accounts }: OperatorDeps,
  ...[session, request, context]: AskedAction
): Promise<ActionInput> {
  const { action, transactionId: subject } = request;
  const requirement = { roles: rolesFor(action), subject, wanted: `perform ${action}` };
  return { ...request, by: await requireRole(accounts, session, requirement, context) };
}

/** What the approval would do now. Throws NOT_FOUND if the action does not wait. */
async function previewApproval({ actions }: OperatorDeps, actionId: string) {
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

/** Takes every id of the stuck list. TRANSACTION_NOT_FOUND. */
async function replayPurchase(
  { replayDeps }: OperatorDeps,
  { person }: Session,
  id: string,
  { reason, dryRun }: { readonly reason: string; readonly dryRun: boolean },
) {
  return (await replay(replayDeps, id, { by: person.email, reason, isDryRun: dryRun })) ?? notFound();
}

function notFound(): never {
  throw new DomainError('TRANSACTION_NOT_FOUND', 'No such purchase or funding');
}
