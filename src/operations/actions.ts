/**
 * The operator's moves, for the command line and for /ops. What a person asks for is judged here by the rows, made by the purchase's own
 * workflow or, where that has ended, by one that repairs. Refused tries are on record like made ones.
 */
import { createHash, randomBytes } from 'node:crypto';
import { makeId } from '../domain/ids.ts';
import type { Money } from '../domain/money.ts';
import {
  CHECK_ACTIONS,
  availableActions,
  situationOf,
  type ActionFacts,
  type ActionOutcome,
  type ActionRecordStatus,
  type ActionRefusal,
  type PurchaseSituation,
  type ActionRequest,
} from './rules.ts';
import type { PurchaseTimings } from '../purchases/purchase.ts';
import type { PurchaseStatus, PaymentPurpose } from '../domain/states.ts';
import type { Clock } from '../domain/clock.ts';
import type { EngineOutcome, OperatorEngine } from './engine.ts';
import { countSettledBefore } from './store/dispute-settlement.ts';
import { findApprovable, decideWaiting, listMoves, listWaiting, wishOf } from './store/approvals.ts';
import { previewEffect, type EffectPreview } from './store/preview.ts';
import { findActionSubject, type ActionSubject } from './store/subject.ts';
import { auditRefusal, previewAction } from './store/actions.ts';
import { attemptKey, findStuckRefunds } from '../payments/store/refunds.ts';
import type { ActionRow } from './store/tables.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { carriedFrom } from './action-inputs.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import type { OperatorAction } from '../accounts/roles.ts';
import type { DisputeOutcome } from '../payments/rules.ts';

export interface MoveRequest {
  readonly transactionId: string;
  readonly move: OperatorAction;
  readonly by: string;
  readonly reason: string;
  readonly evidence?: string;
  /** Absent: all that the move can move. */
  readonly amount?: Money;
  readonly packageCode?: string;
  /** Given back although it was delivered. */
  readonly goodwill?: boolean;
  /** settle-claim: how it ended. */
  readonly outcome?: DisputeOutcome;
  /** settle-claim: which dispute, where several are open. */
  readonly disputeId?: string;
  /** settle-claim: against the gateway's word; a second person must approve. */
  readonly overrides?: boolean;
  /** Absent: made of what is asked for, so that asking for the same twice is once; looks and retries are new each time. */
  readonly moveKey?: string;
}

/** How a purchase or a funding stands, and what can be done about it. */
export interface ActionPreview {
  readonly transactionId: string;
  readonly purpose: PaymentPurpose;
  readonly status: PurchaseStatus;
  readonly state: PurchaseSituation;
  readonly attentionReason: string | null;
  readonly facts: ActionFacts;
  readonly fits: readonly OperatorAction[];
  /** The steps that `replay` would make now. */
  readonly replay: readonly OperatorAction[];
}

/** One line of the audit. */
export interface ActionRecord {
  readonly moveId: string;
  readonly transactionId: string;
  readonly move: OperatorAction;
  readonly by: string;
  readonly reason: string;
  readonly evidence: string | null;
  readonly amount: Money | null;
  readonly packageCode: string | null;
  readonly goodwill: boolean;
  readonly status: ActionRecordStatus;
  /** What was done, or why it was refused. */
  readonly detail: string | null;
  readonly refusal: string | null;
  readonly approvedBy: string | null;
  readonly createdAt: Date;
  readonly closedAt: Date | null;
  /** While it waits for a second person. */
  readonly expiresAt: Date | null;
}

export interface ReplayReport {
  readonly transactionId: string;
  readonly before: Pick<ActionPreview, 'status' | 'state'>;
  readonly after: Pick<ActionPreview, 'status' | 'state'>;
  /** In order; `would-make` in a dry run. */
  readonly steps: readonly {
    readonly move: OperatorAction;
    readonly outcome: ActionOutcome | 'would-make';
  }[];
}

export interface OperatorActions {
  /** undefined: no such purchase or funding. */
  preview(transactionId: string): Promise<ActionPreview | undefined>;
  make(request: MoveRequest): Promise<ActionOutcome>;
  /** What `make` would do now: the same step, taken back. Nothing is written. */
  foresee(request: MoveRequest): Promise<EffectPreview>;
  /** What `approve` would do now. */
  foreseeApproved(moveId: string): Promise<EffectPreview | undefined>;
  /** The second person's word; the move is then made. The same person is refused, and that is on record. */
  approve(moveId: string, by: string): Promise<ActionOutcome>;
  /** The second person says no. */
  decline(moveId: string, by: string): Promise<ActionOutcome>;
  /** Oldest first, refused tries included. */
  listFor(transactionId: string): Promise<ActionRecord[]>;
  pendingApprovals(): Promise<ActionRecord[]>;
  /** Does at once what fits now: looks at the gateway, then at the supplier, then retries the delivery, until one of them has ended it. */
  replay(
    transactionId: string,
    options: { readonly by: string; readonly reason: string; readonly dryRun?: boolean },
  ): Promise<ReplayReport | undefined>;
}

export interface OperatorActionDeps {
  readonly db: WorldDb;
  readonly engine: OperatorEngine;
  readonly clock: Clock;
  /** Of a workflow that is begun anew. */
  readonly timings: PurchaseTimings;
}

/** A move may wait for doubt to pass, and for one answer of the supplier or the gateway. */
const OUTCOME_WITHIN_MS = 30_000;

export function createOperatorActions(deps: OperatorActionDeps): OperatorActions {
  return {
    preview: async (transactionId) => {
      const subject = await findActionSubject(deps.db, transactionId);
      return subject && previewOf(subject);
    },
    make: async (request) => make(deps, wishFor(request, await stateTagOf(deps.db, request))),
    foresee: async (request) =>
      previewEffect(deps.db, wishFor(request, await stateTagOf(deps.db, request)), deps.clock.now()),
    foreseeApproved: async (moveId) => {
      const waiting = await findApprovable(deps.db, moveId, deps.clock.now());
      if (!waiting) return undefined;
      // Under its own key it only waits; as a new one it is judged by how things are.
      const asNew = { ...wishOf(waiting), moveId: newMoveId(), moveKey: newMoveId() };
      const seen = await previewEffect(deps.db, asNew, deps.clock.now());
      return seen.outcome === 'would-do' ? { ...seen, secondPerson: 'never' } : seen;
    },
    approve: async (moveId, by) => {
      const judged = await decideWaiting(
        deps.db,
        moveId,
        { by, ...APPROVED, tryId: newMoveId() },
        deps.clock.now(),
      );
      if (judged.outcome === 'refused') return judged;
      if (judged.outcome === 'declined') return declined(moveId, by);
      // A try of its own: under the id of the first the workflow would answer again that it waits.
      return hand(deps, { ...wishOf(judged.move), moveId: newMoveId() });
    },
    decline: async (moveId, by) => {
      const judged = await decideWaiting(
        deps.db,
        moveId,
        { by, ...DECLINED, tryId: newMoveId() },
        deps.clock.now(),
      );
      return judged.outcome === 'refused' ? judged : declined(moveId, by);
    },
    listFor: async (transactionId) => (await listMoves(deps.db, transactionId)).map(recordOf),
    pendingApprovals: async () => (await listWaiting(deps.db, deps.clock.now())).map(recordOf),
    replay: (transactionId, options) => replay(deps, transactionId, options),
  };
}

const APPROVED = { isApproved: true } as const;
const DECLINED = { isApproved: false } as const;

const declined = (moveId: string, by: string): ActionOutcome => ({
  outcome: 'done',
  moveId,
  did: `declined by ${by}: nothing was moved`,
});

const newMoveId = (): string => makeId('move', randomBytes(16).toString('hex'));

function wishFor(request: MoveRequest, stateTag = ''): ActionRequest {
  const { transactionId, move, by, reason, evidence, amount, packageCode, goodwill } = request;
  const moveId = newMoveId();
  return {
    moveId,
    transactionId,
    move,
    by,
    reason,
    ...(evidence === undefined ? {} : { evidence }),
    ...(amount === undefined ? {} : { amountMinor: String(amount.amountMinor), currency: amount.currency }),
    ...(packageCode === undefined ? {} : { packageCode }),
    ...(goodwill === true ? { goodwill } : {}),
    ...claimOf(request),
    moveKey: request.moveKey ?? (CHECK_ACTIONS.includes(move) ? moveId : keyOf(request, stateTag)),
  };
}

const claimOf = ({ outcome, disputeId, overrides }: MoveRequest) => ({
  ...(outcome === undefined ? {} : { outcome }),
  ...(disputeId === undefined ? {} : { disputeId }),
  ...(overrides === true ? { overrides } : {}),
});

/** What a move is about beyond its words: a refund that failed once more, a claim that came after one was settled. */
async function stateTagOf(db: WorldDb, request: MoveRequest): Promise<string> {
  const { transactionId, move, moveKey } = request;
  if (moveKey !== undefined) return '';
  if (move === 'settle-claim') {
    const before = await countSettledBefore(db, request);
    return before === 0 ? '' : `settled ${before}`;
  }
  if (move !== 'refund-to-source') return '';
  const failed = await findStuckRefunds(db, transactionId);
  return failed.map((refund) => attemptKey(refund, refund.attempt)).join();
}

/** The same for the same wish, whoever has it and for whatever reason. */
function keyOf(request: MoveRequest, stateTag: string): string {
  const { transactionId, move, amount, packageCode, goodwill } = request;
  const claim = claimOf(request);
  const wish = [
    transactionId,
    move,
    String(amount?.amountMinor),
    amount?.currency,
    packageCode,
    goodwill === true,
    // Keys made before these were part of them stay as they are.
    ...(stateTag === '' ? [] : [stateTag]),
    ...(Object.keys(claim).length === 0 ? [] : [claim]),
  ];
  return createHash('sha256').update(JSON.stringify(wish)).digest('hex').slice(0, 32);
}

/** What the rows can tell is told at once; all else is for whoever carries the purchase. */
async function make(deps: OperatorActionDeps, wish: ActionRequest): Promise<ActionOutcome> {
  const foreseen = await previewAction(deps.db, wish, deps.clock.now());
  return foreseen.outcome === 'go' ? hand(deps, wish) : foreseen;
}

/** Hands a move to the workflow that carries the purchase, carries it on where that is gone, or repairs what is closed. */
async function hand(deps: OperatorActionDeps, wish: ActionRequest): Promise<ActionOutcome> {
  try {
    const made = await deps.engine.move(wish, OUTCOME_WITHIN_MS);
    const outcome = made.outcome === 'nobody' ? await handToNew(deps, wish) : made;
    if (outcome.outcome === 'nobody') return { outcome: 'unknown', detail: 'no workflow would take it' };
    return outcome.outcome === 'rejected' ? await rejected(deps, wish, outcome.code) : outcome;
  } catch (error) {
    if (error instanceof EngineUnavailable)
      return { outcome: 'unknown', detail: 'Temporal cannot be asked right now; the same move again tells' };
    throw error;
  }
}

/** The workflow has come further than the rows had when they were asked: perhaps by this very move, made under the same key. */
async function rejected(
  { db, clock }: OperatorActionDeps,
  wish: ActionRequest,
  code: ActionRefusal,
): Promise<ActionOutcome> {
  const seen = await previewAction(db, wish, clock.now());
  return seen.outcome === 'go' ? auditRefusal(db, wish, code, clock.now()) : seen;
}

async function handToNew(
  { db, engine, clock, timings }: OperatorActionDeps,
  wish: ActionRequest,
): Promise<EngineOutcome> {
  const subject = await findActionSubject(db, wish.transactionId);
  if (!subject) return auditRefusal(db, wish, 'NOT_FOUND', clock.now());
  const { facts } = subject;
  const isOpen = facts.status === 'PENDING' || facts.status === 'PROCESSING';
  const carried = isOpen ? await carriedFrom(db, subject, timings) : undefined;
  return carried
    ? engine.carryOn(carried, wish, OUTCOME_WITHIN_MS)
    : engine.repair(wish, facts, OUTCOME_WITHIN_MS);
}

function previewOf(subject: ActionSubject): ActionPreview {
  const { transactionId, attentionReason, facts } = subject;
  return {
    transactionId,
    purpose: facts.purpose,
    status: facts.status,
    state: situationOf(facts),
    attentionReason,
    facts,
    fits: availableActions(facts),
    replay: stepsFor(facts),
  };
}

/** What can be asked and tried without anybody having to decide something. */
function stepsFor(facts: ActionFacts): OperatorAction[] {
  const fits = availableActions(facts);
  const isOpen = facts.status === 'PROCESSING';
  const wanted: OperatorAction[] = ['look-at-gateway'];
  if (isOpen) wanted.push('look-at-supplier', 'retry-delivery');
  // Closed, and its money still on hold: posted or given back as it ended.
  else if (facts.holdsMoney) wanted.push('retry-delivery', 'cancel');
  return wanted.filter((move) => fits.includes(move));
}

async function replay(
  deps: OperatorActionDeps,
  transactionId: string,
  { by, reason, dryRun = false }: { readonly by: string; readonly reason: string; readonly dryRun?: boolean },
): Promise<ReplayReport | undefined> {
  const before = await findActionSubject(deps.db, transactionId);
  if (!before) return undefined;
  const steps: { move: OperatorAction; outcome: ActionOutcome | 'would-make' }[] = [];
  let now = before;
  for (const move of ['look-at-gateway', 'look-at-supplier', 'retry-delivery', 'cancel'] as const) {
    // What a step found may have ended it, or made room for the next.
    if (!stepsFor(now.facts).includes(move)) continue;
    const outcome = dryRun ? 'would-make' : await make(deps, wishFor({ transactionId, move, by, reason }));
    steps.push({ move, outcome });
    now = (await findActionSubject(deps.db, transactionId)) ?? now;
  }
  return { transactionId, before: standOf(before), after: standOf(now), steps };
}

const standOf = ({ facts }: ActionSubject) => ({ status: facts.status, state: situationOf(facts) });

function recordOf(row: ActionRow): ActionRecord {
  return {
    moveId: row.id,
    transactionId: row.transaction_id,
    move: row.move,
    by: row.by_person,
    reason: row.reason,
    evidence: row.evidence,
    amount:
      row.amount_minor === null || row.currency === null
        ? null
        : { amountMinor: row.amount_minor, currency: row.currency },
    packageCode: row.package_code,
    goodwill: row.goodwill,
    status: row.status,
    detail: row.detail,
    refusal: row.refusal,
    approvedBy: row.approved_by,
    createdAt: row.created_at,
    closedAt: row.closed_at,
    expiresAt: row.status === 'WAITS_FOR_APPROVAL' ? row.expires_at : null,
  };
}
