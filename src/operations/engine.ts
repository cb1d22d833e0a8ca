import type { ActionOutcome, ActionRefusal, ActionRequest } from './rules.ts';
import type { PurchaseInput } from '../purchases/purchase.ts';
import type { PaymentPurpose } from '../domain/states.ts';
import type { FundingInput } from '../payments/rules.ts';

/** `rejected`: the workflow's validator refused it; nothing is recorded. `no-workflow`: none runs for it. */
export type EngineOutcome =
  | ActionOutcome
  | { readonly outcome: 'rejected'; readonly code: ActionRefusal }
  | { readonly outcome: 'no-workflow' };

/** The input that a purchase's or funding's workflow was started with. */
export type WorkflowStart =
  | { readonly purpose: 'purchase'; readonly input: PurchaseInput }
  | { readonly purpose: 'funding'; readonly input: FundingInput };

/** Each waits for the outcome up to the deadline, then answers `unknown`. Throws EngineUnavailable when Temporal is not reachable. */
export interface OperatorEngine {
  /** By the purchase's or funding's own workflow. */
  move(request: ActionRequest, deadlineMs: number): Promise<EngineOutcome>;
  /** By a new run of a workflow that is gone while its purchase is open. Steps may run twice, and continue from the rows. */
  carryOn(carried: WorkflowStart, request: ActionRequest, deadlineMs: number): Promise<EngineOutcome>;
  /** By a workflow of its own, which ends once the refunds it caused have ended. */
  repair(
    request: ActionRequest,
    about: { readonly purpose: PaymentPurpose; readonly isFromOutside: boolean },
    deadlineMs: number,
  ): Promise<EngineOutcome>;
}

/** Starts the workflow of a batch repair where it does not run. Never throws: what cannot be started now is left to the sweep. */
export interface BatchRepairEngine {
  begin(repairId: string): Promise<void>;
}

/** The state of workflows in Temporal. Reads only, and never instead of the rows. Throws EngineUnavailable. */
export interface WorkflowStates {
  /** Which of these transactions have no open workflow under their id now. Not read from an index, which may be behind. */
  findUncarried(transactionIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Every workflow of a transaction that Temporal still knows, newest first. */
  ofTransaction(transactionId: string): Promise<readonly WorkflowState[]>;
}

export interface WorkflowState {
  readonly workflowId: string;
  readonly type: string;
  /** Temporal's term, such as RUNNING or COMPLETED. */
  readonly status: string;
  readonly startedAt: Date;
  readonly closedAt: Date | null;
  readonly historyEvents: number;
  readonly needsAttention: boolean;
  readonly reason: string | null;
}
