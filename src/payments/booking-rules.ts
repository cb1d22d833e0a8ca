/** Where money from outside goes when it is less, more, other or late. docs/API.md states it for people. */
import { divideHalfUp, type AccountCurrency } from '../domain/money.ts';
import type { FailureReason } from '../domain/refusals.ts';
import type { PaymentPurpose } from '../domain/states.ts';

/** A payment as our books have it, before a check is booked. */
export interface BookedPayment {
  readonly purpose: PaymentPurpose;
  readonly chargeMinor: bigint;
  readonly chargeCurrency: string;
  readonly priceMinor: bigint;
  readonly priceCurrency: AccountCurrency;
  /** By the gateway's word, net of fees on top, including money that went on or back. */
  readonly bookedMinor: bigint;
  /** Booked as a manual payment, which the gateway has not confirmed yet. */
  readonly evidenceMinor?: bigint;
  /** Sent back at our own request, or about to be. */
  readonly refundedMinor: bigint;
  readonly reversedMinor: bigint;
  /** The purchase still waits for money. */
  readonly awaited: boolean;
  /** The purchase was paid before, by this attempt or another. */
  readonly paidBefore: boolean;
  /** Our books show that the money came and was taken back between two checks. */
  readonly wasReceivedAndReversed: boolean;
}

/** What the gateway says it has, net of fees that the buyer bore on top. */
export interface ReceivedMoney {
  readonly state: 'paid' | 'reversed' | 'other';
  readonly netMinor: bigint;
  readonly currency: string;
}

/** Where newly seen money goes; amounts in the currency it came in. */
export interface BookingDecision {
  /** Pays the purchase: exactly the charge. */
  readonly toHoldMinor: bigint;
  readonly toWalletMinor: bigint;
  /** In a currency that was not agreed: kept apart and sent back. */
  readonly toReturnMinor: bigint;
  /** Taken back by the gateway or the buyer's bank, after we had booked it. */
  readonly reversedMinor: bigint;
  /** Came and was taken back between two checks: it passes through the ledger, and nothing of it stays. */
  readonly receivedAndReversedMinor: bigint;
  /** Booked before as a manual payment: now the gateway confirms it. */
  readonly confirmedMinor?: bigint;
  /** Ignored: a newer answer is booked already. */
  readonly isOutdated?: true;
  /** Ends a purchase that still waits. */
  readonly ends?: FailureReason;
  /** For the public timeline. */
  readonly what?:
    | 'payment-received'
    | 'payment-received-over'
    | 'payment-received-short'
    | 'payment-received-late'
    | 'payment-received-again'
    | 'payment-received-in-other-currency'
    | 'payment-confirmed'
    | 'payment-reversed';
}

export const NO_CHANGE: BookingDecision = {
  toHoldMinor: 0n,
  toWalletMinor: 0n,
  toReturnMinor: 0n,
  reversedMinor: 0n,
  receivedAndReversedMinor: 0n,
};

/** What the gateway's answer means for our books. Deciding on the same answer twice gives NO_CHANGE the second time. */
export function decideBooking(payment: BookedPayment, received: ReceivedMoney): BookingDecision {
  if (received.state === 'reversed') return decideReversal(payment, received);
  const newMinor = received.state === 'paid' ? received.netMinor - payment.bookedMinor : 0n;
  if (newMinor <= 0n) return NO_CHANGE;
  if (received.currency !== payment.chargeCurrency) {
    return {
      ...NO_CHANGE,
      toReturnMinor: newMinor,
      what: 'payment-received-in-other-currency',
      ...(payment.awaited ? { ends: 'PAYMENT_WRONG_CURRENCY' } : {}),
    };
  }
  const { evidenceMinor = 0n } = payment;
  if (evidenceMinor > 0n) {
    // Stryker disable next-line EqualityOperator: of two equal amounts either is the smaller
    const confirmedMinor = newMinor < evidenceMinor ? newMinor : evidenceMinor;
    const toWalletMinor = newMinor - confirmedMinor;
    return { ...NO_CHANGE, confirmedMinor, toWalletMinor, what: 'payment-confirmed' };
  }
  if (payment.purpose === 'funding')
    return { ...NO_CHANGE, toWalletMinor: newMinor, what: 'payment-received' };
  if (!payment.awaited) {
    const what = payment.paidBefore ? 'payment-received-again' : 'payment-received-late';
    return { ...NO_CHANGE, toWalletMinor: newMinor, what };
  }
  const excessMinor = newMinor - payment.chargeMinor;
  if (excessMinor < 0n) {
    return {
      ...NO_CHANGE,
      toWalletMinor: newMinor,
      what: 'payment-received-short',
      ends: 'PAYMENT_UNDERPAID',
    };
  }
  return {
    ...NO_CHANGE,
    toHoldMinor: payment.chargeMinor,
    toWalletMinor: excessMinor,
    what: excessMinor > 0n ? 'payment-received-over' : 'payment-received',
  };
}

/** Money that went back at our own request is no reversal: the gateway uses one word for both. */
function decideReversal(payment: BookedPayment, received: ReceivedMoney): BookingDecision {
  const ending = payment.awaited ? { ends: 'PAYMENT_REVERSED' as const } : {};
  if (payment.bookedMinor > 0n) {
    const goneMinor = payment.bookedMinor - payment.refundedMinor - payment.reversedMinor;
    return goneMinor > 0n
      ? { ...NO_CHANGE, reversedMinor: goneMinor, what: 'payment-reversed', ...ending }
      : NO_CHANGE;
  }
  // Stryker disable next-line EqualityOperator: no money is zero both ways
  const receivedAndReversedMinor =
    payment.wasReceivedAndReversed || received.netMinor < 0n ? 0n : received.netMinor;
  if (receivedAndReversedMinor === 0n && !payment.awaited) return NO_CHANGE;
  return { ...NO_CHANGE, receivedAndReversedMinor, what: 'payment-reversed', ...ending };
}

/** An amount of the charge's currency in the price's, at the locked rate, half up. */
export function atLockedRate(
  amountMinor: bigint,
  locked: Pick<BookedPayment, 'chargeMinor' | 'chargeCurrency' | 'priceMinor' | 'priceCurrency'>,
): bigint {
  if (locked.chargeCurrency === locked.priceCurrency) return amountMinor;
  return divideHalfUp(amountMinor * locked.priceMinor, locked.chargeMinor);
}
