import { formatMinor, type AccountCurrency } from '../domain/money.ts';
import type { PurchaseStatus, OutsideMethod, PaymentPurpose } from '../domain/states.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The wait before each attempt after the previous one; 75 h 35 min 5 s in all. Published in docs/WEBHOOKS.md. */
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
/** Up to a fifth earlier or later, so that messages that failed together are not retried together. */
const JITTER_PARTS = 5;
/** A receiver's Retry-After can at most double a wait. */
const MAX_RETRY_AFTER_FACTOR = 2;

/** Per account and environment: every event is stored once for each endpoint. */
export const MAX_ENDPOINTS = 16;
/** How long a replaced secret still signs beside the new one, so that receivers can change without losing a message. */
export const SECRET_OVERLAP_MS = 24 * HOUR_MS;
/** Replaced secrets that sign at a time: each adds a signature to the header of every message. */
export const MAX_PREVIOUS_SECRETS = 4;
/** How far back failed messages can be recovered. */
export const MAX_RECOVER_MS = 14 * 24 * HOUR_MS;

/** An endpoint without one success for this long is disabled. */
export const FAILING_LIMIT_MS = 5 * 24 * HOUR_MS;
/** The fourth attempt is half an hour after the first: longer than a restart takes. */
const MIN_FAILED_ATTEMPTS = 4;

/**
 * The time of the next attempt in epoch milliseconds, after `attempts` attempts of which the last ended at `nowMs`; undefined after the last.
 * `random` is in [0, 1). Not before a Retry-After, unless that is more than twice the planned wait.
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
  return nowMs + Math.max(jitteredMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_FACTOR * plannedMs));
}

export interface EndpointFailures {
  /** The first failure since the last success, in epoch milliseconds. */
  readonly failingSinceMs: number;
  /** Of the current message, including the last failure; without one, of the message with the most attempts since then. */
  readonly attempts: number;
}

/**
 * Whether to disable the endpoint: only failures for five days. One message must have failed several times too; otherwise a single failure
 * would disable an endpoint that was not called since, for example after an outage of ours. Checked at every failed attempt, and by the sweep
 * for endpoints without pending messages.
 */
export function shouldDisable(
  { failingSinceMs, attempts }: EndpointFailures,
  nowMs: number,
  limitMs = FAILING_LIMIT_MS,
): boolean {
  return attempts >= MIN_FAILED_ATTEMPTS && nowMs - failingSinceMs >= limitMs;
}

/** A new event is an entry here and in SAMPLES. */
export interface WebhookFacts {
  'esim.purchased': {
    readonly transactionId: string;
    readonly status: Exclude<PurchaseStatus, 'PENDING'>;
    /** Null until known, as the next two. */
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
    /** WALLET when the gateway cannot send it back. */
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

const SAMPLE_TRANSACTION = `txn-${'0'.repeat(32)}`;
const SAMPLE_REFERENCE = `${SAMPLE_TRANSACTION}-1`;

/** The real shape with values that are clearly not real. The order of fields is that of the body. */
const SAMPLES: { readonly [Event in WebhookEvent]: WebhookFacts[Event] } = {
  'esim.purchased': {
    transactionId: SAMPLE_TRANSACTION,
    // Stryker disable next-line StringLiteral: sampleBody replaces it
    status: 'SUCCESS',
    esimId: `esim-${'0'.repeat(32)}`,
    iccid: '8900000000000000000',
    qrCodeUrl: 'https://example.com/qr/sample.png',
  },
  'payment.received': {
    transactionId: SAMPLE_TRANSACTION,
    purpose: 'purchase',
    paymentMethod: 'CARD',
    reference: SAMPLE_REFERENCE,
    amountMinor: 1_534_25n,
    currency: 'NGN',
  },
  'payment.refunded': {
    transactionId: SAMPLE_TRANSACTION,
    reference: SAMPLE_REFERENCE,
    amountMinor: 1_534_25n,
    currency: 'NGN',
    refundedTo: 'SOURCE',
  },
  'wallet.low_balance': { balanceMinor: 4_20n, thresholdMinor: 10_00n, currency: 'USD' },
  'endpoint.disabled': {
    endpointId: `ep-${'0'.repeat(32)}`,
    url: 'https://example.com/webhooks',
    reason: 'FAILING',
  },
};

export const WEBHOOK_EVENTS = Object.keys(SAMPLES) as readonly WebhookEvent[];

export const PURCHASE_EVENT = 'esim.purchased' satisfies WebhookEvent;

/** Sent to endpoints that name no events: the only event of the specification. */
export const DEFAULT_EVENTS: readonly WebhookEvent[] = [PURCHASE_EVENT];

export function isWebhookEvent(text: string): text is WebhookEvent {
  return Object.hasOwn(SAMPLES, text);
}

/** The body of a message, byte for byte as it is signed, stored and sent. */
export function webhookBody<Event extends WebhookEvent>(
  event: Event,
  facts: WebhookFacts[Event],
  at: Date,
): string {
  const values = facts as Readonly<Record<string, string | bigint | null>>;
  const fields = Object.keys(SAMPLES[event]).map((name) => jsonField(name, values[name] ?? ''));
  return `{"event":${JSON.stringify(event)},"data":{${fields.join(',')}},"timestamp":"${at.toISOString()}"}`;
}

/** `amountMinor: 1234n` → `"amount":12.34`. */
function jsonField(name: string, value: string | bigint): string {
  return typeof value === 'bigint'
    ? `${JSON.stringify(name.replace(/Minor$/, ''))}:${formatMinor(value)}`
    : `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

export const MESSAGE_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

export const DISABLED_REASONS = ['BY_OWNER', 'GONE', 'FAILING'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Opening a purchase sends no event. */
export const PURCHASE_EVENT_STATUSES = [
  'PROCESSING',
  'SUCCESS',
  'FAILED',
] as const satisfies readonly PurchaseStatus[];
export type PurchaseEventStatus = (typeof PURCHASE_EVENT_STATUSES)[number];

/** `status` applies to `esim.purchased` only. */
export function sampleBody(event: WebhookEvent, at: Date, status: PurchaseEventStatus = 'SUCCESS'): string {
  // Stryker disable next-line ConditionalExpression: other events ignore a status
  if (event !== PURCHASE_EVENT) return webhookBody(event, SAMPLES[event], at);
  const undelivered = status === 'SUCCESS' ? {} : { esimId: null, iccid: null, qrCodeUrl: null };
  return webhookBody(event, { ...SAMPLES[event], status, ...undelivered }, at);
}
