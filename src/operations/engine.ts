/** What makes an operator's moves: the workflow that carries a purchase or a funding, or one that repairs what is closed. */
import type { ActionOutcome, ActionRefusal, ActionRequest } from './rules.ts';
import type { PurchaseInput } from '../purchases/purchase.ts';
import type { PaymentPurpose } from '../domain/states.ts';
import type { FundingInput } from '../payments/rules.ts';

/** `rejected`: the workflow would not even begin with it, and nothing is on record. `nobody`: no workflow carries it. */
export type EngineOutcome =
  | ActionOutcome
  | { readonly outcome: 'rejected'; readonly code: ActionRefusal }
  | { readonly outcome: 'nobody' };

/** What is to be carried, as it was begun with. */
export type Carried =
  | { readonly purpose: 'purchase'; readonly input: PurchaseInput }
  | { readonly purpose: 'funding'; readonly input: FundingInput };

/** Each waits for the move's outcome up to the deadline; `unknown` after that. Throws EngineUnavailable when nobody could be asked. */
export interface OperatorEngine {
  /** By the workflow that carries it. */
  move(wish: ActionRequest, deadlineMs: number): Promise<EngineOutcome>;
  /** By a fresh run of a workflow that is gone while its purchase is open: every step may run twice, so it finds everything in the rows. */
  carryOn(carried: Carried, wish: ActionRequest, deadlineMs: number): Promise<EngineOutcome>;
  /** By a workflow of its own, which stays until money that it sends back has gone. */
  repair(
    wish: ActionRequest,
    about: { readonly purpose: PaymentPurpose; readonly isFromOutside: boolean },
    deadlineMs: number,
  ): Promise<EngineOutcome>;
}
