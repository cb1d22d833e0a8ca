/** What a buyer is told about a payment, in plain words. Pure; holds nothing that whoever has the reference may not read. */
import type { FailureReason } from '../../../domain/refusals.ts';
import type { PurchaseStatus } from '../../../domain/states.ts';
import type { PaymentStatusView } from '../../views.ts';

export interface Words {
  readonly title: string;
  readonly text: string;
}

// Most buyers come here a second after they paid, before the gateway has told us.
const WAITING: Words = {
  title: 'Checking your payment',
  text: 'If you have paid, we usually know within a few seconds. This page looks again by itself, and you may close it: nothing gets lost.',
};
const GO_BACK = 'You can close this page and go back to where you ordered it.';

const PURCHASE: Readonly<Record<Exclude<PurchaseStatus, 'FAILED'>, Words>> = {
  PENDING: WAITING,
  PROCESSING: {
    title: 'Paid. Preparing your eSIM',
    text: 'Your money has arrived. This usually takes less than a minute.',
  },
  SUCCESS: { title: 'Done. Your eSIM is ready', text: GO_BACK },
};

const FUNDING: typeof PURCHASE = {
  PENDING: WAITING,
  PROCESSING: { title: 'Paid. Filling your wallet', text: 'Your money has arrived.' },
  SUCCESS: { title: 'Done. The money is in your wallet', text: 'You can close this page and spend it now.' },
};

const UNDELIVERED = 'What you ordered cannot be delivered. Your money goes back to where it came from.';

const REASONS: Readonly<Record<FailureReason, string>> = {
  INSUFFICIENT_BALANCE: 'There was not enough money in the wallet.',
  PACKAGE_WITHDRAWN: UNDELIVERED,
  OUT_OF_STOCK: UNDELIVERED,
  PRICE_CHANGED: UNDELIVERED,
  SUPPLIER_BALANCE_TOO_LOW: UNDELIVERED,
  SUPPLIER_REFUSED: UNDELIVERED,
  ESIM_NOT_ACTIVE: 'This eSIM can no longer be topped up. Your money goes back to where it came from.',
  PAYMENT_NOT_SERVED: 'This way of paying is not possible for this amount. No money was taken.',
  PAYMENT_NOT_OPENED: 'The payment could not be opened. No money was taken.',
  PAYMENT_EXPIRED:
    'The payment did not arrive in time. Money that still arrives is not lost: it goes to the wallet of the account that ordered.',
  PAYMENT_UNDERPAID:
    'Less than the price arrived, so nothing is delivered. What arrived went to the wallet of the account that ordered.',
  PAYMENT_WRONG_CURRENCY: 'The payment came in another currency than agreed. It is sent back to you.',
  PAYMENT_REVERSED: 'The payment was taken back before anything could be delivered.',
  CANCELLED_BY_OPERATOR:
    'It was cancelled. What was paid for it goes back, or is in the wallet of the account that ordered.',
};

const OTHER_REASON = 'It ended without a delivery. Ask where you ordered it.';

/** How a payment stands. */
export function wordsFor(standing: PaymentStatusView): Words {
  const { status, reason, purpose } = standing;
  if (status !== 'FAILED') return (purpose === 'purchase' ? PURCHASE : FUNDING)[status];
  const isKnown = reason !== null && Object.hasOwn(REASONS, reason);
  return { title: 'Not completed', text: isKnown ? REASONS[reason as FailureReason] : OTHER_REASON };
}

/** What a page says instead, by the status of its refusal. */
export function wordsForRefusal(status: number): Words {
  if (status === 404) {
    return {
      title: 'We do not know this payment',
      text: 'The link is incomplete or wrong. Nothing has happened to your money: go back to where you ordered and look there.',
    };
  }
  if (status === 429) {
    return {
      title: 'A moment, please',
      text: 'This page was asked for too often. Open it again in a minute.',
    };
  }
  return {
    title: 'Not available right now',
    text: 'Your payment goes on without this page. Open it again in a minute.',
  };
}
