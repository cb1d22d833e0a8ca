/** The words of a wallet being funded from outside, as they cross rooms. Amounts are decimal digits. */
import type { AccountCurrency } from '../domain/money.ts';
import type { ChargeQuote, PaymentTimings } from './rules.ts';
import type { IdempotencyMark } from '../platform/idempotency/tag.ts';
import type { OutsideMethod } from '../domain/states.ts';

export interface FundingInput {
  readonly transactionId: string;
  readonly accountId: string;
  readonly paymentMethod: OutsideMethod;
  readonly amountMinor: string;
  readonly currency: AccountCurrency;
  readonly charge: ChargeQuote;
  readonly requestId: string;
  readonly timings: PaymentTimings & { readonly answerWithinMs: number; readonly slowLookMs: number };
  readonly idempotency?: IdempotencyMark;
}
