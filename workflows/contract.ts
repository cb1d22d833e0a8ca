/**
 * Names and types that workflows, activities and the Temporal adapter share. No behaviour. Names are part of every open purchase's
 * history: change none.
 */
import type { PurchaseInput, Refusal } from '../src/domain/purchase.ts';

export const PURCHASE_WORKFLOW = 'purchase';
/** The update every buyer waits on; its id is the same constant, so that a repeat is the same update. */
export const ACCEPT_UPDATE = 'accept';
export const SYNC_CATALOGUE_WORKFLOW = 'syncCatalogue';
export const REFRESH_RATES_WORKFLOW = 'refreshRates';
export const REFRESH_USAGE_WORKFLOW = 'refreshUsage';
export const SWEEP_WORKFLOW = 'sweep';

export const ORDERS_QUEUE = 'orders';
export const OPS_QUEUE = 'ops';
/** The supplier's own queue, so that its slowness keeps no other step waiting. */
export const SUPPLIER_QUEUE = 'supplier-esim-access';

/** One delivery attempt: orders where needed, looks for the result until done, refused or out of time, and settles what came. */
export interface DeliverRequest {
  readonly transactionId: string;
  /** How long this attempt may go on looking. */
  readonly budgetMs: number;
  readonly lookFirstMs: number;
  readonly lookMaxMs: number;
}

export type DeliverOutcome =
  | { readonly outcome: 'delivered'; readonly iccid: string }
  /** Ordered, or perhaps ordered, or delivered and not settled: do it again. */
  | { readonly outcome: 'unknown'; readonly reason: AttentionReason }
  | {
      readonly outcome: 'refused';
      readonly refusal: Refusal;
      readonly catalogueIsOld: boolean;
      /** An earlier ask ended unknown, so something of it may still be on its way. */
      readonly afterDoubt: boolean;
    };

export type AttentionReason =
  | 'SUPPLIER_NEVER_ALLOCATED'
  | 'SUPPLIER_OUTCOME_UNKNOWN'
  | 'DELIVERY_STEP_FAILED'
  | 'SETTLE_FAILED'
  | 'UNDO_FAILED';

export type OpenOutcome = { readonly opened: true } | { readonly opened: false; readonly refusal: Refusal };

/** Activities on the orders queue: our own Postgres, run as local activities. */
export interface OrderActivities {
  readonly openPurchase: (input: PurchaseInput, startedAt: string) => Promise<OpenOutcome>;
  /** One quick ask at the supplier, right inside the purchase's first task. */
  readonly tryDelivering: (transactionId: string) => Promise<DeliverOutcome>;
  readonly failPurchase: (transactionId: string, refusal: Refusal) => Promise<void>;
  readonly flagAttention: (transactionId: string, reason: AttentionReason) => Promise<void>;
}

/** Activities on the supplier's queue: everything that crosses the network to it. */
export interface SupplierActivities {
  readonly deliver: (request: DeliverRequest) => Promise<DeliverOutcome>;
  /** Undoes an order that may exist although it was refused. `false`: something is left that cannot be cancelled. */
  readonly withdrawOrder: (transactionId: string) => Promise<boolean>;
}

/** Activities on the ops queue; each answers with one line for the Temporal UI. */
export interface OpsActivities {
  readonly syncCatalogue: (options: { readonly unlessSyncedWithinMs: number }) => Promise<string>;
  readonly refreshRates: () => Promise<string>;
  readonly refreshUsage: () => Promise<string>;
  readonly forgetOldKeys: () => Promise<string>;
}
