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
import type { PurchaseStatus, PaymentPurpose, OutsideMethod } from '../domain/states.ts';
import type { Clock } from '../domain/clock.ts';
import type { EngineOutcome, OperatorEngine, WorkflowStart } from './engine.ts';
import { countSettledBefore } from './store/dispute-settlement.ts';
import { findActionSubject, payingPayment, type ActionSubject } from './store/subject.ts';
import {
  auditRefusal,
  previewAction,
  findApprovable,
  decideApproval,
  listActions,
  listPendingApprovals,
  requestOf,
  previewEffect,
  type EffectPreview,
} from './store/actions.ts';
import { attemptKey, findStuckRefunds } from '../payments/store/refunds.ts';
import type { ActionRow } from './store/tables.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import type { OperatorAction } from '../accounts/roles.ts';
import { findMarkOf } from '../platform/idempotency/store.ts';
import type { IdempotencyMark } from '../platform/idempotency/tag.ts';

/** What a person asks for, before it has an id. Without a `moveKey` one is derived, so that asking for the same twice is once; checks are new each time. */
export type ActionInput = Omit<ActionRequest, 'moveId' | 'moveKey' | 'amountMinor' | 'currency'> & {
  readonly amount?: Money | undefined;
  readonly moveKey?: string | undefined;
};

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

export type OperatorActions = ReturnType<typeof createOperatorActions>;

export interface OperatorActionDeps {
  readonly db: WorldDb;
  readonly engine: OperatorEngine;
  readonly clock: Clock;
  /** For a workflow that is started again. */
  readonly timings: PurchaseTimings;
}

/** Long enough for the in-flight grace and one answer of the supplier or the gateway. */
const OUTCOME_WITHIN_MS = 30_000;

export function createOperatorActions(deps: OperatorActionDeps) {
  const { db, clock } = deps;
  const requestOfInput = async (input: ActionInput): Promise<ActionRequest> =>
    requestFor(input, await stateTagOf(db, input));
  const decide = (moveId: string, by: string, isApproved: boolean) =>
    decideApproval(db, moveId, { by, isApproved, tryId: newActionId() }, clock.now());
  return {
    /** undefined: no such purchase or funding. */
    preview: async (transactionId: string): Promise<ActionPreview | undefined> => {
      const subject = await findActionSubject(db, transactionId);
      return subject && previewOf(subject);
    },
    make: async (input: ActionInput): Promise<ActionOutcome> => make(deps, await requestOfInput(input)),
    /** What `make` would do now: the same step, rolled back. Nothing is written. */
    previewEffect: async (input: ActionInput): Promise<EffectPreview> =>
      previewEffect(db, await requestOfInput(input), clock.now()),
    /** What `approve` would do now. */
    previewApproval: async (moveId: string): Promise<EffectPreview | undefined> => {
      const waiting = await findApprovable(db, moveId, clock.now());
      if (!waiting) return undefined;
      // Under its own key the answer would be that it waits; as a new request it is judged by the rows.
      const asNew = { ...requestOf(waiting), moveId: newActionId(), moveKey: newActionId() };
      const seen = await previewEffect(db, asNew, clock.now());
      return seen.outcome === 'would-do' ? { ...seen, secondPerson: 'never' } : seen;
    },
    /** By the second person; the action is then taken. The person who asked is refused, and that is on record. */
    approve: async (moveId: string, by: string): Promise<ActionOutcome> => {
      const decision = await decide(moveId, by, true);
      if (decision.outcome === 'refused') return decision;
      if (decision.outcome === 'declined') return declined(moveId, by);
      // An attempt of its own: under the first id the workflow would answer again that it waits.
      return sendToWorkflow(deps, { ...requestOf(decision.move), moveId: newActionId() });
    },
    decline: async (moveId: string, by: string): Promise<ActionOutcome> => {
      const decision = await decide(moveId, by, false);
      return decision.outcome === 'refused' ? decision : declined(moveId, by);
    },
    /** Oldest first, refused attempts included. */
    listFor: async (transactionId: string): Promise<ActionRecord[]> =>
      (await listActions(db, transactionId)).map(recordOf),
    pendingApprovals: async (): Promise<ActionRecord[]> =>
      (await listPendingApprovals(db, clock.now())).map(recordOf),
    /** Retries every step that can be retried. undefined: no such purchase or funding. */
    replay: (transactionId: string, options: ReplayOptions) => replay(deps, transactionId, options),
  };
}

interface ReplayOptions {
  readonly by: string;
  readonly reason: string;
  readonly dryRun?: boolean;
}

const declined = (moveId: string, by: string): ActionOutcome => ({
  outcome: 'done',
  moveId,
  did: `declined by ${by}: nothing was done`,
});

const newActionId = (): string => makeId('move', randomBytes(16).toString('hex'));

function requestFor(input: ActionInput, stateTag = ''): ActionRequest {
  const { amount, ...asked } = input;
  const moveId = newActionId();
  return {
    ...asked,
    moveId,
    amountMinor: amount && String(amount.amountMinor),
    currency: amount?.currency,
    // Only `true` is part of the request: `false` is the same as absent.
    goodwill: input.goodwill || undefined,
    overrides: input.overrides || undefined,
    moveKey: input.moveKey ?? (CHECK_ACTIONS.includes(input.move) ? moveId : keyOf(input, stateTag)),
  };
}

/** Without absent fields: stored keys are digests of this text. */
const disputeTermsOf = ({ outcome, disputeId, overrides }: ActionInput) => ({
  ...(outcome === undefined ? {} : { outcome }),
  ...(disputeId === undefined ? {} : { disputeId }),
  ...(overrides === true ? { overrides } : {}),
});

/** Makes the key new when the state has changed: a refund failed again, or a dispute came after one was settled. */
async function stateTagOf(db: WorldDb, request: ActionInput): Promise<string> {
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

/** The same for the same request, whatever the person and the reason. */
function keyOf(request: ActionInput, stateTag: string): string {
  const { transactionId, move, amount, packageCode, goodwill } = request;
  const claim = disputeTermsOf(request);
  const parts = [
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
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

/** Refuses at once what the rows already rule out; the workflow decides the rest. */
async function make(deps: OperatorActionDeps, request: ActionRequest): Promise<ActionOutcome> {
  const foreseen = await previewAction(deps.db, request, deps.clock.now());
  return foreseen.outcome === 'go' ? sendToWorkflow(deps, request) : foreseen;
}

/** Asks the purchase's workflow; where that is gone, a new one that goes on with it or, when it is closed, repairs it. */
async function sendToWorkflow(deps: OperatorActionDeps, request: ActionRequest): Promise<ActionOutcome> {
  try {
    const made = await deps.engine.move(request, OUTCOME_WITHIN_MS);
    const outcome = made.outcome === 'nobody' ? await sendToNewWorkflow(deps, request) : made;
    if (outcome.outcome === 'nobody') return { outcome: 'unknown', detail: 'no workflow accepted it' };
    return outcome.outcome === 'rejected' ? await explainRejection(deps, request, outcome.code) : outcome;
  } catch (error) {
    if (error instanceof EngineUnavailable)
      return { outcome: 'unknown', detail: 'Temporal is not reachable; send the same action again to see' };
    throw error;
  }
}

/** The workflow is ahead of the rows as they were read: perhaps by this very action, under the same key. */
async function explainRejection(
  { db, clock }: OperatorActionDeps,
  request: ActionRequest,
  code: ActionRefusal,
): Promise<ActionOutcome> {
  const seen = await previewAction(db, request, clock.now());
  return seen.outcome === 'go' ? auditRefusal(db, request, code, clock.now()) : seen;
}

async function sendToNewWorkflow(
  { db, engine, clock, timings }: OperatorActionDeps,
  request: ActionRequest,
): Promise<EngineOutcome> {
  const subject = await findActionSubject(db, request.transactionId);
  if (!subject) return auditRefusal(db, request, 'NOT_FOUND', clock.now());
  const { facts } = subject;
  const isOpen = facts.status === 'PENDING' || facts.status === 'PROCESSING';
  const carried = isOpen ? await restartInput(db, subject, timings) : undefined;
  return carried
    ? engine.carryOn(carried, request, OUTCOME_WITHIN_MS)
    : engine.repair(request, facts, OUTCOME_WITHIN_MS);
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
    replay: replaySteps(facts),
  };
}

/** The steps that need no decision of a person. */
function replaySteps(facts: ActionFacts): OperatorAction[] {
  const fits = availableActions(facts);
  const isOpen = facts.status === 'PROCESSING';
  const wanted: OperatorAction[] = ['look-at-gateway'];
  if (isOpen) wanted.push('look-at-supplier', 'retry-delivery');
  // Closed with its money still on hold: the hold is posted, or refunded, as the purchase ended.
  else if (facts.holdsMoney) wanted.push('retry-delivery', 'cancel');
  return wanted.filter((move) => fits.includes(move));
}

async function replay(
  deps: OperatorActionDeps,
  transactionId: string,
  { by, reason, dryRun = false }: ReplayOptions,
): Promise<ReplayReport | undefined> {
  const before = await findActionSubject(deps.db, transactionId);
  if (!before) return undefined;
  const steps: { move: OperatorAction; outcome: ActionOutcome | 'would-make' }[] = [];
  let now = before;
  for (const move of ['look-at-gateway', 'look-at-supplier', 'retry-delivery', 'cancel'] as const) {
    // The step before may have settled it, or made this one possible.
    if (!replaySteps(now.facts).includes(move)) continue;
    const outcome = dryRun ? 'would-make' : await make(deps, requestFor({ transactionId, move, by, reason }));
    steps.push({ move, outcome });
    now = (await findActionSubject(deps.db, transactionId)) ?? now;
  }
  return { transactionId, before: situationSummary(before), after: situationSummary(now), steps };
}

const situationSummary = ({ facts }: ActionSubject) => ({ status: facts.status, state: situationOf(facts) });

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

/** The input that the workflow was started with, from the rows. undefined: paid at the gateway, and its charge is not known. */
export async function restartInput(
  db: WorldDb,
  subject: ActionSubject,
  timings: PurchaseTimings,
): Promise<WorkflowStart | undefined> {
  const { transactionId, accountId, purchase, funding, facts } = subject;
  const payment = payingPayment(subject);
  if (facts.isFromOutside && !payment) return undefined;
  const mark = await findMarkOf(db, accountId, transactionId);
  const more: { readonly idempotency?: IdempotencyMark } = mark ? { idempotency: mark } : {};
  const charge = payment && {
    amountMinor: String(payment.charge_minor),
    currency: payment.charge_currency,
    // They only say where the amount came from.
    rateIds: [],
  };
  if (funding && charge) {
    return {
      purpose: 'funding',
      input: {
        transactionId,
        accountId,
        paymentMethod: funding.payment_method,
        amountMinor: String(funding.amount_minor),
        currency: funding.currency,
        charge,
        requestId: funding.request_id,
        timings,
        ...more,
      },
    };
  }
  if (!purchase) return undefined;
  return {
    purpose: 'purchase',
    input: {
      transactionId,
      accountId,
      packageType: purchase.package_type,
      packageCode: purchase.package_code,
      paymentMethod: purchase.payment_method satisfies OutsideMethod | 'WALLET',
      esimId: purchase.esim_id,
      quote: {
        priceMinor: String(purchase.price_minor),
        currency: purchase.currency,
        priceUsdMinor: String(purchase.price_usd_minor),
        costUsdE4: String(purchase.cost_usd_e4),
        settingsId: purchase.settings_id,
        ...(purchase.rate_id === null ? {} : { rateId: purchase.rate_id }),
      },
      ...(charge ? { charge } : {}),
      requestId: purchase.request_id,
      timings,
      ...more,
    },
  };
}
