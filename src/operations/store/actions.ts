/**
 * The way of one operator action: previewed, begun, approved by a second person, carried out, closed. Its effect and its record are written in
 * one transaction. A closed record never changes. The same key is the same action, however often it is sent.
 */
import type { Money } from '../../domain/money.ts';
import {
  availableActions,
  REFUSAL_WORDS,
  refusalFor,
  requestRefusal,
  amountOf,
  APPROVAL_WITHIN_MS,
  needsApproval,
  isSamePerson,
  CHECK_ACTIONS,
  type ActionOutcome,
  type ActionRefusal,
  type ActionRequest,
  type ApprovalLimits,
} from '../rules.ts';
import type { PurchaseStatus } from '../../domain/states.ts';
import { effectOf, findReplacement } from './effects.ts';
import {
  findActionSubject,
  lockActionSubject,
  moneyOf,
  findEmail,
  type Ended,
  type ActionSubject,
} from './subject.ts';
import type { ActionRow } from './tables.ts';
import { findUnsent } from '../../purchases/store/messages.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { newPendingMessages, type PendingMessages } from '../../webhooks/store/messages.ts';
import type { OperatorAction } from '../../accounts/roles.ts';
import { sql } from 'kysely';
import { lastBooked, entriesSince, newRefunds, type PreviewEntry } from './preview.ts';

/** `go`: the record is BEGUN or APPROVED, and the action is to be carried out. */
export type BeginOutcome =
  | { readonly outcome: 'go'; readonly moveId: string }
  | Exclude<ActionOutcome, { readonly outcome: 'unknown' }>;

export type Refused = Extract<ActionOutcome, { readonly outcome: 'refused' }>;

/** Checks a request against the rows and records it, also when it is refused. Idempotent. */
export async function beginAction(
  db: WorldDb,
  request: ActionRequest,
  { limits, now }: { readonly limits: ApprovalLimits; readonly now: Date },
): Promise<BeginOutcome> {
  return db.transaction().execute(async (trx) => {
    const judged = await judgeRequest(trx, request, now);
    if (judged.outcome !== 'fits') return judged;
    const { subject, amount, packageCode } = judged;
    // Overriding the gateway always takes two people.
    const waits =
      request.overrides === true ||
      needsApproval(request.move, subject.facts, amount, moneyOf(subject), limits);
    const expiresAt = waits ? new Date(now.getTime() + APPROVAL_WITHIN_MS) : null;
    const status = waits ? 'WAITS_FOR_APPROVAL' : 'BEGUN';
    const isFirst = await insertAction(trx, request, { status, amount, packageCode, expiresAt, now });
    // The same action was begun a moment ago: its outcome counts.
    if (!isFirst) throw new ActionStartedElsewhere(request.moveKey);
    return expiresAt
      ? { outcome: 'waits-for-approval', moveId: request.moveId, expiresAt: expiresAt.toISOString() }
      : { outcome: 'go', moveId: request.moveId };
  });
}

/** Checks a request without beginning it. `go`: its workflow is to be asked. */
export async function previewAction(db: WorldDb, request: ActionRequest, now: Date): Promise<BeginOutcome> {
  const judged = await db.transaction().execute((trx) => judgeRequest(trx, request, now));
  return judged.outcome === 'fits' ? { outcome: 'go', moveId: request.moveId } : judged;
}

export interface Fits {
  readonly outcome: 'fits';
  readonly subject: ActionSubject;
  readonly amount: Money | null;
  readonly packageCode: string | null;
}

/** Checks a request by its key and against the rows. Records a refusal. */
export async function judgeRequest(
  trx: WorldDb,
  request: ActionRequest,
  now: Date,
): Promise<BeginOutcome | Fits> {
  const earlier = await findLive(trx, request.moveKey, now);
  if (earlier) return answerEarlier(trx, request, earlier, now);
  const subject = await findActionSubject(trx, request.transactionId);
  const refuse = (refusal: ActionRefusal): Promise<Refused> =>
    recordRefusal(trx, request, refusal, now, subject);
  const invalid = requestRefusal(request);
  if (invalid !== undefined) return refuse(invalid);
  if (!subject) return refuse('NOT_FOUND');
  const refusal = refusalFor(request.move, subject.facts, termsOf(request));
  if (refusal !== undefined) return refuse(refusal);
  const moves = amountOf(request.move, subject.facts, moneyOf(subject), request);
  if ('refusal' in moves) return refuse(moves.refusal);
  if (request.move !== 'deliver-other') return { outcome: 'fits', subject, ...moves, packageCode: null };
  const replacement = await findReplacement(trx, subject, request.packageCode);
  if ('refusal' in replacement) return refuse(replacement.refusal);
  return { outcome: 'fits', subject, ...moves, ...replacement };
}

/** Two of the same began at one time. The step is run again and finds the other. */
export class ActionStartedElsewhere extends Error {
  constructor(moveKey: string) {
    super(`an action is being begun under the key ${moveKey}`);
    this.name = 'MoveBegunBeside';
  }
}

const LIVE = ['BEGUN', 'WAITS_FOR_APPROVAL', 'APPROVED', 'DONE'] as const;

/** The record with this key. One that was not approved in time expires here. */
async function findLive(trx: WorldDb, moveKey: string, now: Date): Promise<ActionRow | undefined> {
  const row = await trx
    .selectFrom('operator_moves')
    .selectAll()
    .where('move_key', '=', moveKey)
    .where('status', 'in', LIVE)
    .forUpdate()
    .executeTakeFirst();
  if (!row || !isExpired(row, now)) return row;
  await expireAction(trx, row, now);
  return undefined;
}

export function isExpired(row: ActionRow, now: Date): boolean {
  return row.status === 'WAITS_FOR_APPROVAL' && row.expires_at !== null && row.expires_at <= now;
}

export async function expireAction(trx: WorldDb, { id }: ActionRow, now: Date): Promise<void> {
  await trx
    .updateTable('operator_moves')
    .set({ status: 'EXPIRED', detail: REFUSAL_WORDS.APPROVAL_EXPIRED, closed_at: now })
    .where('id', '=', id)
    .execute();
}

async function answerEarlier(
  trx: WorldDb,
  request: ActionRequest,
  row: ActionRow,
  now: Date,
): Promise<BeginOutcome> {
  if (row.transaction_id !== request.transactionId || row.asked !== askedText(request))
    return recordRefusal(
      trx,
      request,
      'KEY_REUSED',
      now,
      await findActionSubject(trx, request.transactionId),
    );
  switch (row.status) {
    case 'DONE':
      return { outcome: 'done', moveId: row.id, did: row.detail ?? '', again: true };
    case 'WAITS_FOR_APPROVAL':
      return {
        outcome: 'waits-for-approval',
        moveId: row.id,
        expiresAt: (row.expires_at ?? now).toISOString(),
      };
    default:
      return { outcome: 'go', moveId: row.id };
  }
}

/** The same text for the same request; the person and the reason may differ. */
function askedText(request: ActionRequest): string {
  const { move, amountMinor, currency, packageCode, goodwill, outcome, disputeId, overrides } = request;
  const ofClaim = { outcome, disputeId, overrides: overrides === true ? true : undefined };
  return JSON.stringify({
    move,
    amountMinor,
    currency,
    packageCode,
    goodwill: goodwill === true,
    ...ofClaim,
  });
}

const termsOf = (asked: {
  readonly goodwill?: boolean | undefined;
  readonly evidence?: string | null | undefined;
}) => ({
  isGoodwill: asked.goodwill === true,
  hasEvidence: (asked.evidence ?? '') !== '',
});

interface NewLine {
  readonly status: ActionRow['status'];
  readonly now: Date;
  readonly amount?: Money | null;
  readonly packageCode?: string | null;
  readonly expiresAt?: Date | null;
  readonly refusal?: ActionRefusal;
  readonly detail?: string;
}

/** Whether the line is new: not the same try again, and no other under the same key. */
async function insertAction(trx: WorldDb, request: ActionRequest, line: NewLine): Promise<boolean> {
  const inserted = await trx
    .insertInto('operator_moves')
    .values({
      id: request.moveId,
      transaction_id: request.transactionId,
      move: request.move,
      move_key: request.moveKey,
      asked: askedText(request),
      by_person: request.by.trim(),
      reason: request.reason.trim(),
      evidence: request.evidence?.trim() ?? null,
      amount_minor: line.amount?.amountMinor ?? null,
      currency: line.amount?.currency ?? null,
      package_code: line.packageCode ?? request.packageCode ?? null,
      goodwill: request.goodwill === true,
      status: line.status,
      refusal: line.refusal ?? null,
      detail: line.detail ?? null,
      approved_by: null,
      expires_at: line.expiresAt ?? null,
      closed_at: line.refusal === undefined ? null : line.now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** undefined: the same action was begun elsewhere. */
export async function insertBegun(
  trx: WorldDb,
  request: ActionRequest,
  { amount, packageCode }: Fits,
  now: Date,
): Promise<ActionRow | undefined> {
  const isFirst = await insertAction(trx, request, { status: 'BEGUN', amount, packageCode, now });
  return isFirst ? lockAction(trx, request.moveId) : undefined;
}

/** Refused attempts are recorded as well. */
export async function recordRefusal(
  trx: WorldDb,
  request: ActionRequest,
  refusal: ActionRefusal,
  now: Date,
  subject: ActionSubject | undefined,
  detail = REFUSAL_WORDS[refusal],
): Promise<Refused> {
  await insertAction(trx, storable(request), { status: 'REFUSED', refusal, detail, now });
  return refusedAs(refusal, detail, subject);
}

/** Typed text may be of any length, and empty. */
function storable(request: ActionRequest): ActionRequest {
  const short = (text: string): string => text.slice(0, 500);
  return {
    ...request,
    by: short(request.by),
    reason: short(request.reason),
    ...(request.evidence === undefined ? {} : { evidence: short(request.evidence) }),
  };
}

export function refusedAs(code: ActionRefusal, detail: string, subject: ActionSubject | undefined): Refused {
  return { outcome: 'refused', code, detail, fits: subject ? availableActions(subject.facts) : [] };
}

/** A refusal that was decided before any step could be asked for. */
export function auditRefusal(
  db: WorldDb,
  request: ActionRequest,
  refusal: ActionRefusal,
  now: Date,
  detail?: string,
): Promise<Refused> {
  return db
    .transaction()
    .execute(async (trx) =>
      recordRefusal(trx, request, refusal, now, await findActionSubject(trx, request.transactionId), detail),
    );
}

/** An action is carried out only at the stage for which the workflow took it. */
const STAGE_OF: Record<PurchaseStatus, ActionStage> = {
  PENDING: 'awaiting-money',
  PROCESSING: 'delivering',
  SUCCESS: 'closed',
  FAILED: 'closed',
};
export type ActionStage = 'awaiting-money' | 'delivering' | 'closed';

type Outcome = Exclude<BeginOutcome, { readonly outcome: 'go' }>;

/** Carries out a begun action. Idempotent: the first outcome is answered again. `not-now`: the rows are at another stage, nothing was written. */
export function carryOutAction(
  db: WorldDb,
  moveId: string,
  { stage, now }: { readonly stage: ActionStage; readonly now: Date },
  written: PendingMessages = newPendingMessages(),
): Promise<Outcome | { readonly outcome: 'not-now' }> {
  return db.transaction().execute(async (trx) => {
    const row = await lockAction(trx, moveId);
    const subject = await lockActionSubject(trx, row.transaction_id);
    await findUnsent(trx, row.transaction_id, written);
    if (row.closed_at !== null || !subject) return outcomeOf(row, subject);
    if (STAGE_OF[subject.facts.status] !== stage) return { outcome: 'not-now' };
    const refusal = refusalNow(row, subject);
    const ended =
      refusal === undefined ? await effectOf(row.move)(trx, row, subject, now) : { refusal: refusal };
    if ('refusal' in ended && stage === 'delivering') await endWithdrawal(trx, row.transaction_id);
    const closed = await endAction(trx, row, ended, now);
    await findUnsent(trx, row.transaction_id, written);
    return outcomeOf(closed, subject, false);
  });
}

/** Actions that end or replace the order of a purchase in delivery. */
const TAKES_BACK: readonly OperatorAction[] = [
  'deliver-other',
  'refund-to-source',
  'credit-wallet',
  'cancel',
];

/** The order was withdrawn for an action that is refused now: the purchase goes on. */
async function endWithdrawal(trx: WorldDb, transactionId: string): Promise<void> {
  await trx
    .updateTable('purchases')
    .set({ withdrawing_since: null })
    .where('transaction_id', '=', transactionId)
    .where('status', '=', 'PROCESSING')
    .execute();
}

/** How things stand, and how much is left, may have changed since it was begun. */
function refusalNow(row: ActionRow, subject: ActionSubject): ActionRefusal | undefined {
  const { purchase } = subject;
  // Its order must have been taken back first, and may not be delivered since: only a withdrawal on the row says so.
  const isWithdrawn = purchase?.status !== 'PROCESSING' || purchase.withdrawing_since !== null;
  if (TAKES_BACK.includes(row.move) && !isWithdrawn) return 'SUPPLIER_MAY_DELIVER';
  const refusal = refusalFor(row.move, subject.facts, termsOf(row));
  if (refusal !== undefined || row.amount_minor === null) return refusal;
  const asked = { amountMinor: String(row.amount_minor), currency: row.currency ?? '' };
  const moves = amountOf(row.move, subject.facts, moneyOf(subject), asked);
  return 'refusal' in moves ? moves.refusal : undefined;
}

/** Closes the record of an action that changes no rows. Idempotent. */
export function closeAction(db: WorldDb, moveId: string, ended: Ended, now: Date): Promise<Outcome> {
  return db.transaction().execute(async (trx) => {
    const row = await lockAction(trx, moveId);
    const subject = await findActionSubject(trx, row.transaction_id);
    if (row.closed_at !== null) return outcomeOf(row, subject);
    return outcomeOf(await endAction(trx, row, ended, now), subject, false);
  });
}

function lockAction(trx: WorldDb, moveId: string): Promise<ActionRow> {
  return trx
    .selectFrom('operator_moves')
    .selectAll()
    .where('id', '=', moveId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

function outcomeOf(row: ActionRow, subject: ActionSubject | undefined, isAgain = true): Outcome {
  const { id: moveId, detail } = row;
  if (row.status === 'DONE')
    return { outcome: 'done', moveId, did: detail ?? '', ...(isAgain ? { again: true } : {}) };
  const code = row.refusal ?? 'NOT_WAITING';
  return refusedAs(code, detail ?? REFUSAL_WORDS[code], subject);
}

function endAction(trx: WorldDb, { id }: ActionRow, ended: Ended, now: Date): Promise<ActionRow> {
  return trx
    .updateTable('operator_moves')
    .set(
      'did' in ended
        ? { status: 'DONE', detail: ended.did, closed_at: now }
        : {
            status: 'REFUSED',
            refusal: ended.refusal,
            detail: ended.detail ?? REFUSAL_WORDS[ended.refusal],
            closed_at: now,
          },
    )
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The decision of a second person. `go`: the action may be carried out now. */
export async function decideApproval(
  db: WorldDb,
  moveId: string,
  decision: { readonly by: string; readonly isApproved: boolean; readonly tryId: string },
  now: Date,
): Promise<
  { readonly outcome: 'go'; readonly move: ActionRow } | Refused | { readonly outcome: 'declined' }
> {
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('operator_moves')
      .selectAll()
      .where('id', '=', moveId)
      .forUpdate()
      .executeTakeFirst();
    if (!row) return refusedAs('NOT_FOUND', `there is no action ${moveId}`, undefined);
    const refuse = async (refusal: ActionRefusal): Promise<Refused> => {
      const request = { ...requestOf(row), moveId: decision.tryId, by: decision.by };
      const reason = `${decision.isApproved ? 'approval' : 'refusal'} of ${moveId}`;
      const subject = await findActionSubject(trx, row.transaction_id);
      return recordRefusal(trx, { ...request, reason }, refusal, now, subject);
    };
    if (requestRefusal({ ...requestOf(row), by: decision.by }) === 'PERSON_NEEDED')
      return refuse('PERSON_NEEDED');
    if (isExpired(row, now)) {
      await expireAction(trx, row, now);
      return refuse('APPROVAL_EXPIRED');
    }
    // Approved before and perhaps not carried out: the same person may send the approval again.
    const isAgain = row.status === 'APPROVED' && isSamePerson(row.approved_by ?? '', decision.by);
    if (isAgain && decision.isApproved) return { outcome: 'go', move: row };
    if (row.status !== 'WAITS_FOR_APPROVAL') return refuse('NOT_WAITING');
    if (isSamePerson(row.by_person, decision.by)) return refuse('SAME_PERSON');
    const status = decision.isApproved ? 'APPROVED' : 'DECLINED';
    const move = await trx
      .updateTable('operator_moves')
      .set({
        status,
        approved_by: decision.by.trim(),
        ...(decision.isApproved ? {} : { closed_at: now, detail: `declined by ${decision.by.trim()}` }),
      })
      .where('id', '=', moveId)
      .returningAll()
      .executeTakeFirstOrThrow();
    return decision.isApproved ? { outcome: 'go', move } : { outcome: 'declined' };
  });
}

/** The request, from its record. */
export function requestOf(row: ActionRow): ActionRequest {
  return {
    moveId: row.id,
    transactionId: row.transaction_id,
    by: row.by_person,
    reason: row.reason,
    moveKey: row.move_key,
    ...(row.evidence === null ? {} : { evidence: row.evidence }),
    ...(JSON.parse(row.asked) as Pick<ActionRequest, 'move'>),
  };
}

/** Every attempt on a purchase or a funding, oldest first. */
export function listActions(db: WorldDb, transactionId: string): Promise<ActionRow[]> {
  return db
    .selectFrom('operator_moves')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .orderBy('created_at')
    .execute();
}

/** Waits for a second person, or was approved and is not carried out yet. */
export function findApprovable(db: WorldDb, moveId: string, now: Date): Promise<ActionRow | undefined> {
  return db
    .selectFrom('operator_moves')
    .selectAll()
    .where('id', '=', moveId)
    .where(sql<boolean>`(status = 'APPROVED' or (status = 'WAITS_FOR_APPROVAL' and expires_at > ${now}))`)
    .executeTakeFirst();
}

/** Oldest first. */
export function listPendingApprovals(db: WorldDb, now: Date): Promise<ActionRow[]> {
  return db
    .selectFrom('operator_moves')
    .selectAll()
    .where('status', '=', 'WAITS_FOR_APPROVAL')
    .where(sql<boolean>`expires_at > ${now}`)
    .orderBy('created_at')
    .limit(1_000)
    .execute();
}

export type EffectPreview =
  | {
      readonly outcome: 'would-do';
      /** In a sentence. */
      readonly did: string;
      readonly amount: Money | null;
      /** Whose purchase or funding it is. */
      readonly accountId: string;
      readonly email: string | null;
      readonly entries: readonly PreviewEntry[];
      /** Refunds that would be asked for at the gateway. */
      readonly refunds: readonly Money[];
      /** Whether another person must approve it: always, or where the amount is above the limit. */
      readonly secondPerson: 'always' | 'above-limit' | 'never';
    }
  /** Refused, made before, or kept for a second person. */
  | Exclude<ActionOutcome, { readonly outcome: 'unknown' }>;

/** Thrown to take everything back. */
class RolledBack extends Error {
  readonly preview: EffectPreview;
  constructor(preview: EffectPreview) {
    super('a preview');
    this.name = 'TakenBack';
    this.preview = preview;
  }
}

/** Runs the real effect and rolls it back, so that a preview cannot differ from the action. Nothing is written, not even a refusal. */
export async function previewEffect(db: WorldDb, request: ActionRequest, now: Date): Promise<EffectPreview> {
  try {
    return await db.transaction().execute(async (trx) => {
      throw new RolledBack(await tryEffect(trx, request, now));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.preview;
    throw error;
  }
}

async function tryEffect(trx: WorldDb, request: ActionRequest, now: Date): Promise<EffectPreview> {
  const judged = await judgeRequest(trx, request, now);
  if (judged.outcome === 'go')
    return { outcome: 'done', moveId: judged.moveId, did: 'begun before', again: true };
  if (judged.outcome !== 'fits') return judged;
  const { amount } = judged;
  const row = await insertBegun(trx, request, judged, now);
  const before = await lastBooked(trx);
  const subject = await lockActionSubject(trx, request.transactionId);
  if (!row || !subject) return refusedAs('NOT_FOUND', 'it is being made right now', subject);
  const about = {
    amount,
    accountId: subject.accountId,
    email: await findEmail(trx, subject.accountId),
    secondPerson: secondPersonFor(request, amount),
  };
  if (CHECK_ACTIONS.includes(request.move))
    return { outcome: 'would-do', did: 'asks, and books what is found', ...about, entries: [], refunds: [] };
  const ended = await effectOf(request.move)(trx, row, subject, now);
  if ('refusal' in ended) return refusedAs(ended.refusal, ended.detail ?? '', subject);
  const known = new Set(subject.refunds.map((refund) => refund.refund_key));
  return {
    outcome: 'would-do',
    did: ended.did,
    ...about,
    entries: await entriesSince(trx, request.transactionId, before),
    refunds: await newRefunds(trx, request.transactionId, known),
  };
}

function secondPersonFor(request: ActionRequest, amount: Money | null): 'always' | 'above-limit' | 'never' {
  if (request.overrides === true) return 'always';
  return amount === null ? 'never' : 'above-limit';
}
