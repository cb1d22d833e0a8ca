/**
 * The supplier's fault switches: what the control interface may set. Guarantee: a bad request changes nothing. Must not touch orders
 * itself.
 */
import { CHANCE, DURATION_MS, FLAG, oneOf, type Chance, type Check } from '../support/checks.ts';
import { checked } from '../support/control.ts';
import { WEBHOOK_MODES, type WebhookMode } from '../support/fault-board.ts';

export interface SupplierFaults {
  latencyMs: number;
  allocationMs: number;
  outOfStock: Chance;
  priceChanged: Chance;
  lowBalance: Chance;
  busy: Chance;
  loseAnswer: Chance;
  /** Orders and top-ups are carried out `lateCommitMs` after they came, also where the caller has gone. */
  commitLate: Chance;
  lateCommitMs: number;
  /** Stock, price and balance are checked before a repeated transactionId is recognised. */
  refusalsFirst: boolean;
  /** A cancellation is answered with a code that the vendor's table does not have; nothing is done. */
  cancelUnseen: Chance;
  neverAllocate: Chance;
  wrongSignature: Chance;
  /** The vendor's 8 requests a second. */
  rateLimit: boolean;
  /** A new eSIM gets the ICCID of a cancelled or revoked one. */
  reuseIccid: Chance;
  /** Usage reports stay behind by this much. */
  usageLagMs: number;
  /** Success with errorCode null, as some of the vendor's examples have it. */
  nullErrorCode: boolean;
  /** Top-up answers without topUpEsimTranNo. */
  omitTopUpEsimTranNo: boolean;
  /** What happens to webhooks. */
  webhooks: WebhookMode;
}

const CHECKS: Record<keyof SupplierFaults, Check> = {
  latencyMs: DURATION_MS,
  allocationMs: DURATION_MS,
  outOfStock: CHANCE,
  priceChanged: CHANCE,
  lowBalance: CHANCE,
  busy: CHANCE,
  loseAnswer: CHANCE,
  commitLate: CHANCE,
  lateCommitMs: DURATION_MS,
  refusalsFirst: FLAG,
  cancelUnseen: CHANCE,
  neverAllocate: CHANCE,
  wrongSignature: CHANCE,
  rateLimit: FLAG,
  reuseIccid: CHANCE,
  usageLagMs: DURATION_MS,
  nullErrorCode: FLAG,
  omitTopUpEsimTranNo: FLAG,
  webhooks: oneOf(WEBHOOK_MODES),
};

/** Checks a request body against the table above; throws a ControlError naming every wrong field. */
export function parseFaults(body: unknown): Partial<SupplierFaults> {
  return checked(body, CHECKS, 'fault');
}

/** Nothing goes wrong. */
export function noFaults(allocationMs: number): SupplierFaults {
  return {
    latencyMs: 0,
    allocationMs,
    outOfStock: 0,
    priceChanged: 0,
    lowBalance: 0,
    busy: 0,
    loseAnswer: 0,
    commitLate: 0,
    lateCommitMs: 10_000,
    refusalsFirst: false,
    cancelUnseen: 0,
    neverAllocate: 0,
    wrongSignature: 0,
    rateLimit: false,
    reuseIccid: 0,
    usageLagMs: 0,
    nullErrorCode: false,
    omitTopUpEsimTranNo: false,
    webhooks: 'deliver',
  };
}
