/** Reconciliation where its vendors can be asked: in a worker, for whoever asks for it from elsewhere. */
import type { ReconcileSummary } from './payment-rules.ts';

export interface ReconcileEngine {
  /**
   * Compares, to its end; null where nothing has happened yet. Without a range: everything since the last regular run. Throws
   * EngineUnavailable where nobody can be asked to, and whatever ended the run unfinished.
   */
  reconcile(request: {
    readonly askedBy: string;
    readonly range?: { readonly from: Date; readonly to: Date };
  }): Promise<ReconcileSummary | null>;
}
