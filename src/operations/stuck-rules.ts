/** What counts as stuck, after which time, and the command for it. The most specific class wins. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../domain/clock.ts';
import type { AttentionReason } from '../domain/states.ts';

/** Finance's command. */
type Command =
  'replay' | 'credit' | 'cancel' | 'settle' | 'return' | 'replace' | 'approve' | 'dismiss' | 'show';

interface StuckRule {
  /** In words, for people. */
  readonly meaning: string;
  /** What to do, beginning with the command's word. */
  readonly next: `${Command}: ${string}`;
}

const RULES = {
  'workflow-gone': {
    meaning: 'open in our database, and its workflow is gone',
    next: 'replay: continues it from the database',
  },
  'paid-not-delivered': {
    meaning: 'money is held, the eSIM is not delivered',
    next: 'replay: checks the supplier and delivers',
  },
  'supplier-unknown': {
    meaning: 'the supplier does not say whether it took the order',
    next: 'replay: asks the supplier for the order under the same id, and delivers',
  },
  'delivered-not-settled': {
    meaning: 'the supplier has delivered, and the hold is not posted',
    next: 'replay: posts the hold',
  },
  'undo-failed': {
    meaning: 'the supplier refused, and the hold could not be released',
    next: 'replay: checks the supplier, then delivers or refunds',
  },
  'charge-unknown': {
    meaning: 'the time to pay is over, and the gateway does not say whether it was paid',
    next: 'replay: checks the gateway and books its answer',
  },
  'charge-left-open': {
    meaning: 'closed as unpaid, and the gateway still leaves the charge open after 72 hours',
    next: 'cancel: closes it once you know that no money came; with proof of payment, use mark-paid',
  },
  'funding-stuck': {
    meaning: 'a wallet funding whose payment is unknown',
    next: 'replay: checks the gateway and credits the wallet',
  },
  'late-money-unbooked': {
    meaning: 'closed, and checks for late money are overdue',
    next: 'replay: checks the gateway and books what came',
  },
  'hold-too-old': {
    meaning: 'money is held for a purchase that is closed or missing',
    next: 'replay: posts or voids the hold, as its purchase ended',
  },
  'refund-not-done': {
    meaning: 'a refund takes longer than it should',
    next: 'replay: checks the refund at the gateway, and sends it if it was never sent',
  },
  'refund-needs-attention': {
    meaning: 'the gateway waits for the buyer’s bank details',
    next: 'credit: credits the wallet instead, with evidence that the gateway will not send it; once the details are given there, replay',
  },
  'refund-stuck': {
    meaning:
      'the gateway does not send it, and only a person can tell whether, or at what rate, to credit it',
    next: 'credit: credits the wallet with what it is worth, with evidence that the gateway has not sent it; once it was sent by hand, refund with evidence',
  },
  'payment-disputed': {
    meaning: 'the buyer’s bank disputes the payment',
    next: 'settle: settles it as won or lost, as the gateway says, with evidence',
  },
  'payment-reversed': {
    meaning: 'booked money was taken back',
    next: 'settle: settles it as lost, with evidence',
  },
  'marked-paid-unconfirmed': {
    meaning: 'a person marked it as paid, and the gateway does not report all of that money',
    next: 'replay: checks the gateway; if the money did not come, see "Marked as paid by mistake" in docs/OPERATIONS.md',
  },
  'inbox-unapplied': { meaning: 'a gateway event was stored and not applied', next: 'replay: applies it' },
  'inbox-without-purchase': {
    meaning: 'a gateway event that matches none of our payments',
    next: 'dismiss: takes it off the list once you know what it is about',
  },
  'message-undelivered': {
    meaning: 'a webhook message was not delivered',
    next: 'replay: sends the message again, under the same id',
  },
  'approval-waiting': {
    meaning: 'an action awaits second approval',
    next: 'approve: carries it out; you must not be the person who asked',
  },
  'action-unfinished': {
    meaning: 'an action was started and has not ended',
    next: 'show: shows it; sending the same action again completes it, once',
  },
  'other-package-delivered': {
    meaning: 'the supplier delivered another package than the one that was ordered',
    next: 'show: shows which; check-supplier takes it off the list once you have settled it with the buyer',
  },
  'return-needs-review': {
    meaning: 'an eSIM is to be returned, and the supplier does not say whether it is unused and cancelled',
    next: 'return: gives the money back, with evidence that the supplier has cancelled it; otherwise refuse-return',
  },
  'replacement-needs-review': {
    meaning:
      'an eSIM is to be replaced, and the supplier does not say that it was deleted, or that it is revoked',
    next: 'replace: grants it, with evidence that the eSIM does not work, or that it is revoked; otherwise refuse-replacement',
  },
  'needs-attention': { meaning: 'needs attention for another reason', next: 'show: shows what happened' },
} as const satisfies Record<string, StuckRule>;

export type StuckClass = keyof typeof RULES;

export const STUCK_CLASSES = Object.keys(RULES) as readonly StuckClass[];

export const stuckRule = (stuckClass: StuckClass): StuckRule => RULES[stuckClass];

export interface StuckFilter {
  readonly classes?: readonly StuckClass[] | undefined;
  readonly olderThanSeconds?: number | undefined;
  readonly currency?: string | undefined;
  readonly transactionIds?: readonly string[] | undefined;
}

/** One for each transaction and class. */
export interface StuckItem {
  /** `event-<number>` for an event and `msg-…` for a message that belong to no transaction. */
  readonly transactionId: string;
  readonly class: StuckClass;
  /** Since when nothing has changed. */
  readonly ageSeconds: number;
  /** Null if the item has no amount. */
  readonly amountMinor: bigint | null;
  readonly currency: string | null;
  /** Machine-readable. */
  readonly reason: string;
  readonly nextAction: string;
}

/** How old something may become before it is stuck, milliseconds. */
export type StuckLimits = Readonly<ReturnType<typeof stuckLimits>>;

export const stuckLimits = (timings: {
  readonly attentionAfterMs: number;
  readonly openChargeForMs: number;
}) => ({
  /** Money held and not delivered. By then the workflow itself should have asked for a person. */
  deliverMs: timings.attentionAfterMs + 10 * MINUTE_MS,
  /** Paid and never ordered. An order follows the money within seconds; after this the workflow is woken. */
  orderMs: MINUTE_MS,
  /** A purchase without a way to pay. By then the workflow should have given up. */
  openChargeMs: timings.openChargeForMs + 10 * MINUTE_MS,
  /** After the time to pay. The last check follows at once and takes seconds. */
  closeUnpaidMs: 10 * MINUTE_MS,
  /** Unanswered. An unknown outcome is clear after half a minute, and that of a part after an hour. */
  askRefundMs: 15 * MINUTE_MS,
  /** A refund under way at the gateway. Banks take up to ten working days, with two weekends between. */
  sendRefundMs: 14 * DAY_MS,
  /** A gateway event. The inbox is read every 30 s and has a minute for it. */
  applyEventMs: 5 * MINUTE_MS,
  /** A message that is due: whoever should send it is late, and the sweep comes within a minute. */
  sendMessageMs: 10 * MINUTE_MS,
  /** A message that was given up. Messages of the last 14 days can be recovered (promise W6). */
  recoverMessageMs: 14 * DAY_MS,
  /** An operator action that was begun. It is one step, tried for a few minutes at most. */
  finishActionMs: 10 * MINUTE_MS,
  /** Money that a person has seen, and the gateway does not report. Its list is read once an hour. */
  confirmMs: 3 * HOUR_MS,
  /** Checks for late money, once an hour. One may have been missed. */
  checkLateMs: 3 * HOUR_MS,
  /** Monitoring for late money ends 72 hours after the time to pay, and three hourly sweeps. */
  monitorLateMs: 75 * HOUR_MS,
  /** An open row without a workflow. A minute spares asking about purchases in progress. */
  workflowMs: MINUTE_MS,
});

const CLASS_OF_REASON = {
  SUPPLIER_NEVER_ALLOCATED: 'paid-not-delivered',
  DELIVERY_STEP_FAILED: 'paid-not-delivered',
  SUPPLIER_OUTCOME_UNKNOWN: 'supplier-unknown',
  SETTLE_FAILED: 'delivered-not-settled',
  UNDO_FAILED: 'undo-failed',
  GATEWAY_OUTCOME_UNKNOWN: 'charge-unknown',
  PAYMENT_STILL_OPEN: 'charge-left-open',
  PAYMENT_DISPUTED: 'payment-disputed',
  PAYMENT_REVERSED: 'payment-reversed',
  // Listed by their refunds, not by the reason of the purchase.
  REFUND_NEEDS_ATTENTION: 'needs-attention',
  REFUND_STUCK: 'needs-attention',
  RETURN_NEEDS_REVIEW: 'return-needs-review',
  REPLACEMENT_NEEDS_REVIEW: 'replacement-needs-review',
  OTHER_PACKAGE_DELIVERED: 'other-package-delivered',
  // Reasons of the list itself: overdue, and needs-attention is not set.
  NOT_ORDERED_IN_TIME: 'paid-not-delivered',
  NOT_DELIVERED_IN_TIME: 'paid-not-delivered',
  NOT_OPENED_IN_TIME: 'charge-unknown',
  NOT_CLOSED_IN_TIME: 'charge-unknown',
} as const satisfies Record<AttentionReason, StuckClass> & Record<string, StuckClass>;

/** An unknown reason is shown all the same. */
export const classOfReason = (reason: string): StuckClass =>
  new Map<string, StuckClass>(Object.entries(CLASS_OF_REASON)).get(reason) ?? 'needs-attention';
