import type { EngineAnswer, PaymentEngine } from '../payments/engine.ts';
import type { PurchaseInput } from './purchase.ts';

/** Carries purchases and payments to their end. The API hands one over and waits for the first answer only. */
export interface PurchaseEngine extends PaymentEngine {
  /**
   * Starts the purchase, or attaches to the one already running or ended under the same transactionId, and waits for its first answer.
   * `no-answer-yet`: the deadline passed; the purchase goes on, and its caller must be told PROCESSING, never that it failed.
   * `in-doubt`: the connection broke and it is not known whether the purchase was started. Only asking again under the same
   * transactionId is safe. Throws EngineUnavailable when certainly nothing was started.
   * `title`: one line for operations, without personal data.
   */
  purchase(input: PurchaseInput, deadlineMs: number, title?: string): Promise<EngineAnswer>;
}
