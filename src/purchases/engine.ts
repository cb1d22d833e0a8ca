/** What carries purchases. The app hands over a purchase and hears the first answer; everything after that is the engine's to finish. */
import type { FundingInput } from '../payments/funding-rules.ts';
import type { PaymentPurpose } from '../payments/rules.ts';
import type { PurchaseAnswer, PurchaseInput } from './purchase.ts';

export interface PurchaseEngine {
  /**
   * Starts the purchase, or attaches to the one already running or ended under the same transactionId, and waits for its first answer.
   * `no-answer-yet` after the deadline: the purchase goes on and must be told to the caller as PROCESSING, never as failed.
   * `in-doubt`: the connection broke and nobody says whether it was started, so it may be told neither as PROCESSING nor as failed;
   * only asking again under the same transactionId is safe. Throws EngineUnavailable when it is certain that nothing was started.
   * `title`: one line for operations, without personal data.
   */
  purchase(input: PurchaseInput, deadlineMs: number, title?: string): Promise<EngineAnswer>;
  /** The same for a wallet that is to be funded. */
  fundWallet(input: FundingInput, deadlineMs: number): Promise<EngineAnswer>;
  /**
   * Has the gateway asked about a payment and its money booked, by the workflow that waits for it or, where that has ended, by one for late
   * money. Resolves once that is done or the deadline is over, whichever is first. Throws EngineUnavailable when nobody could be asked.
   */
  look(payment: WhosePayment, deadlineMs: number): Promise<void>;
  /** The same, without waiting for it: resolves once the engine has taken the wish. */
  lookSoon(payment: WhosePayment): Promise<void>;
}

export type EngineAnswer = PurchaseAnswer | 'no-answer-yet' | 'in-doubt';

export interface WhosePayment {
  readonly transactionId: string;
  readonly purpose: PaymentPurpose;
}

/** Nothing was started: the caller may safely be told to try again. */
export class EngineUnavailable extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'EngineUnavailable';
  }
}
