/**
 * What others ask of a running purchase or funding. Handlers only note it. The workflow serves it between its
 * steps, so that no two steps of one purchase run at once, and reads from the rows what there is to do.
 */
import { condition, setHandler, workflowInfo } from '@temporalio/workflow';
import type { Carried, PaymentCheckState } from './contract.ts';
import { isContinued } from './runs.ts';
import * as contract from './contract.ts';
import { checkPayment, findVendors, nextAction, performAction } from './steps.ts';
import type { Vendors } from '../src/payments/opened.ts';
import { startDeliveries } from './webhooks/start-deliveries.ts';

/** No worker took the action's step, or its answer was lost. Its caller asks again after 30 s. */
const RETRY_LOST_ACTION_MS = 15_000;

const UNKNOWN: PaymentCheckState = { state: 'unknown', isKnown: false };

export interface Requests {
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
export function listenForRequests(
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
    await startDeliveries(step.messages, transactionId);
    last = action.actionId;
    performed += 1;
  }
  return { performed, isLost: false };
}

/** The vendors of a purchase or a funding, from its rows. Read again only after an action. */
export interface KnownVendors {
  /** What the step that opened it has said. */
  know(vendors: Vendors | undefined): void;
  /** An action may have replaced its package by one of another supplier. */
  forget(): void;
  find(): Promise<Vendors>;
}

export function createVendors(transactionId: string): KnownVendors {
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
