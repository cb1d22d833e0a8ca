/**
 * The wholesale supplier of eSIMs. Every effect ends as done, refused or unknown; what became of an unknown
 * one is looked up, never assumed. Implementations never throw for what the vendor or the network does to an
 * effect; reads throw SupplierUnavailable.
 */
import type { PackageSupplier } from '../catalogue/port.ts';
import type { ProfileFacts, SupplierEvent, TopUpTotals } from './rules.ts';
import type { Fence } from '../domain/fence.ts';
import type { Outcome as AnyOutcome } from '../domain/outcome.ts';

export const SUPPLIER_REFUSALS = [
  'OUT_OF_STOCK',
  'PRICE_CHANGED',
  'BALANCE_TOO_LOW',
  'PACKAGE_UNKNOWN',
  'NOT_ALLOWED_IN_STATE',
  'CREDENTIALS_REFUSED',
  'REQUEST_REFUSED',
] as const;
/** Final refusals. Anything that may pass by itself (busy, limited, 5xx, time-out) is unknown instead. */
export type SupplierRefusal = (typeof SUPPLIER_REFUSALS)[number];

export type Outcome<T> = AnyOutcome<T, SupplierRefusal>;

/** One eSIM as the supplier holds it. */
export interface SupplierProfile extends ProfileFacts {
  readonly transactionId: string;
  /** What was ordered; "" where the supplier does not say. */
  readonly packageCode: string;
  /** The vendor's own word, for alerts about values never seen before. */
  readonly supplierStatus: string;
}

export type ProfileOutcome =
  { readonly state: 'allocating' } | { readonly state: 'ready'; readonly profile: SupplierProfile };

/** Whose part of the supplier's allowance a request takes. */
interface OfAccount {
  readonly accountId: string;
}

/** One eSIM, by its number at the supplier. */
export interface EsimRequest extends OfAccount {
  readonly esimTranNo: string;
}

export interface OrderRequest extends OfAccount {
  /** Ours, at most 50 characters. */
  readonly transactionId: string;
  readonly packageCode: string;
  /** The unit cost we agreed to, US dollars × 10,000: a changed price is refused rather than paid. */
  readonly costUsdE4: bigint;
}

export interface TopUpRequest extends OrderRequest {
  readonly esimTranNo: string;
}

/** An order that may have been taken between two times: when it was first and when it was last asked for. */
export interface FindRequest extends OfAccount {
  readonly transactionId: string;
  readonly from: Date;
  readonly until: Date;
}

/** `searching`: not among what was listed before `searchedUntil`; a search from there continues. */
export type OrderSearch =
  | { readonly state: 'found'; readonly orderNo: string; readonly esimTranNo: string }
  | { readonly state: 'not-listed' }
  | { readonly state: 'searching'; readonly searchedUntil: Date };

/** One eSIM that was ordered, or one top-up of it, as the supplier lists it. The list has no prices. */
export interface ListedOrder {
  /** Our id of the order; "" for one that we did not make. */
  readonly transactionId: string;
  readonly orderNo: string;
  readonly esimTranNo: string;
  /** "" where the supplier does not say. */
  readonly packageCode: string;
  /** Cancelled, and its money is back with us. */
  readonly isRefunded: boolean;
  /** When the eSIM was made: lists are ordered by it. */
  readonly listedAt: Date;
  /** When this was ordered. */
  readonly at: Date;
}

/** Whether the vendor promises that a second request with the same transactionId is the first one again. */
export type RepeatRule = 'same-request' | 'unknown';

/** Whether the eSIM holds a top-up; if so, what it is and what the eSIM holds in all. */
export type TopUpSearch =
  | { readonly found: false }
  | { readonly found: true; readonly packageCode: string; readonly totals: TopUpTotals };

/** Effects take the fence that was begun when their row was written: they are not sent after it. */
export interface EsimSupplier extends PackageSupplier {
  readonly repeats: { readonly order: RepeatRule; readonly topUp: RepeatRule };
  /** The longest that an effect is waited for once it is sent. */
  readonly effectTimeLimitMs: number;
  /** Orders one eSIM. */
  order(request: OrderRequest, fence: Fence): Promise<Outcome<{ readonly orderNo: string }>>;
  /**
   * Searches the supplier's list for an order that we may have placed. One that is still being allocated may
   * not be listed yet.
   */
  findOrder(request: FindRequest): Promise<Outcome<OrderSearch>>;
  /** Reads the eSIM of an order (by orderNo) or one eSIM (by esimTranNo). */
  profile(query: EsimRequest | (OfAccount & { readonly orderNo: string })): Promise<Outcome<ProfileOutcome>>;
  /** Adds a top-up. */
  topUp(request: TopUpRequest, fence: Fence): Promise<Outcome<TopUpTotals>>;
  /** Whether the eSIM holds a top-up under our id; never creates one. */
  findTopUp(request: EsimRequest & { readonly transactionId: string }): Promise<Outcome<TopUpSearch>>;
  /** Cancels an unused eSIM; cancelling twice is done. */
  cancel(request: EsimRequest, fence: Fence): Promise<Outcome<null>>;
  /** Ends an eSIM that may be in use, without money back. One that has ended is done. */
  revoke(request: EsimRequest, fence: Fence): Promise<Outcome<null>>;
  /**
   * At most 10 eSIMs a call; figures lag behind, and are from `observedAt` where the supplier says it. Throws
   * SupplierUnavailable.
   */
  usage(esimTranNos: readonly string[]): Promise<
    readonly {
      readonly esimTranNo: string;
      readonly usedBytes: number;
      readonly totalBytes: number;
      readonly observedAt: string | null;
    }[]
  >;
  /**
   * What was ordered under this account: eSIMs made in [from, to), with all of their top-ups. Throws
   * SupplierUnavailable, and then what it gave before is a part only.
   */
  orders(from: Date, to: Date): AsyncIterable<ListedOrder>;
  /** What we still have at the supplier, US dollars × 10,000. Throws SupplierUnavailable. */
  balance(): Promise<bigint>;
}

/** What a supplier sends by itself, and where to. */
export interface SupplierEventSource {
  /** The event in these bytes; undefined if they are not an event. Never throws. */
  readEvent(rawBody: Uint8Array): SupplierEvent | undefined;
  /** Where events are sent to; "" for nowhere. Throws SupplierUnavailable. */
  eventsUrl(): Promise<string>;
  /**
   * The supplier calls the address before it takes it. Throws SupplierUnavailable, also where the call was
   * not answered.
   */
  saveEventsUrl(url: string): Promise<void>;
}
