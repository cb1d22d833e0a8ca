import type { ActionOutcome, ActionRefusal, ActionRequest } from './rules.ts';
import type { PurchaseInput } from '../purchases/purchase.ts';
import type { PaymentPurpose } from '../domain/states.ts';
import type { FundingInput } from '../payments/rules.ts';

/** `rejected`: the workflow's validator refused it, and nothing is on record. `nobody`: no workflow runs for it. */
export type EngineOutcome =
  | ActionOutcome
  | { readonly outcome: 'rejected'; readonly code: ActionRefusal }
  | { readonly outcome: 'nobody' };

/** What is to be carried, as it was begun with. */
export type WorkflowStart =
  | { readonly purpose: 'purchase'; readonly input: PurchaseInput }
  | { readonly purpose: 'funding'; readonly input: FundingInput };

/** Each waits for the outcome up to the deadline, then answers `unknown`. Throws EngineUnavailable when Temporal is not reachable. */
export interface OperatorEngine {
  /** By the workflow that carries it. */
  move(request: ActionRequest, deadlineMs: number): Promise<EngineOutcome>;
  /** By a fresh run of a workflow that is gone while its purchase is open: every step may run twice, so it finds everything in the rows. */
  carryOn(carried: WorkflowStart, request: ActionRequest, deadlineMs: number): Promise<EngineOutcome>;
  /** By a workflow of its own, which stays until money that it sends back has gone. */
  repair(
    request: ActionRequest,
    about: { readonly purpose: PaymentPurpose; readonly isFromOutside: boolean },
    deadlineMs: number,
  ): Promise<EngineOutcome>;
}

/** What the engine says of its workflows: which are open, and how one stands. Reads only, and never instead of the rows. */

export interface WorkflowStates {
  /**
   * Of these transactions, the ones that have no open workflow under their id. By the engine's own word at this moment, never by an index
   * that may be behind. Throws EngineUnavailable.
   */
  findUncarried(transactionIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Every workflow that was ever started for a transaction and is still known, newest first. Throws EngineUnavailable. */
  ofTransaction(transactionId: string): Promise<readonly WorkflowState[]>;
}

export interface WorkflowState {
  readonly workflowId: string;
  readonly type: string;
  /** The engine's own word, such as RUNNING or COMPLETED. */
  readonly status: string;
  readonly startedAt: Date;
  readonly closedAt: Date | null;
  readonly historyEvents: number;
  readonly needsAttention: boolean;
  readonly reason: string | null;
}
