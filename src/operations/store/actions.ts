/**
 * Operator's moves on record: begun, kept for a second person, made or refused. What a move does and the line that tells of it are written in
 * one transaction; a line that has ended never changes; the same key is the same move, whoever sends it how often.
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
import { findActionSubject, lockActionSubject, moneyOf, type Ended, type ActionSubject } from './subject.ts';
import type { ActionRow } from './tables.ts';
import { findUnsent } from '../../purchases/store/messages.ts';
import type { WorldDb } from '../../platform/database/tables.ts';
import { newPendingMessages, type PendingMessages } from '../../webhooks/store/messages.ts';
import type { OperatorAction } from '../../accounts/roles.ts';
import { sql } from 'kysely';
import { sidesOf, creditOf } from '../../ledger/chart-of-accounts.ts';

/** Whether to go on with a move. `go`: its line stands as BEGUN, or was approved. */
export type BeginOutcome =
  | { readonly outcome: 'go'; readonly moveId: string }
  | Exclude<ActionOutcome, { readonly outcome: 'unknown' }>;

export type Refused = Extract<ActionOutcome, { readonly outcome: 'refused' }>;

/** Judges a wish by the rows and puts it on record, whatever comes of it. Twice is once. */
export async function beginAction(
  db: WorldDb,
  wish: ActionRequest,
  { limits, now }: { readonly limits: ApprovalLimits; readonly now: Date },
): Promise<BeginOutcome> {
  return db.transaction().execute(async (trx) => {
    const judged = await judgeRequest(trx, wish, now);
    if (judged.outcome !== 'fits') return judged;
    const { subject, amount, packageCode } = judged;
    // Against the gateway's word one person is never enough.
    const waits =
      wish.overrides === true || needsApproval(wish.move, subject.facts, amount, moneyOf(subject), limits);
    const expiresAt = waits ? new Date(now.getTime() + APPROVAL_WITHIN_MS) : null;
    const status = waits ? 'WAITS_FOR_APPROVAL' : 'BEGUN';
    const isFirst = await insertAction(trx, wish, { status, amount, packageCode, expiresAt, now });
    // Somebody began the same a moment ago: what became of that counts.
    if (!isFirst) throw new ActionStartedElsewhere(wish.moveKey);
    return expiresAt
      ? { outcome: 'waits-for-approval', moveId: wish.moveId, expiresAt: expiresAt.toISOString() }
      : { outcome: 'go', moveId: wish.moveId };
  });
}

/** Judges a wish without beginning it: refused or made before, that is its outcome; else whoever can make it is to be asked. */
export async function previewAction(db: WorldDb, wish: ActionRequest, now: Date): Promise<BeginOutcome> {
  const judged = await db.transaction().execute((trx) => judgeRequest(trx, wish, now));
  return judged.outcome === 'fits' ? { outcome: 'go', moveId: wish.moveId } : judged;
}

export interface Fits {
  readonly outcome: 'fits';
  readonly subject: ActionSubject;
  readonly amount: Money | null;
  readonly packageCode: string | null;
}

/** Judges a wish by the rows and by its key. A refusal is put on record here. */
export async function judgeRequest(
  trx: WorldDb,
  wish: ActionRequest,
  now: Date,
): Promise<BeginOutcome | Fits> {
  const earlier = await findLive(trx, wish.moveKey, now);
  if (earlier) return answerEarlier(trx, wish, earlier, now);
  const subject = await findActionSubject(trx, wish.transactionId);
  const refuse = (refusal: ActionRefusal): Promise<Refused> =>
    recordRefusal(trx, wish, refusal, now, subject);
  const notAsked = requestRefusal(wish);
  if (notAsked !== undefined) return refuse(notAsked);
  if (!subject) return refuse('NOT_FOUND');
  const unfit = refusalFor(wish.move, subject.facts, termsOf(wish));
  if (unfit !== undefined) return refuse(unfit);
  const moves = amountOf(wish.move, subject.facts, moneyOf(subject), wish);
  if ('refusal' in moves) return refuse(moves.refusal);
  if (wish.move !== 'deliver-other') return { outcome: 'fits', subject, ...moves, packageCode: null };
  const replacement = await findReplacement(trx, subject, wish.packageCode);
  if ('refusal' in replacement) return refuse(replacement.refusal);
  return { outcome: 'fits', subject, ...moves, ...replacement };
}

/** Two of the same began at one time; the step is run again and finds the other. */
export class ActionStartedElsewhere extends Error {
  constructor(moveKey: string) {
    super(`a move is being begun under the key ${moveKey}`);
    this.name = 'MoveBegunBeside';
  }
}

const LIVE = ['BEGUN', 'WAITS_FOR_APPROVAL', 'APPROVED', 'DONE'] as const;

/** The line that a key stands for; one that nobody approved in time is none any more. */
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
  wish: ActionRequest,
  row: ActionRow,
  now: Date,
): Promise<BeginOutcome> {
  if (row.transaction_id !== wish.transactionId || row.asked !== askedText(wish))
    return recordRefusal(trx, wish, 'KEY_REUSED', now, await findActionSubject(trx, wish.transactionId));
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

/** What is wished, as text that is the same for the same wish: who wishes it and why may differ. */
function askedText(wish: ActionRequest): string {
  const { move, amountMinor, currency, packageCode, goodwill, outcome, disputeId, overrides } = wish;
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
async function insertAction(trx: WorldDb, wish: ActionRequest, line: NewLine): Promise<boolean> {
  const inserted = await trx
    .insertInto('operator_moves')
    .values({
      id: wish.moveId,
      transaction_id: wish.transactionId,
      move: wish.move,
      move_key: wish.moveKey,
      asked: askedText(wish),
      by_person: wish.by.trim(),
      reason: wish.reason.trim(),
      evidence: wish.evidence?.trim() ?? null,
      amount_minor: line.amount?.amountMinor ?? null,
      currency: line.amount?.currency ?? null,
      package_code: line.packageCode ?? wish.packageCode ?? null,
      goodwill: wish.goodwill === true,
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

/** Puts a wish that fits on record as begun; undefined: somebody else did. */
export async function insertBegun(
  trx: WorldDb,
  wish: ActionRequest,
  { amount, packageCode }: Fits,
  now: Date,
): Promise<ActionRow | undefined> {
  const isFirst = await insertAction(trx, wish, { status: 'BEGUN', amount, packageCode, now });
  return isFirst ? lockAction(trx, wish.moveId) : undefined;
}

/** A try that is refused is on record like one that is made. */
export async function recordRefusal(
  trx: WorldDb,
  wish: ActionRequest,
  refusal: ActionRefusal,
  now: Date,
  subject: ActionSubject | undefined,
  detail = REFUSAL_WORDS[refusal],
): Promise<Refused> {
  await insertAction(trx, storable(wish), { status: 'REFUSED', refusal, detail, now });
  return refusedAs(refusal, detail, subject);
}

/** What was typed may be of any length, and empty. */
function storable(wish: ActionRequest): ActionRequest {
  const short = (text: string): string => text.slice(0, 500);
  return {
    ...wish,
    by: short(wish.by),
    reason: short(wish.reason),
    ...(wish.evidence === undefined ? {} : { evidence: short(wish.evidence) }),
  };
}

export function refusedAs(code: ActionRefusal, detail: string, subject: ActionSubject | undefined): Refused {
  return { outcome: 'refused', code, detail, fits: subject ? availableActions(subject.facts) : [] };
}

/** A refusal that was decided before any step could be asked for. */
export function auditRefusal(
  db: WorldDb,
  wish: ActionRequest,
  refusal: ActionRefusal,
  now: Date,
  detail?: string,
): Promise<Refused> {
  return db
    .transaction()
    .execute(async (trx) =>
      recordRefusal(trx, wish, refusal, now, await findActionSubject(trx, wish.transactionId), detail),
    );
}

/** Which statuses a stage has: a move is made only at the stage that it was handed over for. */
const STAGE_OF: Record<PurchaseStatus, ActionStage> = {
  PENDING: 'awaiting-money',
  PROCESSING: 'delivering',
  SUCCESS: 'closed',
  FAILED: 'closed',
};
export type ActionStage = 'awaiting-money' | 'delivering' | 'closed';

type Outcome = Exclude<BeginOutcome, { readonly outcome: 'go' }>;

/**
 * Makes a begun move: its effect and its line in one transaction. Twice is once: the first outcome is answered again. `not-now`: the rows are
 * at another stage, and nothing was written.
 */
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
    const unfit = refusalNow(row, subject);
    const ended = unfit === undefined ? await effectOf(row.move)(trx, row, subject, now) : { refusal: unfit };
    if ('refusal' in ended && stage === 'delivering') await endWithdrawal(trx, row.transaction_id);
    const closed = await endAction(trx, row, ended, now);
    await findUnsent(trx, row.transaction_id, written);
    return outcomeOf(closed, subject, false);
  });
}

/** Moves that end or replace the order of a purchase that is being delivered. */
const TAKES_BACK: readonly OperatorAction[] = [
  'deliver-other',
  'refund-to-source',
  'credit-wallet',
  'cancel',
];

/** The order was withdrawn for a move that is not made: the purchase is delivered after all, or found to be cancelled. */
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
  const unfit = refusalFor(row.move, subject.facts, termsOf(row));
  if (unfit !== undefined || row.amount_minor === null) return unfit;
  const asked = { amountMinor: String(row.amount_minor), currency: row.currency ?? '' };
  const moves = amountOf(row.move, subject.facts, moneyOf(subject), asked);
  return 'refusal' in moves ? moves.refusal : undefined;
}

/** Puts on record how a begun move ended that has no effect on our rows. Twice is once. */
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

/** What a second person says of a move that waits. `go`: it may be made now. */
export async function decideApproval(
  db: WorldDb,
  moveId: string,
  word: { readonly by: string; readonly isApproved: boolean; readonly tryId: string },
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
    if (!row) return refusedAs('NOT_FOUND', `there is no move ${moveId}`, undefined);
    const refuse = async (refusal: ActionRefusal): Promise<Refused> => {
      const wish = { ...requestOf(row), moveId: word.tryId, by: word.by };
      const reason = `${word.isApproved ? 'approval' : 'refusal'} of ${moveId}`;
      const subject = await findActionSubject(trx, row.transaction_id);
      return recordRefusal(trx, { ...wish, reason }, refusal, now, subject);
    };
    if (requestRefusal({ ...requestOf(row), by: word.by }) === 'PERSON_NEEDED')
      return refuse('PERSON_NEEDED');
    if (isExpired(row, now)) {
      await expireAction(trx, row, now);
      return refuse('APPROVAL_EXPIRED');
    }
    // Approved before, and perhaps not made: whoever approved it may send it again.
    const isAgain = row.status === 'APPROVED' && isSamePerson(row.approved_by ?? '', word.by);
    if (isAgain && word.isApproved) return { outcome: 'go', move: row };
    if (row.status !== 'WAITS_FOR_APPROVAL') return refuse('NOT_WAITING');
    if (isSamePerson(row.by_person, word.by)) return refuse('SAME_PERSON');
    const status = word.isApproved ? 'APPROVED' : 'DECLINED';
    const move = await trx
      .updateTable('operator_moves')
      .set({
        status,
        approved_by: word.by.trim(),
        ...(word.isApproved ? {} : { closed_at: now, detail: `declined by ${word.by.trim()}` }),
      })
      .where('id', '=', moveId)
      .returningAll()
      .executeTakeFirstOrThrow();
    return word.isApproved ? { outcome: 'go', move } : { outcome: 'declined' };
  });
}

/** The wish that a line tells of. */
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

/** Every try on a purchase or a funding, oldest first. */
export function listActions(db: WorldDb, transactionId: string): Promise<ActionRow[]> {
  return db
    .selectFrom('operator_moves')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .orderBy('created_at')
    .execute();
}

/** A move that `approve` would make: it waits for a second person, or was approved and is not made yet. */
export function findApprovable(db: WorldDb, moveId: string, now: Date): Promise<ActionRow | undefined> {
  return db
    .selectFrom('operator_moves')
    .selectAll()
    .where('id', '=', moveId)
    .where(sql<boolean>`(status = 'APPROVED' or (status = 'WAITS_FOR_APPROVAL' and expires_at > ${now}))`)
    .executeTakeFirst();
}

/** Moves that wait for a second person, oldest first. */
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

/** One entry that would be booked. */
export interface PreviewEntry {
  readonly account: string;
  readonly currency: string;
  readonly debitMinor: bigint;
  readonly creditMinor: bigint;
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
  readonly foresight: EffectPreview;
  constructor(foresight: EffectPreview) {
    super('a preview');
    this.name = 'TakenBack';
    this.foresight = foresight;
  }
}

/** Foresees a move. Nothing is written, not even a refusal. */
export async function previewEffect(db: WorldDb, wish: ActionRequest, now: Date): Promise<EffectPreview> {
  try {
    return await db.transaction().execute(async (trx) => {
      throw new RolledBack(await tryEffect(trx, wish, now));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.foresight;
    throw error;
  }
}

async function tryEffect(trx: WorldDb, wish: ActionRequest, now: Date): Promise<EffectPreview> {
  const judged = await judgeRequest(trx, wish, now);
  if (judged.outcome === 'go')
    return { outcome: 'done', moveId: judged.moveId, did: 'begun before', again: true };
  if (judged.outcome !== 'fits') return judged;
  const { amount } = judged;
  const row = await insertBegun(trx, wish, judged, now);
  const before = await lastBooked(trx);
  const subject = await lockActionSubject(trx, wish.transactionId);
  if (!row || !subject) return refusedAs('NOT_FOUND', 'it is being made right now', subject);
  const about = {
    amount,
    accountId: subject.accountId,
    email: await findEmail(trx, subject.accountId),
    secondPerson: secondPersonFor(wish, amount),
  };
  if (CHECK_ACTIONS.includes(wish.move))
    return { outcome: 'would-do', did: 'asks, and books what is found', ...about, entries: [], refunds: [] };
  const ended = await effectOf(wish.move)(trx, row, subject, now);
  if ('refusal' in ended) return refusedAs(ended.refusal, ended.detail ?? '', subject);
  const known = new Set(subject.refunds.map((refund) => refund.refund_key));
  return {
    outcome: 'would-do',
    did: ended.did,
    ...about,
    entries: await entriesSince(trx, wish.transactionId, before),
    refunds: await newRefunds(trx, wish.transactionId, known),
  };
}

function secondPersonFor(wish: ActionRequest, amount: Money | null): 'always' | 'above-limit' | 'never' {
  if (wish.overrides === true) return 'always';
  return amount === null ? 'never' : 'above-limit';
}

async function lastBooked(trx: WorldDb): Promise<bigint> {
  const { rows } = await sql<{
    id: bigint;
  }>`select coalesce(max(id), 0)::int8 as id from ledger_transactions`.execute(trx);
  return rows[0]?.id ?? 0n;
}

async function entriesSince(trx: WorldDb, transactionId: string, before: bigint): Promise<PreviewEntry[]> {
  const rows = await trx
    .selectFrom('ledger_transactions as t')
    .innerJoin('ledger_entries as e', 'e.ledger_transaction_id', 't.id')
    .select(['e.ledger_account_id as account', 'e.currency', 'e.amount_minor'])
    .where('t.transaction_id', '=', transactionId)
    .where('t.id', '>', before)
    .orderBy('e.id')
    .execute();
  return rows.map(({ account, currency, amount_minor: storedMinor }) => ({
    account,
    currency,
    ...sidesOf(creditOf(storedMinor, currency)),
  }));
}

async function newRefunds(trx: WorldDb, transactionId: string, known: ReadonlySet<string>): Promise<Money[]> {
  const rows = await trx
    .selectFrom('refunds')
    .selectAll()
    .where('transaction_id', '=', transactionId)
    .where('closed_at', 'is', null)
    .execute();
  return rows
    .filter((row) => row.status === 'DUE' || !known.has(row.refund_key))
    .map((row) => ({ amountMinor: row.amount_minor, currency: row.currency }));
}

async function findEmail(trx: WorldDb, accountId: string): Promise<string | null> {
  const { rows } = await sql<{ email: string }>`
    select email from accounts.accounts where id = ${accountId}`.execute(trx);
  return rows[0]?.email ?? null;
}
