/**
 * What merchants are told, and when it is tried again: the closed list of events with their bodies, the schedule of attempts, and when an
 * endpoint counts as failing. Pure; docs/WEBHOOKS.md states the same for people.
 */
import { formatMinor, type AccountCurrency } from '../domain/money.ts';
import type { PurchaseStatus, OutsideMethod, PaymentPurpose } from '../domain/states.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The wait before each attempt, counted from the one before: 75 h 35 min 5 s in all. Published, so it changes with docs/WEBHOOKS.md only. */
export const ATTEMPT_WAITS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
/** Up to a fifth earlier or later, so that what failed together does not come back together. */
const JITTER_PARTS = 5;
/** How far a receiver's Retry-After can stretch a wait. */
const MAX_STRETCH = 2;

/** How many endpoints an account may have in one environment: every event is written down once for each. */
export const MAX_ENDPOINTS = 16;
/** For how long a secret that was replaced still signs beside the new one, so that receivers can be changed without a lost message. */
export const SECRET_OVERLAP_MS = 24 * HOUR_MS;
/** How many that were replaced may sign at a time: each is one more signature in the header of every message. */
export const MAX_PREVIOUS_SECRETS = 4;
/** How far back failed messages can be sent again. */
export const MAX_RECOVER_MS = 14 * 24 * HOUR_MS;

/** An endpoint without one success for this long is disabled. */
export const FAILING_LIMIT_MS = 5 * 24 * HOUR_MS;
/** The fourth attempt is half an hour after the first: the present message has failed for longer than a restart takes. */
const CONVINCING_ATTEMPTS = 4;

/**
 * When to try next, milliseconds since the epoch, after `attempts` attempts of which the last ended at `nowMs`; undefined when that was the
 * last one. `random` is a number from 0 up to and without 1. Never before a Retry-After, unless that is more than twice the planned wait.
 */
export function nextAttempt(
  attempts: number,
  nowMs: number,
  random: number,
  retryAfterMs = 0,
  waitsMs: readonly number[] = ATTEMPT_WAITS_MS,
): number | undefined {
  const plannedMs = waitsMs[attempts];
  if (plannedMs === undefined) return undefined;
  const jitterMs = Math.trunc(plannedMs / JITTER_PARTS);
  const jitteredMs = plannedMs - jitterMs + Math.trunc(random * (2 * jitterMs + 1));
  return nowMs + Math.max(jitteredMs, Math.min(retryAfterMs, MAX_STRETCH * plannedMs));
}

/** What is known of an endpoint when an attempt has just failed, or when nothing was sent there for long. */
export interface EndpointFailures {
  /** The first failure since the last success, milliseconds since the epoch. */
  readonly failingSinceMs: number;
  /** How often the present message was tried, the last failure included; where there is none, the one tried most since then. */
  readonly attempts: number;
}

/**
 * Whether the endpoint is to be disabled: nothing but failures for five days. One message must have failed for a while too, or a single hiccup
 * would end an endpoint that was not called since: after an outage of ours, say. Asked with every failed attempt, and by the sweep, since an
 * endpoint that nothing is sent to has no attempts left by then.
 */
export function isFailingForGood(
  { failingSinceMs, attempts }: EndpointFailures,
  nowMs: number,
  limitMs = FAILING_LIMIT_MS,
): boolean {
  return attempts >= CONVINCING_ATTEMPTS && nowMs - failingSinceMs >= limitMs;
}

/** Facts of each event; a new event is a line here and a rule below. */
export interface WebhookFacts {
  'esim.purchased': {
    readonly transactionId: string;
    readonly status: Exclude<PurchaseStatus, 'PENDING'>;
    /** Each null while there is none. */
    readonly esimId: string | null;
    readonly iccid: string | null;
    readonly qrCodeUrl: string | null;
  };
  'payment.received': {
    readonly transactionId: string;
    readonly purpose: PaymentPurpose;
    readonly paymentMethod: OutsideMethod;
    readonly reference: string;
    readonly amountMinor: bigint;
    readonly currency: string;
  };
  'payment.refunded': {
    readonly transactionId: string;
    readonly reference: string;
    readonly amountMinor: bigint;
    readonly currency: string;
    /** Where it was paid from, or the wallet, where the gateway cannot send it back. */
    readonly refundedTo: 'SOURCE' | 'WALLET';
  };
  'wallet.low_balance': {
    readonly balanceMinor: bigint;
    readonly thresholdMinor: bigint;
    readonly currency: AccountCurrency;
  };
  'endpoint.disabled': {
    readonly endpointId: string;
    readonly url: string;
    readonly reason: 'GONE' | 'FAILING';
  };
}

export type WebhookEvent = keyof WebhookFacts;

/** The data of a body, in the order it is written: text, or minor units, which become a number with two decimals. */
type EventData = Readonly<Record<string, string | bigint>>;

interface EventRule<Facts> {
  /** Sent to endpoints that name no events; all others only to those that ask. */
  readonly byDefault: boolean;
  /** Every key, always. */
  readonly data: (facts: Facts) => EventData;
  /** For samples: the shape of real ones, and plainly not one. */
  readonly sample: Facts;
}

const SAMPLE_TRANSACTION = `txn-${'0'.repeat(32)}`;
const SAMPLE_REFERENCE = `${SAMPLE_TRANSACTION}-1`;

const EVENTS: { readonly [Event in WebhookEvent]: EventRule<WebhookFacts[Event]> } = {
  'esim.purchased': {
    byDefault: true,
    data: ({ transactionId, status, esimId, iccid, qrCodeUrl }) => ({
      transactionId,
      status,
      esimId: esimId ?? '',
      iccid: iccid ?? '',
      qrCodeUrl: qrCodeUrl ?? '',
    }),
    sample: {
      transactionId: SAMPLE_TRANSACTION,
      // Stryker disable next-line StringLiteral: sampleBody puts another in its place
      status: 'SUCCESS',
      esimId: `esim-${'0'.repeat(32)}`,
      iccid: '8900000000000000000',
      qrCodeUrl: 'https://example.com/qr/sample.png',
    },
  },
  'payment.received': {
    byDefault: false,
    data: ({ transactionId, purpose, paymentMethod, reference, amountMinor, currency }) => ({
      transactionId,
      purpose,
      paymentMethod,
      reference,
      amount: amountMinor,
      currency,
    }),
    sample: {
      transactionId: SAMPLE_TRANSACTION,
      purpose: 'purchase',
      paymentMethod: 'CARD',
      reference: SAMPLE_REFERENCE,
      amountMinor: 1_534_25n,
      currency: 'NGN',
    },
  },
  'payment.refunded': {
    byDefault: false,
    data: ({ transactionId, reference, amountMinor, currency, refundedTo }) => ({
      transactionId,
      reference,
      amount: amountMinor,
      currency,
      refundedTo,
    }),
    sample: {
      transactionId: SAMPLE_TRANSACTION,
      reference: SAMPLE_REFERENCE,
      amountMinor: 1_534_25n,
      currency: 'NGN',
      refundedTo: 'SOURCE',
    },
  },
  'wallet.low_balance': {
    byDefault: false,
    data: ({ balanceMinor, thresholdMinor, currency }) => ({
      balance: balanceMinor,
      threshold: thresholdMinor,
      currency,
    }),
    sample: { balanceMinor: 4_20n, thresholdMinor: 10_00n, currency: 'USD' },
  },
  'endpoint.disabled': {
    byDefault: false,
    data: ({ endpointId, url, reason }) => ({ endpointId, url, reason }),
    sample: { endpointId: `ep-${'0'.repeat(32)}`, url: 'https://example.com/webhooks', reason: 'FAILING' },
  },
};

export const WEBHOOK_EVENTS = Object.keys(EVENTS) as readonly WebhookEvent[];

/** What an endpoint gets that names no events: `esim.purchased`, as the specification knows no other. */
export const DEFAULT_EVENTS: readonly WebhookEvent[] = WEBHOOK_EVENTS.filter(
  (event) => EVENTS[event].byDefault,
);

/** Whether a text from outside names an event. */
export function isWebhookEvent(text: string): text is WebhookEvent {
  return Object.hasOwn(EVENTS, text);
}

/** The body of a message, byte for byte as it is signed, kept and sent. */
export function webhookBody<Event extends WebhookEvent>(
  event: Event,
  facts: WebhookFacts[Event],
  at: Date,
): string {
  const fields = Object.entries(EVENTS[event].data(facts)).map(
    ([name, value]) =>
      `${JSON.stringify(name)}:${typeof value === 'bigint' ? formatMinor(value) : JSON.stringify(value)}`,
  );
  return `{"event":${JSON.stringify(event)},"data":{${fields.join(',')}},"timestamp":"${at.toISOString()}"}`;
}

export const PURCHASE_EVENT = 'esim.purchased' satisfies WebhookEvent;

/** What a purchase's event can tell: opening it is not told. */
export const PURCHASE_EVENT_STATUSES = [
  'PROCESSING',
  'SUCCESS',
  'FAILED',
] as const satisfies readonly PurchaseStatus[];
export type MessageStatusValue = (typeof PURCHASE_EVENT_STATUSES)[number];

/** A body of the real shape for trying things out; `status` counts for a purchase's event alone. */
export function sampleBody(event: WebhookEvent, at: Date, status: MessageStatusValue = 'SUCCESS'): string {
  // Stryker disable next-line ConditionalExpression: the other events take nothing from a status
  if (event !== PURCHASE_EVENT) return webhookBody(event, EVENTS[event].sample, at);
  const { sample } = EVENTS[event];
  const undelivered = status === 'SUCCESS' ? {} : { esimId: null, iccid: null, qrCodeUrl: null };
  return webhookBody(event, { ...sample, status, ...undelivered }, at);
}
