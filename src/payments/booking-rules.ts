/** Where money from a gateway goes when it is less, more, other or late. docs/API.md states it for people. */
import type { PaymentEvent } from '../domain/states.ts';
import { divideHalfUp, larger, smaller, type AccountCurrency } from '../domain/money.ts';
import type { FailureReason } from '../domain/refusals.ts';
import type { PaymentPurpose } from '../domain/states.ts';

/**
 * A payment as our books have it, before a check is booked. Amounts are in the currency that the gateway
 * names.
 */
export interface BookedPayment {
  readonly purpose: PaymentPurpose;
  readonly chargeMinor: bigint;
  readonly chargeCurrency: string;
  readonly priceMinor: bigint;
  readonly priceCurrency: AccountCurrency;
  /** By the gateway's word, net of fees on top, including money that went on or back. */
  readonly receivedMinor: bigint;
  /** A person vouches for it; the gateway has not confirmed it yet. */
  readonly vouchedMinor: bigint;
  /** Sent back at our own request, or about to be. */
  readonly refundedMinor: bigint;
  readonly reversedMinor: bigint;
  /** The purchase or funding still waits for money. */
  readonly awaited: boolean;
  /** The purchase or funding was paid before, by this attempt or another. */
  readonly paidBefore: boolean;
}

/** What the gateway says it has, net of fees that the buyer bore on top. */
export interface ReceivedMoney {
  readonly state: 'paid' | 'reversed' | 'other';
  readonly netMinor: bigint;
  readonly currency: string;
  /**
   * Of a reversed charge: what the gateway's list of refunds shows, without failed ones. Absent: it shows
   * none.
   */
  readonly refunds?: { readonly oursMinor: bigint; readonly othersMinor: bigint };
}

/** Where newly seen money goes; amounts in the currency it came in. */
export interface BookingDecision {
  /** Newly received, by the gateway's word. */
  readonly receivedMinor: bigint;
  /** Pays the purchase: exactly the charge. */
  readonly toHoldMinor: bigint;
  readonly toWalletMinor: bigint;
  /** In a currency that was not agreed: kept apart and sent back. */
  readonly toReturnMinor: bigint;
  /** Taken back by the gateway or the buyer's bank, after we had booked it. */
  readonly reversedMinor: bigint;
  /** Received and reversed between two checks; nets to zero. */
  readonly receivedAndReversedMinor: bigint;
  /** A person vouched for it: now the gateway confirms it. */
  readonly confirmedMinor: bigint;
  /** Ignored: a newer answer is booked already. */
  readonly isOutdated?: true;
  /** Ends a purchase that still waits. */
  readonly ends?: FailureReason;
  /** For the public timeline. */
  readonly what?: PaymentEvent;
}

export const NO_CHANGE: BookingDecision = {
  receivedMinor: 0n,
  toHoldMinor: 0n,
  toWalletMinor: 0n,
  toReturnMinor: 0n,
  reversedMinor: 0n,
  receivedAndReversedMinor: 0n,
  confirmedMinor: 0n,
};

/**
 * What the gateway's answer means for our books. Deciding on the same answer twice gives NO_CHANGE the second
 * time.
 */
export function decideBooking(payment: BookedPayment, received: ReceivedMoney): BookingDecision {
  if (received.state === 'reversed') return decideReversal(payment, received);
  const newMinor = received.state === 'paid' ? received.netMinor - payment.receivedMinor : 0n;
  if (newMinor <= 0n) return NO_CHANGE;
  const booked = { ...NO_CHANGE, receivedMinor: newMinor };
  if (received.currency !== payment.chargeCurrency) {
    return {
      ...booked,
      toReturnMinor: newMinor,
      what: 'payment-received-in-other-currency',
      ...(payment.awaited ? { ends: 'PAYMENT_WRONG_CURRENCY' } : {}),
    };
  }
  const confirmedMinor = smaller(payment.vouchedMinor, newMinor);
  if (confirmedMinor > 0n)
    return { ...booked, confirmedMinor, toWalletMinor: newMinor - confirmedMinor, what: 'payment-confirmed' };
  if (payment.purpose === 'funding' || !payment.awaited)
    return { ...booked, toWalletMinor: newMinor, what: receivedWord(payment, newMinor) };
  const excessMinor = newMinor - payment.chargeMinor;
  if (excessMinor < 0n) {
    return { ...booked, toWalletMinor: newMinor, what: 'payment-received-short', ends: 'PAYMENT_UNDERPAID' };
  }
  return {
    ...booked,
    toHoldMinor: payment.chargeMinor,
    toWalletMinor: excessMinor,
    what: excessMinor > 0n ? 'payment-received-over' : 'payment-received',
  };
}

/** Money for an order that does not wait for it, or for a wallet. */
function receivedWord(
  { awaited, paidBefore, chargeMinor }: BookedPayment,
  newMinor: bigint,
  confirmedMinor = 0n,
): NonNullable<BookingDecision['what']> {
  if (confirmedMinor > 0n) return 'payment-confirmed';
  if (!awaited) return paidBefore ? 'payment-received-again' : 'payment-received-late';
  if (newMinor === chargeMinor) return 'payment-received';
  return newMinor > chargeMinor ? 'payment-received-over' : 'payment-received-short';
}

/**
 * The gateway reports `reversed` for bank reversals and for refunds, also of a part. Listed refunds explain
 * it: only refunds that others requested count as reversed. If none is listed, everything that we did not
 * refund does.
 */
function decideReversal(payment: BookedPayment, received: ReceivedMoney): BookingDecision {
  const ending = payment.awaited ? { ends: 'PAYMENT_REVERSED' as const } : {};
  const { refunds } = received;
  const newMinor = larger(received.netMinor - payment.receivedMinor, 0n);
  const confirmedMinor = smaller(payment.vouchedMinor, newMinor);
  const receivedMinor = payment.receivedMinor + newMinor;
  // What is on its way back at our request is not taken from us: what becomes of that is another answer.
  const hereMinor = receivedMinor - payment.refundedMinor;
  const takenMinor = refunds ? smaller(refunds.othersMinor, hereMinor) : hereMinor;
  const goneMinor = takenMinor - payment.reversedMinor;
  if (newMinor === 0n && goneMinor <= 0n && !payment.awaited) return NO_CHANGE;
  const restMinor = newMinor - confirmedMinor;
  const gone = larger(goneMinor, 0n);
  // Received and reversed between two checks.
  const receivedAndReversedMinor = smaller(restMinor, gone);
  return {
    ...NO_CHANGE,
    receivedMinor: newMinor,
    confirmedMinor,
    receivedAndReversedMinor,
    toWalletMinor: restMinor - receivedAndReversedMinor,
    reversedMinor: gone - receivedAndReversedMinor,
    what: gone > 0n || payment.awaited ? 'payment-reversed' : receivedWord(payment, newMinor, confirmedMinor),
    ...ending,
  };
}

/** An amount of the charge's currency in the price's, at the locked rate, half up. */
export function atLockedRate(
  amountMinor: bigint,
  locked: Pick<BookedPayment, 'chargeMinor' | 'chargeCurrency' | 'priceMinor' | 'priceCurrency'>,
): bigint {
  if (locked.chargeCurrency === locked.priceCurrency) return amountMinor;
  return divideHalfUp(amountMinor * locked.priceMinor, locked.chargeMinor);
}
