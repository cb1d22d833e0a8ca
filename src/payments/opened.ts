/** The answer of the step that opens a purchase or a funding. The status of the row decides the stage. */
import { asFailureReason, type Refusal } from '../domain/refusals.ts';
import type { PurchaseStatus } from '../domain/states.ts';

/** A workflow begins at the stage of its row, on its first run and on every later one. */
export const STAGES = {
  PENDING: 'awaiting-payment',
  PROCESSING: 'paid',
  SUCCESS: 'delivered',
  FAILED: 'failed',
} as const satisfies Record<PurchaseStatus, string>;

export type Stage = (typeof STAGES)[PurchaseStatus];

/** Who serves a purchase or a funding, by name. null or absent: no row names one. */
export interface Vendors {
  /** Of its package. */
  readonly supplier?: string | null | undefined;
  /** Of its payment. */
  readonly gateway?: string | null | undefined;
}

interface Named {
  /** Of a row that was written just now. */
  readonly vendors?: Vendors;
}

/** Also where it was refused, and no row was written. */
export interface FailedOpening extends Named {
  readonly stage: 'failed';
  readonly refusal: Refusal;
}

/** One member for each stage, so that the compiler tells them apart. */
type At<S extends Stage> = S extends Stage ? { readonly stage: S } & Named : never;

export type Opened = At<Exclude<Stage, 'failed'>> | FailedOpening;

/** A funding is delivered with its money. */
export type OpenedFunding = At<'awaiting-payment' | 'delivered'> | FailedOpening;

/** For a row. A FAILED one has its reason. */
export function openedAs(status: Exclude<PurchaseStatus, 'PROCESSING'>, reason: string | null): OpenedFunding;
export function openedAs(status: PurchaseStatus, reason: string | null): Opened;
export function openedAs(status: PurchaseStatus, reason: string | null): Opened {
  const stage = STAGES[status];
  if (stage !== 'failed') return { stage };
  return { stage, refusal: { reason: asFailureReason(reason ?? ''), detail: '' } };
}
