import type { PurchaseInput } from '../purchases/purchase.ts';
import type { PaymentPurpose } from '../domain/states.ts';
import type { FundingInput } from '../payments/rules.ts';

/** The input that a purchase's or funding's workflow was started with. */
export type WorkflowStart =
  | { readonly purpose: 'purchase'; readonly input: PurchaseInput }
  | { readonly purpose: 'funding'; readonly input: FundingInput };

/** Wakes workflows for recorded actions. Throws EngineUnavailable when Temporal is not reachable. */
export interface OperatorEngine {
  /** The purchase's or funding's own workflow. False: none runs. */
  perform(transactionId: string): Promise<boolean>;
  /** A new run of a workflow that is gone while its purchase is open. It continues from the rows. */
  restartAndPerform(start: WorkflowStart): Promise<void>;
  /** The workflow for what comes after closing, which is started where it does not run. */
  performAfterClose(closed: ClosedSubject): Promise<void>;
}

export interface ClosedSubject {
  readonly transactionId: string;
  readonly purpose: PaymentPurpose;
  readonly isThroughGateway: boolean;
}

/** Workflows in Temporal. Reads only, and never instead of the rows. Throws EngineUnavailable. */
export interface WorkflowStates {
  /** Those that have no open workflow under their id now. Not read from an index, which may be behind. */
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
