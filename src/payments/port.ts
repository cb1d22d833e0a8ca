/**
 * The payment gateway that takes money from buyers. After an unknown outcome we ask with the lookup and
 * never assume. Only its answers count as money: an event is a reason to ask, never a proof. Amounts are
 * minor units (hundredths) of any currency that it takes.
 */
import type { Fence } from '../domain/fence.ts';
import type { Money } from '../domain/money.ts';
import { Unavailable, type Outcome as AnyOutcome } from '../domain/outcome.ts';
import type { GatewayMethod } from '../domain/states.ts';
import type { DisputeState } from './rules.ts';

/** Final refusals. Anything that may pass by itself (limited, 5xx, HTML, time-out) is unknown instead. */
export type GatewayRefusal =
  | 'AMOUNT_NOT_SERVED'
  | 'CURRENCY_NOT_SERVED'
  | 'METHOD_NOT_SERVED'
  | 'CREDENTIALS_REFUSED'
  | 'ALREADY_REFUNDED'
  | 'REFERENCE_TAKEN'
  | 'REQUEST_REFUSED';

export type GatewayOutcome<T> = AnyOutcome<T, GatewayRefusal>;

/** A read that could not be answered. */
export class GatewayUnavailable extends Unavailable {}

export interface ChargeRequest {
  /** Ours, used once: the gateway's only way to notice a repeat. Letters, digits and `-` only. */
  readonly reference: string;
  readonly method: GatewayMethod;
  readonly amount: Money;
  /** The buyer's: the gateway's receipt goes there. */
  readonly email: string;
  /** The shop's name, for the gateway's receipt. */
  readonly shop?: string | undefined;
  /** Where the hosted page sends a buyer who gives up; the gateway adds nothing to it. */
  readonly cancelUrl?: string | undefined;
  /** Where the hosted page sends the buyer back to; the gateway adds the reference to its query. */
  readonly returnUrl?: string;
  /** BANK_TRANSFER: until when the account should take money. The gateway may move it. */
  readonly accountExpiresAt?: Date;
  /** Sandbox only: the name of what the simulator should do with this charge. */
  readonly scenario?: string;
  /** It is not sent once this is over. */
  readonly fence: Fence;
}

/** What the buyer needs in order to pay. */
export type PaymentInstructions =
  | { readonly kind: 'redirect'; readonly paymentUrl: string }
  | {
      readonly kind: 'bank-transfer';
      readonly bankName: string;
      readonly accountNumber: string;
      readonly accountName: string;
      readonly expiresAt: Date;
    };

/**
 * `waiting`: the buyer is paying, or money is on its way, also back. `abandoned` and `failed` (declined): it
 * may still be paid. `unknown`: a new word.
 */
export type ChargeState = 'waiting' | 'abandoned' | 'failed' | 'paid' | 'reversed' | 'unknown';

export interface GatewayCharge {
  readonly reference: string;
  readonly state: ChargeState;
  /** The vendor's own word, for alerts and timelines. */
  readonly gatewayStatus: string;
  readonly requested: Money;
  /**
   * What the gateway received, fees that the buyer bears included. Meaningful for `paid` and `reversed` only.
   */
  readonly received: Money;
  /** The gateway's fee inside `received`, borne by the buyer; 0 where we bear it. */
  readonly feesOnTopMinor: bigint;
  readonly paidAt: Date | null;
  /** The gateway's own id: digits, up to 64 bits. */
  readonly gatewayId: string;
}

export interface RefundRequest {
  /** Of the charge. */
  readonly reference: string;
  readonly amount: Money;
  /** Ours: stands in the refund's note, so that findRefund recognises it. */
  readonly refundKey: string;
  /** It is not sent once this is over. */
  readonly fence: Fence;
}

/** `failed`: the money is back with us. `needs-attention`: the gateway waits for the buyer's bank details. */
export type RefundState = 'pending' | 'done' | 'failed' | 'needs-attention' | 'unknown';

export interface GatewayRefund {
  readonly refundId: string;
  readonly state: RefundState;
  readonly gatewayStatus: string;
  readonly amount: Money;
}

/** A refund in the gateway's list of a charge. `refundKey` is "" where it was made by others. */
export type ListedRefund = GatewayRefund & { readonly refundKey: string };

export interface GatewayDispute {
  /** The gateway's own id. */
  readonly disputeId: string;
  readonly state: DisputeState;
  /** The vendor's own word, with its resolution where it has one. */
  readonly gatewayStatus: string;
  /** What the bank asks for; null where the gateway does not say: all of it. */
  readonly amount: Money | null;
  readonly openedAt: Date | null;
}

/** A verified event, reduced to what it is a reason to check. */
export interface GatewayEvent {
  /** SHA-256 of the raw body, hexadecimal: the gateway gives its events no id. */
  readonly eventKey: string;
  /** The vendor's own word, such as charge.success. */
  readonly type: string;
  readonly about: 'charge' | 'refund' | 'dispute' | 'transfer-rejected' | 'other';
  /** The charge's reference, where the event carries one. */
  readonly reference: string | null;
  /** The buyer's, for events without a reference. */
  readonly email: string | null;
  readonly amount: Money | null;
}

/** One line of the gateway's statement: money that moved. The amount is positive, `kind` says which way. */
export interface StatementLine {
  /** The charge's; "" for a refund of a charge that the gateway does not name. */
  readonly reference: string;
  /**
   * `reversal`: received, and taken back by other ways than a refund; the gateway gives no date of its own,
   * so `at` is the charge's.
   */
  readonly kind: 'charge' | 'refund' | 'reversal';
  readonly amount: Money;
  readonly feesMinor: bigint;
  /** The gateway's fee inside the amount, borne by the buyer; 0 where we bear it. */
  readonly feesOnTopMinor: bigint;
  /** The gateway's own id of the charge or the refund; "" where it gives none. */
  readonly gatewayId: string;
  /** Our key of a refund; "" for one that we did not make, and for charges. */
  readonly refundKey: string;
  /** When the charge or the refund was opened: what statements go by. */
  readonly openedAt: Date;
  readonly at: Date;
}

export interface PaidCharges {
  /** Of this page; those of the other mode are left out. */
  readonly references: readonly string[];
  /** All rows of the page. */
  readonly count: number;
  /** Of all pages together; null where the gateway does not say. */
  readonly total: number | null;
  readonly isLast: boolean;
}

export interface PaymentGateway {
  readonly name: string;
  /**
   * The same gateway on behalf of one account, whose requests take only a part of what the gateway is sent,
   * so that others have theirs.
   */
  forAccount(accountId: string): PaymentGateway;
  /**
   * The least and the most that a method takes in a currency; undefined where the gateway does not serve it.
   * No I/O.
   */
  limits(
    method: GatewayMethod,
    currency: string,
  ): { readonly minMinor: bigint; readonly maxMinor: bigint } | undefined;
  /**
   * Opens a charge. A repeat with the same reference never opens a second one: bank transfers give the same
   * instructions, hosted pages REFERENCE_TAKEN, since the gateway sends their address only once.
   */
  charge(request: ChargeRequest): Promise<GatewayOutcome<PaymentInstructions>>;
  /** The gateway's state of a charge; null: the gateway holds none. Never creates one. */
  findCharge(reference: string): Promise<GatewayOutcome<GatewayCharge | null>>;
  /**
   * Sends money back. Call findRefund first: the gateway itself takes a second partial refund as a new one.
   */
  refund(request: RefundRequest): Promise<GatewayOutcome<GatewayRefund>>;
  /** The refund made under our key, or null. */
  findRefund(
    request: Pick<RefundRequest, 'reference' | 'refundKey'>,
  ): Promise<GatewayOutcome<GatewayRefund | null>>;
  /** All refunds of a charge, by whomever they were asked for. */
  refundsOf(reference: string): Promise<GatewayOutcome<readonly ListedRefund[]>>;
  /**
   * Page `page`, from 1, of those among the charges opened in [from, to) that are paid as of now. Throws
   * GatewayUnavailable.
   */
  paidCharges(from: Date, to: Date, page: number): Promise<PaidCharges>;
  /** All disputes of a charge, the oldest first; none where the gateway holds no such charge. */
  findDisputes(reference: string): Promise<GatewayOutcome<readonly GatewayDispute[]>>;
  /**
   * References of charges disputed in [from, to). Throws GatewayUnavailable, perhaps after some references.
   */
  disputed(from: Date, to: Date): AsyncIterable<string>;
  /**
   * What moved among the charges and refunds opened in [from, to), as they stand now. Throws
   * GatewayUnavailable, perhaps after some lines.
   */
  statement(from: Date, to: Date): AsyncIterable<StatementLine>;
  /**
   * Whether a request with these headers can be an event at all: asked before its body is read. False proves
   * that it is none; true proves nothing.
   */
  mayBeEvent(headers: Readonly<Record<string, string | undefined>>): boolean;
  /**
   * Verifies over the raw bytes and fails closed: undefined unless it is certainly the gateway's event in
   * this mode.
   */
  verifyWebhook(
    rawBody: Uint8Array,
    headers: Readonly<Record<string, string | undefined>>,
  ): GatewayEvent | undefined;
}
