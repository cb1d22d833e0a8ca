import type { Refusal } from '../domain/refusals.ts';
import type { PaymentPurpose } from '../domain/states.ts';
import type { FundingInput } from './rules.ts';

/** `unknown`: the connection broke, and only a retry under the same id is safe. */
export type EngineAnswer = PurchaseAnswer | Unanswered | 'unknown';

/** The workflow runs, and has not answered in time: it continues, so its caller gets no failure. */
export interface Unanswered {
  readonly status: 'UNANSWERED';
  /** Of the request that started it. */
  readonly fingerprint?: string;
}

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
   * The first answer of the purchase or funding that runs under this id, without starting one. `no-workflow`:
   * none runs, and none is remembered.
   */
  firstAnswer(transactionId: string, deadlineMs: number): Promise<EngineAnswer | 'no-workflow'>;
  /**
   * Checks a payment and books its money, by the workflow that waits for it or, once that has ended, by one
   * for late money. Resolves when that is done or the deadline is over. Throws EngineUnavailable when
   * Temporal cannot be reached.
   */
  check(payment: PaymentSubject, deadlineMs: number): Promise<void>;
  /** The same without waiting for the result: resolves once the engine has accepted the request. */
  checkSoon(payment: PaymentSubject): Promise<void>;
}
