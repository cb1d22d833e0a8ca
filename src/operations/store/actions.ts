/** An operator action from its preview to its closed record, which never changes. */
import { sql, type Insertable, type InsertObject, type UpdateObject } from 'kysely';
import { isSamePerson } from '../../accounts/operators/two-person-rules.ts';
import {
  actionSpec,
  OPERATOR_ACTIONS,
  type ActionQueue,
  type OperatorAction,
} from '../../accounts/operators/action-table.ts';
import { areTwoPeople } from '../../accounts/store/access.ts';
import type { Money } from '../../domain/money.ts';
import { MAX_REASON_CHARACTERS } from '../../domain/reasons.ts';
import { lockPurchase } from '../../payments/store/lock-order.ts';
import { saveDisputesIn, type SeenDisputes } from '../../payments/store/disputes.ts';
import { findEmail } from '../../payments/store/payments.ts';
import { countAndOldest } from '../../platform/database/summary.ts';
import type { WorldDatabase, WorldDb } from '../../platform/database/tables.ts';
import type { OrderJudgement } from '../../purchases/order-judgement.ts';
import { assumeWithdrawn, countOrders, planNextOrder } from '../../purchases/store/supplier-orders.ts';
import {
  availableActions,
  REFUSAL_MESSAGES,
  refusalFor,
  requestRefusal,
  amountOf,
  APPROVAL_WITHIN_MS,
  BEGIN_WITHIN_MS,
  type ActionOutcome,
  type ActionRefusal,
  type Ended,
  type ActionRequest,
} from '../rules.ts';
import { EFFECTS } from './effects.ts';
import { findOtherPackage } from './other-package.ts';
import { checkLimits, type Judging } from './second-person.ts';
import { findActionSubject, moneyOf, type ActionSubject } from './subject.ts';
import type { ActionRow, OperatorActionsTable } from './tables.ts';
import { entriesSince, newRefunds, type WouldDo } from './would-do.ts';

/** `go`: the action is on record and open, and its workflow is to be woken for it. */
export type AskOutcome =
  | { readonly outcome: 'go'; readonly actionId: string; readonly transactionId: string }
  | Exclude<ActionOutcome, { readonly outcome: 'unknown' }>;

/** How an action ended, or that it waits for a second person. */
export type ActionOutcomeOnRecord = Exclude<AskOutcome, { readonly outcome: 'go' }>;
type Outcome = ActionOutcomeOnRecord;
type Refused = Extract<ActionOutcome, { readonly outcome: 'refused' }>;

const actions = (db: WorldDb) => db.selectFrom('operator_actions').selectAll();

const lockAction = (trx: WorldDb, actionId: string) =>
  actions(trx).where('id', '=', actionId).forUpdate().executeTakeFirst();

const updateAction = (
  trx: WorldDb,
  id: string,
  fields: UpdateObject<WorldDatabase, 'operator_actions'>,
): Promise<ActionRow> =>
  trx
    .updateTable('operator_actions')
    .set(fields)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();

/**
 * Judges a request by the rows and the limits, and records it, also when it is refused. Then its row is open
 * until its workflow has performed it, or it waits for a second person.
 */
export async function askForAction(db: WorldDb, request: ActionRequest, at: Judging): Promise<AskOutcome> {
  const { now } = at;
  const { actionId, transactionId } = request;
  return db.transaction().execute(async (trx) => {
    const judged = await judgeRequest(trx, request, now);
    if (judged.outcome !== 'fits') return judged;
    const { waits, fields: counted } = await checkLimits(trx, request, judged, at);
    const expiresAt = new Date(now.getTime() + APPROVAL_WITHIN_MS);
    const ends = waits
      ? { status: 'WAITS_FOR_APPROVAL' as const, expires_at: expiresAt }
      : { status: 'ASKED' as const, expires_at: BEGIN_BY };
    const fields = { ...judged.fields, ...counted, ...ends };
    if (await insertAction(trx, request, fields))
      return waits
        ? { outcome: 'waits-for-approval', actionId, expiresAt: expiresAt.toISOString() }
        : { outcome: 'go', actionId, transactionId };
    // Another request has just recorded the same action.
    const again = await judgeRequest(trx, request, now);
    if (again.outcome === 'fits')
      throw new Error(`an action is being asked for under the key ${request.actionKey}`);
    return again;
  });
}

/** An action to be performed, and the queue of the worker that does it. */
export interface NextAction {
  readonly actionId: string;
  readonly runsOn: ActionQueue;
}

/** Begins and returns the oldest open action; returns a begun one again. null: none. */
export async function nextAction(db: WorldDb, transactionId: string): Promise<NextAction | null> {
  return db.transaction().execute(async (trx) => {
    for (;;) {
      const row = await actions(trx)
        .where('transaction_id', '=', transactionId)
        .where('status', 'in', TO_BE_PERFORMED)
        .orderBy('created_at')
        .orderBy('id')
        .limit(1)
        .forUpdate()
        .executeTakeFirst();
      if (!row) return null;
      if (await expireIfLate(trx, row)) continue;
      if (row.status === 'ASKED') await updateAction(trx, row.id, { status: 'BEGUN', expires_at: null });
      const spec = actionSpec(row.action);
      const withdraws = spec.takesBack && (await isInDelivery(trx, transactionId));
      return { actionId: row.id, runsOn: withdraws ? 'supplier' : spec.runsOn };
    }
  });
}

/** On record, judged, and approved where a second person had to. */
const TO_BE_PERFORMED = ['ASKED', 'APPROVED', 'BEGUN'] as const;

async function isInDelivery(trx: WorldDb, transactionId: string): Promise<boolean> {
  const purchase = await trx
    .selectFrom('purchases')
    .select('status')
    .where('transaction_id', '=', transactionId)
    .executeTakeFirst();
  return purchase?.status === 'PROCESSING';
}

/** An action that is to be performed now. undefined: it has ended, or was never begun. */
export async function findBegunAction(db: WorldDb, actionId: string): Promise<ActionRow | undefined> {
  const row = await actions(db).where('id', '=', actionId).executeTakeFirst();
  return row && isBegun(row) ? row : undefined;
}

/** How an action has ended, or that it waits for a second person. undefined: it is still open. */
export async function findOutcome(db: WorldDb, actionId: string): Promise<Outcome | undefined> {
  const row = await actions(db).where('id', '=', actionId).executeTakeFirst();
  if (row?.closed_at == null) return undefined;
  return outcomeOf(row, await findActionSubject(db, row.transaction_id), false);
}

interface Fits {
  readonly outcome: 'fits';
  readonly subject: ActionSubject;
  readonly amount: Money | null;
  /** What its record keeps beside the request. */
  readonly fields: Partial<Insertable<OperatorActionsTable>>;
}

/** Checks a request by its key and against the rows. Records a refusal. */
async function judgeRequest(trx: WorldDb, request: ActionRequest, now: Date): Promise<AskOutcome | Fits> {
  const refuse = (refusal: ActionRefusal) => recordRefusal(trx, request, refusal, now);
  const earlier = await findLive(trx, request.actionKey, now);
  if (earlier) {
    const isSame = earlier.transaction_id === request.transactionId && earlier.asked === askedText(request);
    return isSame ? answerEarlier(earlier) : refuse('KEY_REUSED');
  }
  const judged = await judge(trx, request);
  return 'refusal' in judged ? refuse(judged.refusal) : judged;
}

/** Checks a request against the rows. Records nothing. */
async function judge(
  trx: WorldDb,
  request: ActionRequest,
): Promise<Fits | { readonly refusal: ActionRefusal }> {
  const subject = await findActionSubject(trx, request.transactionId);
  const invalid = requestRefusal(request);
  if (invalid !== undefined) return { refusal: invalid };
  if (!subject) return { refusal: 'NOT_FOUND' };
  const refusal = refusalFor(request.action, subject.facts, termsOf(request));
  if (refusal !== undefined) return { refusal };
  const allowed = amountOf(request.action, subject.facts, moneyOf(subject), request);
  if ('refusal' in allowed) return allowed;
  const { amount } = allowed;
  const fields = { amount_minor: amount?.amountMinor ?? null, currency: amount?.currency ?? null };
  if (request.action !== 'deliver-other') return { outcome: 'fits', subject, amount, fields };
  const other = await findOtherPackage(trx, subject, request.packageCode);
  if ('refusal' in other) return other;
  return { outcome: 'fits', subject, amount, fields: { ...fields, package_code: other.packageCode } };
}

const LIVE = ['ASKED', 'BEGUN', 'WAITS_FOR_APPROVAL', 'APPROVED', 'DONE'] as const;

/** The record with this key. One that was not begun or approved in time expires here. */
async function findLive(trx: WorldDb, actionKey: string, now: Date): Promise<ActionRow | undefined> {
  const row = await actions(trx)
    .where('action_key', '=', actionKey)
    .where('status', 'in', LIVE)
    .forUpdate()
    .executeTakeFirst();
  return row && (await expireIfLate(trx, row, now)) ? undefined : row;
}

/** By the database's clock: an API writes it, and a worker reads it. */
const BEGIN_BY = sql<Date>`clock_timestamp() + ${BEGIN_WITHIN_MS}::integer * interval '1 ms'`;

/** Whether the time to begin it was over, or at `now` the time to approve it. */
async function expireIfLate(trx: WorldDb, { id, status }: ActionRow, now?: Date): Promise<boolean> {
  if (status !== 'ASKED' && status !== 'WAITS_FOR_APPROVAL') return false;
  const isAsked = status === 'ASKED';
  const at = isAsked || !now ? sql<Date>`clock_timestamp()` : sql<Date>`${now}::timestamptz`;
  const detail = isAsked ? 'no workflow took it in time' : REFUSAL_MESSAGES.APPROVAL_EXPIRED;
  const expired = await trx
    .updateTable('operator_actions')
    .set({ status: 'EXPIRED', detail, closed_at: at })
    .where('id', '=', id)
    .where('expires_at', '<=', at)
    .executeTakeFirst();
  return expired.numUpdatedRows > 0n;
}

function answerEarlier(row: ActionRow): AskOutcome {
  const { id: actionId, status, detail, expires_at } = row;
  if (status === 'DONE') return { outcome: 'done', actionId, did: detail ?? '', again: true };
  return status === 'WAITS_FOR_APPROVAL' && expires_at
    ? { outcome: 'waits-for-approval', actionId, expiresAt: expires_at.toISOString() }
    : { outcome: 'go', actionId, transactionId: row.transaction_id };
}

/** The same text for the same request; the person and the reason may differ. */
function askedText(request: ActionRequest): string {
  const { action, amountMinor, currency, packageCode, goodwill = false, outcome, disputeId } = request;
  const dispute = { outcome, disputeId, overrides: request.overrides || undefined };
  const movesNoMoney = request.movesNoMoney || undefined;
  return JSON.stringify({ action, amountMinor, currency, packageCode, goodwill, ...dispute, movesNoMoney });
}

const termsOf = (asked: {
  readonly goodwill?: boolean | undefined;
  readonly evidence?: string | null | undefined;
}) => ({ isGoodwill: asked.goodwill === true, hasEvidence: (asked.evidence ?? '') !== '' });

/** Adds a record. Whether it is new: not the same attempt again, and no other under the same key. */
async function insertAction(
  trx: WorldDb,
  request: ActionRequest,
  fields: Partial<InsertObject<WorldDatabase, 'operator_actions'>>,
): Promise<boolean> {
  // Typed text may be of any length, and empty.
  const short = (text: string): string => text.trim().slice(0, MAX_REASON_CHARACTERS);
  const inserted = await trx
    .insertInto('operator_actions')
    .values({
      id: request.actionId,
      transaction_id: request.transactionId,
      action: request.action,
      action_key: request.actionKey,
      asked: askedText(request),
      by_person: short(request.by),
      approved_by: request.approver === undefined ? null : short(request.approver),
      reason: short(request.reason),
      evidence: request.evidence === undefined ? null : short(request.evidence),
      package_code: request.packageCode ?? null,
      goodwill: request.goodwill === true,
      status: 'BEGUN',
      ...fields,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Refused attempts are recorded as well. */
async function recordRefusal(
  db: WorldDb,
  request: ActionRequest,
  refusal: ActionRefusal,
  now: Date,
): Promise<Refused> {
  const detail = REFUSAL_MESSAGES[refusal];
  await insertAction(db, request, { status: 'REFUSED', refusal, detail, closed_at: now });
  return refusedAs(refusal, detail, await findActionSubject(db, request.transactionId), request.action);
}

/** Of the request, not of how things stand: another request may be possible. */
const OF_THE_REQUEST: ReadonlySet<ActionRefusal> = new Set<ActionRefusal>([
  ...(['REASON_NEEDED', 'PERSON_NEEDED', 'EVIDENCE_NEEDED', 'OUTCOME_NEEDED', 'DISPUTE_NEEDED'] as const),
  ...(['AMOUNT_TOO_HIGH', 'AMOUNT_NOT_ALLOWED', 'AMOUNT_NEEDED', 'OTHER_CURRENCY'] as const),
  'PACKAGE_DOES_NOT_FIT',
]);

/** What is available: not what was just refused, unless only its request was wrong. */
function refusedAs(
  code: ActionRefusal,
  detail: string,
  subject: ActionSubject | undefined,
  action?: OperatorAction,
): Refused {
  const refused = OF_THE_REQUEST.has(code) ? undefined : action;
  const fits = subject ? availableActions(subject.facts).filter((one) => one !== refused) : [];
  // A refusal without a reason would tell a person nothing.
  return { outcome: 'refused', code, detail: detail || REFUSAL_MESSAGES[code], fits };
}

/** Effect and record in one transaction. Idempotent: the first outcome stays. */
export function carryOutAction(db: WorldDb, actionId: string, now: Date): Promise<Outcome> {
  return db.transaction().execute(async (trx) => {
    const row = await lockAction(trx, actionId);
    if (!row) return notAsked();
    const subject = await findActionSubject(trx, row.transaction_id, true);
    if (row.closed_at !== null || !subject) return outcomeOf(row, subject);
    if (!isBegun(row)) return notAsked();
    const refusal = await refusalNow(trx, row, subject);
    const ended = refusal ? { refusal } : await EFFECTS[row.action](trx, row, subject, now);
    const closed = await endAction(trx, row, ended);
    return outcomeOf(closed, subject, false);
  });
}

/** How things stand, and how much is left, may have changed since it was begun. */
async function refusalNow(
  trx: WorldDb,
  row: ActionRow,
  subject: ActionSubject,
): Promise<ActionRefusal | undefined> {
  const isInDelivery = subject.purchase?.status === 'PROCESSING';
  if (isInDelivery && actionSpec(row.action).takesBack) {
    const { hasLive } = await countOrders(trx, row.transaction_id);
    if (hasLive) return 'SUPPLIER_MAY_DELIVER';
  }
  // Its workflow may have delivered before it came to the action. Its effect settles what is still on hold.
  if (row.action === 'retry-delivery' && subject.purchase?.status === 'SUCCESS') return undefined;
  const refusal = refusalFor(row.action, subject.facts, termsOf(row));
  if (refusal !== undefined) return refusal;
  if (!isInDelivery && row.evidence !== null && hasLaterRefund(row, subject)) return 'EVIDENCE_NEEDED';
  // What was begun as moving nothing was held to no limit.
  const asked =
    row.amount_minor === null
      ? { amountMinor: undefined, currency: undefined, movesNoMoney: true }
      : { amountMinor: String(row.amount_minor), currency: row.currency ?? '' };
  const allowed = amountOf(row.action, subject.facts, moneyOf(subject), asked);
  if ('refusal' in allowed) return allowed.refusal;
  return actionSpec(row.action).takesBack && (await isOvertaken(trx, row)) ? 'CHANGED_MEANWHILE' : undefined;
}

/** Whoever asked saw the money elsewhere: another action has moved it since. */
async function isOvertaken(trx: WorldDb, row: ActionRow): Promise<boolean> {
  const later = await actions(trx)
    .where('transaction_id', '=', row.transaction_id)
    .where('action', 'in', MOVING)
    .where('status', '=', 'DONE')
    .where('closed_at', '>', row.created_at)
    .where('id', '!=', row.id)
    .limit(1)
    .executeTakeFirst();
  return later !== undefined;
}

const MOVING = OPERATOR_ACTIONS.filter((action) => {
  const { isCheck, takesBack, needsEvidence } = actionSpec(action);
  return !isCheck && (takesBack || needsEvidence);
});

/** Only evidence ends this refund, and it came after the request: the evidence is about something else. */
const hasLaterRefund = (
  { action, created_at: askedAt }: ActionRow,
  { facts: { openRefund }, openRefunds }: ActionSubject,
): boolean =>
  actionSpec(action).takesBack &&
  (openRefund === 'waits' || openRefund === 'stuck') &&
  openRefunds.some((refund) => refund.created_at > askedAt);

/** Closes the record of a check, or of an action that is refused. Idempotent. */
export function closeAction(db: WorldDb, actionId: string, ended: Ended): Promise<Outcome> {
  return db.transaction().execute(async (trx) => {
    const row = await lockAction(trx, actionId);
    if (!row) return notAsked();
    const subject = await findActionSubject(trx, row.transaction_id);
    if (row.closed_at !== null) return outcomeOf(row, subject);
    // What moves money or an order is done only by its effect.
    if (!isBegun(row) || ('did' in ended && !actionSpec(row.action).isCheck)) return notAsked();
    const closed = await endAction(trx, row, ended);
    return outcomeOf(closed, subject, false);
  });
}

/** One that waits for a second person, or has not been begun, is not carried out. */
const isBegun = ({ status }: ActionRow): boolean => status === 'BEGUN' || status === 'APPROVED';

const notAsked = (): Refused => refusedAs('NOT_ASKED', '', undefined);

function outcomeOf(row: ActionRow, subject: ActionSubject | undefined, isAgain = true): Outcome {
  const { id: actionId, detail } = row;
  if (row.status === 'DONE')
    return { outcome: 'done', actionId, did: detail ?? '', ...(isAgain ? { again: true } : {}) };
  const code = row.refusal ?? 'NOT_WAITING';
  return refusedAs(code, detail ?? REFUSAL_MESSAGES[code], subject, row.action);
}

/** By the database's clock, as `created_at`: `isOvertaken` compares them. */
async function endAction(trx: WorldDb, row: ActionRow, ended: Ended): Promise<ActionRow> {
  const { id, action, transaction_id: transactionId } = row;
  const closed_at = sql<Date>`clock_timestamp()`;
  if ('did' in ended) return updateAction(trx, id, { status: 'DONE', detail: ended.did, closed_at });
  if (actionSpec(action).takesBack) {
    // Its order may have been withdrawn for it, by an earlier run too: it is ordered again, under another id.
    await lockPurchase(trx, transactionId);
    await planNextOrder(trx, transactionId);
  }
  const { refusal, detail = REFUSAL_MESSAGES[refusal] } = ended;
  return updateAction(trx, id, { status: 'REFUSED', refusal, detail, closed_at });
}

/** What a second person decided about an action, and why. */
export interface ApprovalDecision {
  readonly by: string;
  readonly isApproved: boolean;
  readonly reason?: string | undefined;
}

/** The decision of a second person. `go`: it may be carried out now. `done`: it was declined. */
export async function decideApproval(
  db: WorldDb,
  actionId: string,
  { by, isApproved, reason: why, tryId }: ApprovalDecision & { readonly tryId: string },
  now: Date,
): Promise<{ readonly outcome: 'go'; readonly row: ActionRow } | Outcome> {
  return db.transaction().execute(async (trx) => {
    const row = await lockAction(trx, actionId);
    if (!row) return refusedAs('NOT_FOUND', `there is no action ${actionId}`, undefined);
    const decision = { ...requestOf(row), by, actionId: tryId };
    const reason = `${isApproved ? 'approval' : 'refusal'} of ${actionId}${why === undefined ? '' : `: ${why}`}`;
    const refuse = (refusal: ActionRefusal) => recordRefusal(trx, { ...decision, reason }, refusal, now);
    if (requestRefusal(decision) === 'PERSON_NEEDED') return refuse('PERSON_NEEDED');
    if (await expireIfLate(trx, row, now)) return refuse('APPROVAL_EXPIRED');
    // Approved before and perhaps not carried out: the same person may send the approval again.
    const isAgain = row.status === 'APPROVED' && isSamePerson(row.approved_by ?? '', by);
    if (isAgain && isApproved) return { outcome: 'go', row };
    if (row.status !== 'WAITS_FOR_APPROVAL') return refuse('NOT_WAITING');
    if (isSamePerson(row.by_person, by)) return refuse('SAME_PERSON');
    if (isApproved && !(await areTwoPeople(trx, row.by_person, by, now))) return refuse('NOT_INDEPENDENT');
    const decided = { approved_by: by.trim(), decision_reason: why?.trim() || null };
    if (isApproved)
      return { outcome: 'go', row: await updateAction(trx, actionId, { ...decided, status: 'APPROVED' }) };
    const detail = `declined by ${by.trim()}`;
    await updateAction(trx, actionId, { ...decided, status: 'DECLINED', closed_at: now, detail });
    return { outcome: 'done', actionId, did: `declined by ${by}: nothing was done` };
  });
}

/** The request, from its record. */
export function requestOf(row: ActionRow): ActionRequest {
  return {
    actionId: row.id,
    transactionId: row.transaction_id,
    by: row.by_person,
    reason: row.reason,
    actionKey: row.action_key,
    ...(row.evidence === null ? {} : { evidence: row.evidence }),
    ...(JSON.parse(row.asked) as Pick<ActionRequest, 'action'>),
  };
}

/** Every attempt on a purchase or a funding, oldest first. */
export function listActions(db: WorldDb, transactionId: string): Promise<ActionRow[]> {
  return actions(db).where('transaction_id', '=', transactionId).orderBy('created_at').execute();
}

/** Waits for a second person, or was approved and is not carried out yet. */
export function findApprovable(db: WorldDb, actionId: string, now: Date): Promise<ActionRow | undefined> {
  return actions(db)
    .where('id', '=', actionId)
    .where(sql<boolean>`(status = 'APPROVED' or (status = 'WAITS_FOR_APPROVAL' and expires_at > ${now}))`)
    .executeTakeFirst();
}

/** A second person may still approve them. */
const pendingApprovals = (db: WorldDb, now: Date) =>
  db.selectFrom('operator_actions').where('status', '=', 'WAITS_FOR_APPROVAL').where('expires_at', '>', now);

/** Oldest first. */
export const listPendingApprovals = (db: WorldDb, now: Date): Promise<ActionRow[]> =>
  pendingApprovals(db, now).selectAll().orderBy('created_at').limit(1_000).execute();

export const summarisePendingApprovals = (db: WorldDb, now: Date) =>
  pendingApprovals(db, now).select(countAndOldest('created_at')).executeTakeFirstOrThrow();

/** The effect; or that it is refused, was done before, or awaits a second person. */
export type EffectPreview = WouldDo | Outcome;

/** What vendors say now about a previewed action. Absent: that vendor was not asked, or is silent. */
export interface VendorAnswers {
  readonly order?: OrderJudgement & { readonly isSettled: boolean };
  readonly disputes?: readonly SeenDisputes[];
}

/** Runs the real effect and rolls it back, so that a preview cannot differ from the action. */
export async function previewEffect(
  db: WorldDb,
  request: ActionRequest,
  at: Judging,
  answers: VendorAnswers = {},
): Promise<EffectPreview> {
  const trx = await db.startTransaction().execute();
  try {
    return await tryEffect(trx, request, at, answers);
  } finally {
    await trx.rollback().execute();
  }
}

async function tryEffect(
  trx: WorldDb,
  request: ActionRequest,
  at: Judging,
  { order, disputes = [] }: VendorAnswers,
): Promise<EffectPreview> {
  const { now } = at;
  await forgetAsked(trx, request, now);
  for (const seen of disputes) await saveDisputesIn(trx, seen);
  const judged = await judgeRequest(trx, request, now);
  if (judged.outcome === 'go')
    return { outcome: 'done', actionId: judged.actionId, did: 'started before', again: true };
  if (judged.outcome !== 'fits') return judged;
  const { amount, fields } = judged;
  const { transactionId, action, actionId } = request;
  const { waits } = await checkLimits(trx, request, judged, at);
  const isFirst = await insertAction(trx, request, fields);
  const booked = await trx
    .selectFrom('ledger_transactions')
    .select(({ fn }) => fn.max('id').as('last'))
    .executeTakeFirst();
  // Before its effect, the action withdraws the order.
  const hasOrder = actionSpec(action).takesBack && (await assumeWithdrawn(trx, transactionId));
  const subject = await findActionSubject(trx, transactionId, true);
  if (!isFirst || !subject) return refusedAs('NOT_FOUND', 'it is running right now', subject);
  if (hasOrder && order?.outcome === 'uncertain')
    return refusedAs('SUPPLIER_MAY_DELIVER', mayDeliver(order.detail), subject, action);
  const doubt = hasOrder ? doubtOf(request, order) : undefined;
  const row = await lockAction(trx, actionId);
  if (!row) return notAsked();
  const { isCheck } = actionSpec(action);
  const ended = isCheck
    ? { did: 'checks, and books any change' }
    : await EFFECTS[action](trx, row, subject, now);
  if ('refusal' in ended)
    return refusedAs(ended.refusal, ended.detail ?? REFUSAL_MESSAGES[ended.refusal], subject, action);
  const known = subject.refunds.map((refund) => refund.refund_key);
  return {
    outcome: 'would-do',
    did: doubt === undefined ? ended.did : `${ended.did}; ${doubt}`,
    isSure: doubt === undefined,
    amount,
    accountId: subject.accountId,
    email: await findEmail(trx, subject.accountId),
    needsSecondPerson: waits,
    entries: await entriesSince(trx, transactionId, booked?.last ?? 0n),
    refunds: isCheck ? [] : await newRefunds(trx, transactionId, known),
  };
}

/** Why it may be refused though it fits: only the action shows what the supplier has of the order. */
function doubtOf({ evidence }: ActionRequest, order: VendorAnswers['order']): string | undefined {
  if (order?.outcome === 'cancellable') return 'the supplier has the eSIM, and must first cancel it';
  if (order?.outcome === 'withdrawn')
    return order.isSettled ? undefined : 'unless what was sent to the supplier still arrives there';
  const unless = evidence === undefined ? ' and there is no evidence that it will not' : '';
  return `the supplier was not asked; refused if it may still deliver${unless}`;
}

/** The refusal where the supplier's word leaves it open. */
export const mayDeliver = (detail: string): string => `${REFUSAL_MESSAGES.SUPPLIER_MAY_DELIVER} (${detail})`;

/** What was asked for and never begun is previewed like new. The caller rolls this back. */
async function forgetAsked(trx: WorldDb, request: ActionRequest, now: Date): Promise<void> {
  await trx
    .updateTable('operator_actions')
    .set({ status: 'EXPIRED', closed_at: now })
    .where('action_key', '=', request.actionKey)
    .where('asked', '=', askedText(request))
    .where('status', '=', 'ASKED')
    .execute();
}
