import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { actionSpec, type OperatorAction } from '../accounts/operators/action-table.ts';
import type { Clock } from '../domain/clock.ts';
import { makeId } from '../domain/ids.ts';
import type { Money } from '../domain/money.ts';
import { EngineUnavailable } from '../domain/outcome.ts';
import type { GatewayMethod } from '../domain/states.ts';
import { attemptKey, countUndone, findStuckRefunds } from '../payments/store/refunds.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { findMarkOf } from '../platform/idempotency/store.ts';
import type { PurchaseTimings } from '../purchases/purchase.ts';
import type { ReplayStep } from './batch-repair-rules.ts';
import type { OperatorEngine, WorkflowStart } from './engine.ts';
import { askVendors, needsVendor, type PreviewVendors } from './preview-vendors.ts';
import {
  availableActions,
  situationOf,
  type ActionFacts,
  type ActionOutcome,
  type ActionRequest,
  type ApprovalLimits,
} from './rules.ts';
import {
  askForAction,
  findApprovable,
  decideApproval,
  listActions,
  listPendingApprovals,
  findOutcome,
  requestOf,
  previewEffect,
  type ApprovalDecision,
  type EffectPreview,
} from './store/actions.ts';
import { countSettledBefore } from './store/dispute-settlement.ts';
import type { RepairAuthor } from './store/events-and-messages.ts';
import { countOtherPackagesBefore } from './store/other-package.ts';
import { findActionSubject, payingPayment, type ActionSubject } from './store/subject.ts';
import type { ActionRow } from './store/tables.ts';

/** What a person asks for. Without an `actionKey` equal requests act once; checks are new each time. */
export type ActionInput = Omit<ActionRequest, 'actionId' | 'actionKey' | 'amountMinor' | 'currency'> & {
  readonly amount?: Money | undefined;
  readonly actionKey?: string | undefined;
};

/** The state of a purchase or a funding, with its available actions. */
export type ActionPreview = ReturnType<typeof previewOf>;
export type ActionRecord = ReturnType<typeof recordOf>;
export type OperatorActions = ReturnType<typeof createOperatorActions>;

interface OperatorActionDeps {
  readonly db: WorldDb;
  readonly engine: OperatorEngine;
  readonly clock: Clock;
  /** For a workflow that is started again. */
  readonly timings: PurchaseTimings;
  /** Amounts above which a second person must approve. */
  readonly limits: ApprovalLimits;
  /** Asked by previews, which change nothing there. Workers preview nothing. */
  readonly vendors?: PreviewVendors | undefined;
}

/** Longer actions answer `unknown`; the same command again returns the outcome. */
const OUTCOME_WITHIN_MS = 30_000;

export function createOperatorActions(deps: OperatorActionDeps) {
  const { db, clock } = deps;
  const preview = async (request: ActionRequest, isToAsk: () => boolean = () => true) => {
    const at = { limits: deps.limits, now: clock.now() };
    const seen = await previewEffect(db, request, at);
    if (!deps.vendors || !needsVendor(request, seen) || !isToAsk()) return seen;
    return previewEffect(db, request, at, await askVendors(db, deps.vendors, request));
  };
  const decide = async (actionId: string, decision: ApprovalDecision): Promise<ActionOutcome> => {
    const decided = await decideApproval(db, actionId, { ...decision, tryId: newActionId() }, clock.now());
    if (decided.outcome !== 'go') return decided;
    return wakeAndWait(deps, { actionId, transactionId: decided.row.transaction_id });
  };
  return {
    /** undefined: no such purchase or funding. */
    preview: async (transactionId: string) => {
      const subject = await findActionSubject(db, transactionId);
      return subject && previewOf(subject);
    },
    perform: async (input: ActionInput) => make(deps, await requestFor(db, input)),
    /**
     * What `make` would do now: the same step, rolled back, after the vendors that it would ask. Nothing is
     * written. `isToAsk`: whether a vendor may be asked for this one.
     */
    previewEffect: async (input: ActionInput, isToAsk?: () => boolean) =>
      preview(await requestFor(db, input), isToAsk),
    /** What `approve` would do now. */
    previewApproval: async (actionId: string): Promise<EffectPreview | undefined> => {
      const waiting = await findApprovable(db, actionId, clock.now());
      if (!waiting) return undefined;
      // Under its own key the answer would be that it waits; as a new request it is judged by the rows.
      const asNew = { ...requestOf(waiting), actionId: newActionId(), actionKey: newActionId() };
      const seen = await preview(asNew);
      return seen.outcome === 'would-do' ? { ...seen, needsSecondPerson: false } : seen;
    },
    /** For the second person. Takes the action. Refuses the person who requested it, and records that. */
    approve: (actionId: string, by: string, reason?: string) =>
      decide(actionId, { by, reason, isApproved: true }),
    decline: (actionId: string, by: string, reason?: string) =>
      decide(actionId, { by, reason, isApproved: false }),
    /** Oldest first, refused attempts included. */
    listFor: async (transactionId: string) => (await listActions(db, transactionId)).map(recordOf),
    pendingApprovals: async () => (await listPendingApprovals(db, clock.now())).map(recordOf),
    /** Retries every step that can be retried. undefined: no such purchase or funding. */
    replay: (transactionId: string, options: ReplayOptions) => replay(deps, transactionId, options),
  };
}

/** The person who retries, and whether it is a dry run. */
export interface ReplayOptions extends RepairAuthor {
  /** false: money that is still on hold stays there. */
  readonly mayCancel?: boolean | undefined;
  readonly isDryRun?: boolean;
}

const newActionId = (): string => makeId('action', randomBytes(16).toString('hex'));

async function requestFor(db: WorldDb, input: ActionInput): Promise<ActionRequest> {
  const { amount, ...asked } = input;
  const actionId = newActionId();
  return {
    ...asked,
    actionId,
    amountMinor: amount && String(amount.amountMinor),
    currency: amount?.currency,
    // Only `true` is part of the request: `false` is the same as absent.
    goodwill: input.goodwill || undefined,
    overrides: input.overrides || undefined,
    movesNoMoney: input.movesNoMoney || undefined,
    actionKey: input.actionKey ?? (actionSpec(input.action).isCheck ? actionId : await keyOf(db, input)),
  };
}

/** Equal for equal requests; person and reason do not count. */
async function keyOf(db: WorldDb, request: ActionInput): Promise<string> {
  const { transactionId, action, amount, packageCode, goodwill, outcome, disputeId, overrides } = request;
  const parts = [
    transactionId,
    action,
    String(amount?.amountMinor),
    amount?.currency,
    packageCode,
    goodwill === true,
    await stateTagOf(db, request),
    request.movesNoMoney === true,
    outcome,
    disputeId,
    overrides === true,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

/** Makes the key new once something has undone an earlier action. An action's own effect never does. */
const STATE_TAGS: Partial<Record<OperatorAction, (db: WorldDb, request: ActionInput) => Promise<string>>> = {
  /** A dispute came after one was settled. */
  'settle-dispute': async (db, request) => {
    const before = await countSettledBefore(db, request);
    return before === 0 ? '' : `settled ${before}`;
  },
  /** A refund failed again, or went to the wallet instead. */
  'refund-to-source': async (db, { transactionId }) => {
    const failed = await findStuckRefunds(db, transactionId);
    const { credited } = await countUndone(db, transactionId);
    const tries = failed.map((refund) => attemptKey(refund, refund.attempt));
    return [...tries, ...(credited === 0 ? [] : [`credited ${credited}`])].join();
  },
  /** What was credited was taken out of the wallet again. */
  'credit-wallet': async (db, { transactionId }) => {
    const { takenOut } = await countUndone(db, transactionId);
    return takenOut === 0 ? '' : `taken out ${takenOut}`;
  },
  /** The supplier will not deliver the last replacement either. */
  'deliver-other': async (db, { transactionId }) => {
    const before = await countOtherPackagesBefore(db, transactionId);
    return before === 0 ? '' : `replaced ${before}`;
  },
  /** A payment was found open after the purchase was cancelled. */
  cancel: async (db, { transactionId }) =>
    (await findActionSubject(db, transactionId))?.facts.isLeftOpen ? 'payment left open' : '',
};

const stateTagOf = async (db: WorldDb, request: ActionInput): Promise<string> =>
  (await STATE_TAGS[request.action]?.(db, request)) ?? '';

/** Judges the request and puts it on record, then has its workflow perform it. */
async function make(deps: OperatorActionDeps, request: ActionRequest): Promise<ActionOutcome> {
  const { limits } = deps;
  const asked = await askForAction(deps.db, request, { limits, now: deps.clock.now() });
  return asked.outcome === 'go' ? wakeAndWait(deps, asked) : asked;
}

/** Wakes the purchase's workflow, and waits for the action's row to close. */
async function wakeAndWait(
  deps: OperatorActionDeps,
  action: Pick<ActionRequest, 'actionId' | 'transactionId'>,
): Promise<ActionOutcome> {
  try {
    await wake(deps, action.transactionId);
  } catch (error) {
    if (!(error instanceof EngineUnavailable)) throw error;
    return { outcome: 'unknown', detail: 'Temporal is not reachable; send the same action again to see' };
  }
  return waitForOutcome(deps.db, action.actionId);
}

/** If no workflow runs, starts one: the purchase's own while it is open, else `afterClosing`. */
async function wake({ db, engine, timings }: OperatorActionDeps, transactionId: string): Promise<void> {
  if (await engine.perform(transactionId)) return;
  const subject = await findActionSubject(db, transactionId);
  if (!subject) return;
  const { status, purpose, isThroughGateway } = subject.facts;
  const isOpen = status === 'PENDING' || status === 'PROCESSING';
  const start = isOpen ? await restartInput(db, subject, timings) : undefined;
  if (start) await engine.restartAndPerform(start);
  else await engine.performAfterClose({ transactionId, purpose, isThroughGateway });
}

const POLL_FIRST_MS = 20;
const POLL_MAX_MS = 500;

/** A few dozen reads for each action of a person. */
async function waitForOutcome(db: WorldDb, actionId: string): Promise<ActionOutcome> {
  const endsAtMs = performance.now() + OUTCOME_WITHIN_MS;
  for (let waitMs = POLL_FIRST_MS; performance.now() < endsAtMs; waitMs = Math.min(waitMs * 2, POLL_MAX_MS)) {
    const outcome = await findOutcome(db, actionId);
    if (outcome) return outcome;
    await pause(waitMs);
  }
  return { outcome: 'unknown', detail: 'no answer in time; repeat the same action to see its outcome' };
}

function previewOf(subject: ActionSubject) {
  const { transactionId, attentionReason, facts } = subject;
  const { purpose, status } = facts;
  return {
    transactionId,
    purpose,
    status,
    state: situationOf(facts),
    attentionReason,
    fits: availableActions(facts),
    /** The steps that `replay` would make now. */
    replay: replaySteps(facts),
  };
}

/** The steps that need no decision of a person, in order. */
function replaySteps(facts: ActionFacts): OperatorAction[] {
  const wanted: OperatorAction[] = ['check-gateway'];
  if (facts.status === 'PROCESSING') wanted.push('check-supplier', 'retry-delivery');
  // Closed with its money still on hold: the hold is posted, or refunded, as the purchase ended.
  else if (facts.holdsMoney) wanted.push('retry-delivery', 'cancel');
  const fits = availableActions(facts);
  return wanted.filter((action) => fits.includes(action));
}

async function replay(
  deps: OperatorActionDeps,
  transactionId: string,
  { by, reason, isDryRun, mayCancel = true }: ReplayOptions,
) {
  const before = await findActionSubject(deps.db, transactionId);
  if (!before) return undefined;
  const steps: ReplayStep[] = [];
  let now = before;
  for (const action of ['check-gateway', 'check-supplier', 'retry-delivery', 'cancel'] as const) {
    // The step before may have settled it, or made this one possible.
    if (!replaySteps(now.facts).includes(action) || (action === 'cancel' && !mayCancel)) continue;
    const made = isDryRun
      ? undefined
      : await make(deps, await requestFor(deps.db, { transactionId, action, by, reason }));
    now = (await findActionSubject(deps.db, transactionId)) ?? now;
    // Its workflow has done meanwhile what this step was for.
    if (made?.outcome === 'refused' && !replaySteps(now.facts).includes(action)) continue;
    steps.push({ step: action, outcome: made?.outcome ?? 'would-do', detail: made ? detailOf(made) : '' });
  }
  return { before: statusOf(before), after: statusOf(now), steps };
}

const statusOf = ({ facts }: ActionSubject): string => `${facts.status}, ${situationOf(facts)}`;

/** An outcome in words. */
export function detailOf(made: ActionOutcome): string {
  switch (made.outcome) {
    case 'done':
      return made.did;
    case 'waits-for-approval':
      return made.actionId;
    case 'refused':
    case 'unknown':
      return made.detail;
  }
}

function recordOf(row: ActionRow) {
  return {
    actionId: row.id,
    transactionId: row.transaction_id,
    action: row.action,
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
    /** What was done, or why it was refused. */
    detail: row.detail,
    refusal: row.refusal,
    /** Who approved or declined it. */
    approvedBy: row.approved_by,
    decisionReason: row.decision_reason,
    createdAt: row.created_at,
    closedAt: row.closed_at,
    /** While it waits for a second person. */
    expiresAt: row.status === 'WAITS_FOR_APPROVAL' ? row.expires_at : null,
  };
}

/** The input that the workflow was started with. undefined: it is paid by a charge that is not known. */
async function restartInput(
  db: WorldDb,
  subject: ActionSubject,
  timings: PurchaseTimings,
): Promise<WorkflowStart | undefined> {
  const { transactionId, accountId, purchase, funding, facts } = subject;
  const payment = payingPayment(subject);
  if (facts.isThroughGateway && !payment) return undefined;
  const mark = await findMarkOf(db, accountId, transactionId);
  const common = { transactionId, accountId, timings, ...(mark ? { idempotency: mark } : {}) };
  const charge = payment && {
    gateway: payment.gateway,
    amountMinor: String(payment.charge_minor),
    currency: payment.charge_currency,
    // They only say where the amount came from.
    rateIds: [],
  };
  if (funding && charge) {
    return {
      purpose: 'funding',
      input: {
        ...common,
        charge,
        paymentMethod: funding.payment_method,
        amountMinor: String(funding.amount_minor),
        currency: funding.currency,
        requestId: funding.request_id,
      },
    };
  }
  return (
    purchase && {
      purpose: 'purchase',
      input: {
        ...common,
        ...(charge ? { charge } : {}),
        packageType: purchase.package_type,
        packageCode: purchase.package_code,
        paymentMethod: purchase.payment_method satisfies GatewayMethod | 'WALLET',
        esimId: purchase.esim_id,
        quote: {
          priceMinor: String(purchase.price_minor),
          currency: purchase.currency,
          priceUsdMinor: String(purchase.price_usd_minor),
          costUsdE4: String(purchase.cost_usd_e4),
          settingsId: purchase.settings_id,
          ...(purchase.rate_id === null ? {} : { rateId: purchase.rate_id }),
        },
        requestId: purchase.request_id,
      },
    }
  );
}
