import type { EngineAnswer, PaymentEngine } from '../payments/engine.ts';
import type { PurchaseInput } from './purchase.ts';

/** Runs purchases and payments to their end. The API waits for the first answer only. */
export interface PurchaseEngine extends PaymentEngine {
  /**
   * Starts the purchase, or attaches to the one already running or ended under the same transactionId, and
   * waits for its first answer. Throws EngineUnavailable when nothing was started. `title`, the package, and
   * `buyer` are for operations. Temporal stores the title in clear, and encrypts the buyer.
   */
  purchase(input: PurchaseInput, deadlineMs: number, title?: string, buyer?: string): Promise<EngineAnswer>;
  /** Wakes a purchase that waits for its supplier. After EngineUnavailable, call it again. */
  supplierAnnounced(transactionId: string): Promise<void>;
}

/** Runs returns of unused eSIMs, or replacements, to their end. */
export interface ReturnEngine {
  /** Starts its workflow, unless it runs. Where Temporal does not take it now, a sweep starts it soon. */
  begin(row: { readonly id: string; readonly supplier: string; readonly account_id: string }): Promise<void>;
  /** Waits for the end of its workflow, at most so long. */
  waitFor(id: string, deadlineMs: number): Promise<void>;
}
