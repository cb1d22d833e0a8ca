/**
 * Carries one purchase or funding from step to step: asks a step, waits as told, serves what is asked for
 * meanwhile, and asks again. It never interprets a row or a vendor. Nothing but the callers who wait is kept
 * in memory.
 */
import {
  allHandlersFinished,
  condition,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Refusal } from '../src/domain/refusals.ts';
import type { AttentionReason } from '../src/domain/states.ts';
import type { PurchaseAnswer } from '../src/payments/engine.ts';
import type { RefundTimings } from '../src/payments/rules.ts';
import type { Vendors } from '../src/payments/opened.ts';
import { continueAsNewIfSuggested, isContinued } from './runs.ts';
import * as contract from './contract.ts';
import {
  type Carried,
  type PaymentCheckState,
  type StepEnd,
  type StepResult,
  type Waiting,
  firstAnswer,
} from './contract.ts';
import { NEEDS_ATTENTION, REASON, show } from './search-attributes.ts';
import { followMoney, checkPayment, findVendors, nextAction, performAction } from './steps.ts';

interface Follow {
  /** Before each pause: the caller can be answered. */
  readonly onWaiting?: () => Promise<void>;
  /** Whether a check shows that this phase is over. */
  readonly endsWith: (check: PaymentCheckState) => boolean;
  /** Needs attention when its step has been lost for this long. */
  readonly lost?: { readonly afterMs: number; readonly reason: AttentionReason };
}

export type Carrier = ReturnType<typeof carry>;

/**
 * Checks of a gateway that does not answer, beside those that are asked for. After that the payment monitor
 * and the inbox ask.
 */
const MAX_OWN_CHECKS = 10;
/** A step without an answer: no worker took it, or its answer was lost. The row says how far it came. */
const LOST_FIRST_MS = 1_000;
const LOST_MAX_MS = 60_000;
/** No step asks for a longer pause. An answer may be a stranger's. */
const LONGEST_PAUSE_MS = 24 * 3_600_000;

/** Listens at once: call it before the first step. */
export function carry(carried: Carried) {
  const { transactionId, isThroughGateway, timings, fingerprint } = carried;
  const vendors = createVendors(transactionId);
  const requests = listenForRequests(carried, vendors);
  const buyer = answerCallers(fingerprint);

  /** Asks until the step is done or has failed. Undefined from `ask`: its answer was lost. */
  const follow = async <Done>(
    ask: () => Promise<StepResult<Done> | undefined>,
    { onWaiting, endsWith, lost }: Follow,
  ): Promise<StepEnd<Done>> => {
    let lostSinceMs: number | undefined;
    for (;;) {
      const answered = await ask();
      const step = answered && isUsable(answered) ? answered : undefined;
      lostSinceMs = step ? undefined : (lostSinceMs ?? Date.now());
      if (step && step.state !== 'waiting') return step;
      const waiting = step ?? waitAfterLoss(Date.now() - (lostSinceMs ?? 0), lost);
      await onWaiting?.();
      showWaiting(waiting);
      await pause(requests, waiting, endsWith);
    }
  };

  /** Serves callers until none is left, and follows refunds and disputes until the money is at rest. */
  const close = async ({ followsMoney }: { readonly followsMoney: boolean }): Promise<void> => {
    const askForMoney = async () => followMoney(await vendors.find(), { transactionId, timings });
    let isDue = followsMoney && isThroughGateway;
    let ownChecks = 0;
    for (;;) {
      const before = requests.count();
      if (isDue) await follow(askForMoney, { endsWith: () => true });
      while (requests.isPending()) {
        await beginAnewIfSuggested();
        await requests.serve();
      }
      await condition(() => allHandlersFinished() || requests.isPending());
      if (isThroughGateway && requests.isUnknown() && ownChecks < MAX_OWN_CHECKS) {
        await pause(requests, waitForGateway(timings, ownChecks), () => true);
        ownChecks += 1;
        requests.askForCheck();
      }
      isDue = isThroughGateway && requests.count() !== before;
      if (!isDue && !requests.isPending()) return;
    }
  };

  return {
    vendors,
    requests,
    isAnswered: buyer.isAnswered,
    answer: buyer.answer,
    refuse: (refusal: Refusal) => buyer.answer({ status: 'REFUSED', refusal }),
    follow,
    close,
  };
}

/** The first answer counts: every caller with the same transaction id gets the same. */
function answerCallers(fingerprint: string | undefined) {
  let given: PurchaseAnswer | undefined;
  let callers = 0;
  setHandler(firstAnswer, async () => {
    callers += 1;
    await condition(() => given !== undefined);
    callers -= 1;
    return given as PurchaseAnswer;
  });
  return {
    isAnswered: () => given !== undefined,
    answer: async (first: PurchaseAnswer): Promise<void> => {
      given ??= { ...first, ...(fingerprint === undefined ? {} : { fingerprint }) };
      await condition(() => callers === 0);
    },
  };
}

/** An answer without a time to wait is none: waiting by it would never end, or never begin. */
const isUsable = (step: StepResult): boolean => step.state !== 'waiting' || Number.isFinite(step.waitMs);

function waitAfterLoss(lostForMs: number, lost: Follow['lost']): Waiting {
  const waitMs = Math.min(Math.max(LOST_FIRST_MS, lostForMs), LOST_MAX_MS);
  const attention = lost && lostForMs >= lost.afterMs ? lost.reason : undefined;
  return {
    state: 'waiting',
    waitMs,
    why: 'for a step that gave no answer',
    ...(attention ? { attention } : {}),
  };
}

const waitForGateway = (
  { refundCheckFirstMs, refundCheckMaxMs }: RefundTimings,
  checks: number,
): Waiting => ({
  state: 'waiting',
  waitMs: Math.min(refundCheckFirstMs * 2 ** checks, refundCheckMaxMs),
  why: 'for the gateway, which does not answer',
});

const sentenceOf = ({ why }: Waiting): string => `Waiting ${why}.`;

/** In the Temporal UI only: the step has flagged the row. */
function showWaiting(waiting: Waiting): void {
  const { attention } = waiting;
  const sentence = sentenceOf(waiting);
  setCurrentDetails(
    attention ? `Needs attention: ${attention}. ${sentence} We keep checking automatically.` : sentence,
  );
  // The reason of a failed purchase stays.
  if (!attention && workflowInfo().typedSearchAttributes.get(NEEDS_ATTENTION) !== true) return;
  show([
    { key: NEEDS_ATTENTION, value: attention !== undefined },
    { key: REASON, value: attention ?? null },
  ]);
}

/** Ends after the wait, or once something that was asked for makes the step due. May begin a new run. */
async function pause(requests: Requests, waiting: Waiting, endsWith: Follow['endsWith']): Promise<void> {
  const endsAtMs = Date.now() + requests.longestPauseMs(Math.min(waiting.waitMs, LONGEST_PAUSE_MS));
  const isDue = (): boolean => requests.isPending() || workflowInfo().continueAsNewSuggested;
  for (;;) {
    await beginAnewIfSuggested();
    if (requests.isPending()) {
      const { wakes, check } = await requests.serve();
      if (wakes || (check && endsWith(check))) return;
    }
    // Callers who ask again and again do not put off the step.
    const leftMs = endsAtMs - Date.now();
    if (leftMs <= 0) {
      requests.retryLost();
      return;
    }
    await condition(isDue, leftMs, { summary: sentenceOf(waiting) });
  }
}

/** Callers are answered with what is known, and the new run begins with a check. */
async function beginAnewIfSuggested(): Promise<void> {
  if (workflowInfo().continueAsNewSuggested) await condition(allHandlersFinished);
  continueAsNewIfSuggested();
}

/** No worker took the action's step, or its answer was lost. Its caller asks again after 30 s. */
const RETRY_LOST_ACTION_MS = 15_000;

const UNKNOWN: PaymentCheckState = { state: 'unknown', isKnown: false };

/**
 * What others ask of a running purchase or funding. Handlers only note it. The workflow serves it between its
 * steps, so that no two steps of one purchase run at once, and reads from the rows what there is to do.
 */
interface Requests {
  readonly isPending: () => boolean;
  /**
   * Serves what is asked for. `wakes`: whether the step that the workflow paused after must run again now.
   */
  serve(): Promise<{ readonly wakes: boolean; readonly check?: PaymentCheckState }>;
  /** Asks for a check, as a caller does. */
  askForCheck(): void;
  /** The longest pause: shorter than `waitMs` while an action whose step was lost is to be tried again. */
  longestPauseMs(waitMs: number): number;
  /** A whole pause is over: lost actions are tried again. */
  retryLost(): void;
  /** Checks and actions served by this run. */
  count(): number;
  /** Whether the last check is without an answer. What it finds may still be booked. */
  isUnknown(): boolean;
}

/**
 * Listens until the workflow ends. Call it before the first step, so that no message of the first task is
 * lost.
 */
function listenForRequests(
  { transactionId, purpose, isThroughGateway }: Carried,
  vendors: KnownVendors,
): Requests {
  // A run that continues another may have been asked before.
  let checksAsked = isContinued() && isThroughGateway ? 1 : 0;
  let checksServed = 0;
  let latest = UNKNOWN;
  let hasActions = isContinued();
  let isAnnounced = false;
  let isActionLost = false;
  let served = 0;
  setHandler(contract.checkPayment, async () => {
    checksAsked += 1;
    const mine = checksAsked;
    await condition(() => checksServed >= mine || workflowInfo().continueAsNewSuggested);
    return latest;
  });
  setHandler(contract.checkPaymentSoon, () => {
    checksAsked += 1;
  });
  setHandler(contract.performActions, () => {
    hasActions = true;
  });
  setHandler(contract.supplierAnnounced, () => {
    isAnnounced = true;
  });
  /** Undefined: its answer was lost. */
  const serveCheck = async (): Promise<PaymentCheckState | undefined> => {
    // The check begins after all of these were asked for.
    const upTo = checksAsked;
    const checked = await checkPayment(await vendors.find(), transactionId, purpose);
    latest = checked ?? UNKNOWN;
    checksServed = upTo;
    return checked;
  };
  return {
    isPending: () => checksAsked > checksServed || hasActions || isAnnounced,
    serve: async () => {
      let wakes = isAnnounced;
      isAnnounced = false;
      let check: PaymentCheckState | undefined;
      if (checksAsked > checksServed) {
        const checked = await serveCheck();
        // What a lost check has booked is on the rows, which the step reads.
        wakes ||= checked === undefined;
        check = latest;
        served += 1;
      }
      if (hasActions) {
        hasActions = false;
        const { performed, isLost } = await performOpenActions(transactionId, vendors);
        served += performed;
        isActionLost ||= isLost;
        wakes ||= performed > 0 || isLost;
      }
      return { wakes, ...(check ? { check } : {}) };
    },
    askForCheck: () => {
      checksAsked += 1;
    },
    longestPauseMs: (waitMs) => (isActionLost ? Math.min(waitMs, RETRY_LOST_ACTION_MS) : waitMs),
    retryLost: () => {
      hasActions ||= isActionLost;
      isActionLost = false;
    },
    count: () => served,
    isUnknown: () => checksServed > 0 && !latest.isKnown,
  };
}

/** An action whose step is lost stays open, and so does one whose step only said that it was performed. */
async function performOpenActions(
  transactionId: string,
  vendors: KnownVendors,
): Promise<{ readonly performed: number; readonly isLost: boolean }> {
  let performed = 0;
  let last = '';
  for (let action = await nextAction(transactionId); action; action = await nextAction(transactionId)) {
    const step = action.actionId === last ? undefined : await performAction(await vendors.find(), action);
    vendors.forget();
    if (!step) return { performed, isLost: true };
    last = action.actionId;
    performed += 1;
  }
  return { performed, isLost: false };
}

/** The vendors of a purchase or a funding, from its rows. Read again only after an action. */
interface KnownVendors {
  /** What the step that opened it has said. */
  know(vendors: Vendors | undefined): void;
  /** An action may have replaced its package by one of another supplier. */
  forget(): void;
  find(): Promise<Vendors>;
}

function createVendors(transactionId: string): KnownVendors {
  let known: Vendors | undefined;
  return {
    know: (vendors) => {
      known = vendors;
    },
    forget: () => {
      known = undefined;
    },
    find: async () => (known ??= await findVendors(transactionId)),
  };
}
