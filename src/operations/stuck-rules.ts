/**
 * What counts as stuck: the closed list of classes, each with what puts it right, and the pure tables of how old something may grow before
 * it does not move as it should. One cause is one item: the most specific class wins.
 */
import type { AttentionReason } from '../domain/states.ts';

/** What finance can be told to do about an item, by the command's own word. */
export type StuckCommand = 'replay' | 'credit' | 'cancel' | 'settle' | 'approve' | 'dismiss' | 'show';

interface StuckRule {
  /** In words, for people. */
  readonly meaning: string;
  readonly command: StuckCommand;
  /** What the command does about it. */
  readonly does: string;
}

const RULES = {
  'workflow-gone': {
    meaning: 'open in our rows, and no workflow carries it',
    command: 'replay',
    does: 'carries it on from its rows',
  },
  'paid-not-delivered': {
    meaning: 'money is held, the eSIM is not delivered',
    command: 'replay',
    does: 'looks at the supplier and delivers',
  },
  'supplier-unknown': {
    meaning: 'the supplier does not say whether it took the order',
    command: 'replay',
    does: 'asks the supplier for the order under the same id, and delivers',
  },
  'delivered-not-settled': {
    meaning: 'the supplier has delivered, our books have not followed',
    command: 'replay',
    does: 'settles what is delivered',
  },
  'undo-failed': {
    meaning: 'the supplier refused, and our books do not let the money go back',
    command: 'replay',
    does: 'asks the supplier again, and delivers or gives the money back',
  },
  'charge-unknown': {
    meaning: 'the time to pay is over, and the gateway does not say whether it was paid',
    command: 'replay',
    does: 'looks at the gateway and books what it has',
  },
  'charge-left-open': {
    meaning: 'closed as unpaid, and the gateway still leaves the charge open after 72 hours',
    command: 'cancel',
    does: 'closes the case once a person knows that no money came; with proof that it came, mark-paid',
  },
  'funding-stuck': {
    meaning: 'money for a wallet, and nobody knows whether it came',
    command: 'replay',
    does: 'looks at the gateway and credits the wallet',
  },
  'late-money-unbooked': {
    meaning: 'closed and still watched for late money, and nobody looks',
    command: 'replay',
    does: 'looks at the gateway and books what came',
  },
  'hold-too-old': {
    meaning: 'money is held for a purchase that does not wait for it',
    command: 'replay',
    does: 'posts or voids the hold, as its purchase ended',
  },
  'refund-not-done': {
    meaning: 'money is on its way back, for longer than it takes',
    command: 'replay',
    does: 'asks the gateway how far it is, and sends what was never sent',
  },
  'refund-needs-attention': {
    meaning: 'the gateway waits for the buyer’s bank details',
    command: 'credit',
    does: 'credits the wallet instead, with evidence that the gateway will not send it; once the details are given there, replay',
  },
  'refund-stuck': {
    meaning: 'the gateway cannot send it, and no rate was locked to credit it at',
    command: 'credit',
    does: 'credits the wallet with what it is worth, with evidence that the gateway has not sent it; once it was sent by hand, refund with evidence',
  },
  'payment-disputed': {
    meaning: 'the buyer’s bank disputes the payment',
    command: 'settle',
    does: 'settles it as won or lost, as the gateway says, with evidence',
  },
  'payment-reversed': {
    meaning: 'money that was booked has been taken back',
    command: 'settle',
    does: 'settles it as lost, with evidence',
  },
  'inbox-unapplied': {
    meaning: 'an event of the gateway was kept and not applied',
    command: 'replay',
    does: 'applies it',
  },
  'inbox-without-purchase': {
    meaning: 'an event of the gateway about no payment of ours',
    command: 'dismiss',
    does: 'closes the case once a person knows what it is about',
  },
  'message-undelivered': {
    meaning: 'a merchant was not told',
    command: 'replay',
    does: 'sends the message again, under the same id',
  },
  'approval-waiting': {
    meaning: 'a move waits for a second person',
    command: 'approve',
    does: 'does it, by another person than the one who asked',
  },
  'move-unfinished': {
    meaning: 'a move was begun and has not ended',
    command: 'show',
    does: 'tells which; the same move again ends it, once',
  },
  'needs-attention': {
    meaning: 'a person was called for another reason',
    command: 'show',
    does: 'tells what happened',
  },
} as const satisfies Record<string, StuckRule>;

export type StuckClass = keyof typeof RULES;

export const STUCK_CLASSES = Object.keys(RULES) as readonly StuckClass[];

export const stuckRule = (stuckClass: StuckClass): StuckRule => RULES[stuckClass];

/** What to do next, beginning with the command's word. */
export function nextActionOf(stuckClass: StuckClass): string {
  const { command, does } = RULES[stuckClass];
  return `${command}: ${does}`;
}

/** One thing that does not move as it should; one for each transaction and class. */
export interface StuckItem {
  /** `event-<number>` for an event and `msg-…` for a message that belong to no transaction. */
  readonly transactionId: string;
  readonly class: StuckClass;
  /** How long it has not moved. */
  readonly ageSeconds: number;
  /** Null where no amount belongs to it. */
  readonly amountMinor: bigint | null;
  readonly currency: string | null;
  /** Machine-readable. */
  readonly reason: string;
  readonly nextAction: string;
}

/** How old something may grow before it is stuck, milliseconds. */
export interface StuckLimits {
  /** Money held and not delivered. */
  readonly deliverMs: number;
  /** A purchase without a way to pay. */
  readonly openChargeMs: number;
  /** After the time to pay. */
  readonly closeUnpaidMs: number;
  /** A refund that the gateway was not asked for, or did not answer to. */
  readonly askRefundMs: number;
  /** A refund on its way at the gateway. */
  readonly sendRefundMs: number;
  /** An event in the inbox. */
  readonly applyEventMs: number;
  /** A message whose time to be sent has come. */
  readonly sendMessageMs: number;
  /** A message that was given up; older ones cannot be recovered any more. */
  readonly recoverMessageMs: number;
  /** A move that was begun, by one or by two people. */
  readonly finishMoveMs: number;
  /** Looks for late money. */
  readonly lookLateMs: number;
  /** Watching for late money, after the time to pay. */
  readonly watchLateMs: number;
  /** An open row without an open workflow. */
  readonly workflowMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The limits of a world, by the pace its purchases go at. */
export function stuckLimits(pace: {
  readonly attentionAfterMs: number;
  readonly openChargeForMs: number;
}): StuckLimits {
  return {
    // The workflow itself calls a person by then; ten minutes more mean that it does not even do that.
    deliverMs: pace.attentionAfterMs + 10 * MINUTE_MS,
    // It gives up by then.
    openChargeMs: pace.openChargeForMs + 10 * MINUTE_MS,
    // The last look follows at once and takes seconds.
    closeUnpaidMs: 10 * MINUTE_MS,
    // A refund is asked for within seconds; doubt about it is over after half a minute.
    askRefundMs: 15 * MINUTE_MS,
    // Banks take up to ten working days, and two weekends lie between.
    sendRefundMs: 14 * DAY_MS,
    // The inbox is gone through every 30 s and has a minute to do it.
    applyEventMs: 5 * MINUTE_MS,
    // The sweep starts what is due within a minute.
    sendMessageMs: 10 * MINUTE_MS,
    // decisions.md and promise W6: a range of at most 14 days can be recovered.
    recoverMessageMs: 14 * DAY_MS,
    // A move is one step, tried for a few minutes at most.
    finishMoveMs: 10 * MINUTE_MS,
    // What is closed is looked for once an hour; a second look may have been missed.
    lookLateMs: 3 * HOUR_MS,
    // 72 hours by decisions.md, and three of the hourly sweep.
    watchLateMs: 75 * HOUR_MS,
    // The workflow writes the row, so it is there before it; a minute spares asking about what is being bought right now.
    workflowMs: MINUTE_MS,
  };
}

/** Reasons of the list itself: overdue, and no person was asked for. */
type OverdueReason = 'NOT_DELIVERED_IN_TIME' | 'NOT_OPENED_IN_TIME' | 'NOT_CLOSED_IN_TIME';

const CLASS_OF_REASON: Readonly<Record<AttentionReason | OverdueReason, StuckClass>> = {
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
  NOT_DELIVERED_IN_TIME: 'paid-not-delivered',
  NOT_OPENED_IN_TIME: 'charge-unknown',
  NOT_CLOSED_IN_TIME: 'charge-unknown',
};

/** A reason that is not known here is shown all the same. */
export function classOfReason(reason: string): StuckClass {
  const known: Readonly<Record<string, StuckClass | undefined>> = CLASS_OF_REASON;
  return known[reason] ?? 'needs-attention';
}
