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
