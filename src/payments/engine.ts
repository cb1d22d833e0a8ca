import type { Refusal } from '../domain/refusals.ts';
import type { PaymentPurpose } from '../domain/states.ts';
import type { FundingInput } from './rules.ts';

export type EngineAnswer = PurchaseAnswer | 'no-answer-yet' | 'unknown';

export interface PaymentSubject {
  readonly transactionId: string;
  readonly purpose: PaymentPurpose;
}

/** The first answer to the caller. SUCCESS and PROCESSING carry no data: the rows are in Postgres. */
export type PurchaseAnswer = (
  | { readonly status: 'SUCCESS' | 'PROCESSING' | 'PENDING' }
  | { readonly status: 'REFUSED'; readonly refusal: Refusal }
) & {
  /** Of the request that opened the purchase: a retry with another body is refused. */
  readonly fingerprint?: string;
};

/** Carries payments: fundings of a wallet to their end, and every check at the gateway. */
export interface PaymentEngine {
  /** Starts the funding, or attaches to it, as `PurchaseEngine.purchase` does. */
  fundWallet(input: FundingInput, deadlineMs: number): Promise<EngineAnswer>;
  /**
   * Checks a payment and books its money, by the workflow that waits for it or, once that has ended, by one for late money. Resolves when that is
   * done or the deadline is over. Throws EngineUnavailable when Temporal cannot be reached.
   */
  check(payment: PaymentSubject, deadlineMs: number): Promise<void>;
  /** The same without waiting for the result: resolves once the engine has accepted the request. */
  checkSoon(payment: PaymentSubject): Promise<void>;
}
