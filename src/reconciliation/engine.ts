import type { ReconcileSummary } from './payment-rules.ts';

/** Runs reconciliation in a worker, which knows the vendors. */
export interface ReconcileEngine {
  /**
   * null where nothing has happened yet. Without a range: everything since the last regular run. Throws
   * EngineUnavailable, and the error of a run that ended unfinished.
   */
  reconcile(request: {
    readonly askedBy: string;
    readonly range?: { readonly from: Date; readonly to: Date } | undefined;
  }): Promise<ReconcileSummary | null>;
}
