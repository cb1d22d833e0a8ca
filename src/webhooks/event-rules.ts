import { formatMinor, type AccountCurrency } from '../domain/money.ts';
import type { EsimStatus, PurchaseStatus, OutsideMethod, PaymentPurpose } from '../domain/states.ts';

/** Shares of the allowance that a merchant is notified of, in percent used, each once for an allowance. */
export const USAGE_THRESHOLDS = [50, 80, 90] as const;

/** Days before the end of validity that a merchant is notified at, each at most once for an end. */
export const EXPIRY_NOTICE_DAYS = [3, 1] as const;

/** The eSIM that an event of its life is about. */
interface EsimFacts {
  readonly esimId: string;
  /** Of the purchase that made it. */
  readonly transactionId: string;
  readonly iccid: string;
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
  /** `from` and `to` are the eSIM's statuses. Being delivered is `esim.purchased`. */
  'esim.status_changed': EsimFacts & { readonly from: EsimStatus; readonly to: EsimStatus };
  /** Volumes in bytes. */
  'esim.usage_threshold': EsimFacts & {
    readonly thresholdPercent: number;
    readonly totalVolume: number;
    readonly orderUsage: number;
    readonly dataUsageRemain: number;
    /** ISO 8601. */
    readonly usageAsOf: string | null;
  };
  'esim.expiring': EsimFacts & { readonly daysBefore: number; readonly expiredTime: string | null };
  'esim.expired': EsimFacts & {
    /** Null: it was never used. */
    readonly activateTime: string | null;
    readonly expiredTime: string | null;
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
  'batch.completed': {
    readonly batchId: string;
    readonly rows: number;
    readonly succeeded: number;
    readonly failed: number;
  };
  /** The next four are null where one message is about many packages. */
  'package.changed': {
    readonly packageCode: string | null;
    readonly packageName: string | null;
    readonly regionCode: string | null;
    /** Separated by commas. */
    readonly changedFields: string | null;
    /** How many the message is about. */
    readonly packages: number;
  };
  'package.withdrawn': {
    readonly packageCode: string | null;
    readonly packageName: string | null;
    readonly regionCode: string | null;
    readonly packages: number;
  };
}

export type WebhookEvent = keyof WebhookFacts;

const SAMPLE_TRANSACTION = `txn-${'0'.repeat(32)}`;

const SAMPLE_REFERENCE = `${SAMPLE_TRANSACTION}-1`;

const SAMPLE_ESIM = {
  esimId: `esim-${'0'.repeat(32)}`,
  transactionId: SAMPLE_TRANSACTION,
  iccid: '8900000000000000000',
} as const;

const SAMPLE_PACKAGE = { packageCode: 'SAMPLE', packageName: 'Sample 1GB 7Days', regionCode: 'NG' };

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
  'esim.status_changed': { ...SAMPLE_ESIM, from: 'CREATED', to: 'ACTIVE' },
  'esim.usage_threshold': {
    ...SAMPLE_ESIM,
    thresholdPercent: 80,
    totalVolume: 1_073_741_824,
    orderUsage: 869_730_878,
    dataUsageRemain: 204_010_946,
    usageAsOf: '2026-01-31T09:30:00.000Z',
  },
  'esim.expiring': { ...SAMPLE_ESIM, daysBefore: 3, expiredTime: '2026-02-28T09:30:00.000Z' },
  'esim.expired': {
    ...SAMPLE_ESIM,
    activateTime: '2026-01-29T09:30:00.000Z',
    expiredTime: '2026-02-28T09:30:00.000Z',
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
  'batch.completed': { batchId: `batch-${'0'.repeat(32)}`, rows: 500, succeeded: 498, failed: 2 },
  'package.changed': { ...SAMPLE_PACKAGE, changedFields: 'price,speed', packages: 1 },
  'package.withdrawn': { ...SAMPLE_PACKAGE, packages: 1 },
};

export const WEBHOOK_EVENTS = Object.keys(SAMPLES) as readonly WebhookEvent[];

export const PURCHASE_EVENT = 'esim.purchased' satisfies WebhookEvent;

/** Sent to endpoints that name no events: the event that existed first. */
export const DEFAULT_EVENTS: readonly WebhookEvent[] = [PURCHASE_EVENT];

export function isWebhookEvent(text: string): text is WebhookEvent {
  return Object.hasOwn(SAMPLES, text);
}

/** In the order of the body. */
export function namesOfFacts(event: WebhookEvent): readonly string[] {
  return Object.keys(SAMPLES[event]);
}

/** The body of a message, byte for byte as it is stored, and, but for a sealed address, signed and sent. */
export function webhookBody<Event extends WebhookEvent>(
  event: Event,
  facts: WebhookFacts[Event],
  at: Date,
): string {
  const values = facts as Readonly<Record<string, string | bigint | number | null>>;
  const fields = namesOfFacts(event).map((name) => jsonField(name, values[name] ?? ''));
  return `{"event":${JSON.stringify(event)},"data":{${fields.join(',')}},"timestamp":"${at.toISOString()}"}`;
}

/** Stands in a stored body for an address that is sealed with its eSIM. No address holds a control character. */
export function sealedQrCodeUrl(esimId: string): string {
  return `\u0001qr-code-url-of:${esimId}\u0001`;
}

const SEALED_QR_CODE_URL = /(?<="qrCodeUrl":)"\\u0001qr-code-url-of:([^"\\]+)\\u0001"/;

/** The eSIM whose address is to be filled in. */
export function sealedEsimOf(body: string): string | undefined {
  return SEALED_QR_CODE_URL.exec(body)?.[1];
}

export function fillQrCodeUrl(body: string, qrCodeUrl: string): string {
  return body.replace(SEALED_QR_CODE_URL, () => JSON.stringify(qrCodeUrl));
}

/** `amountMinor: 1234n` → `"amount":12.34`. A number stays as it is: a count, bytes or percent, never money. */
function jsonField(name: string, value: string | bigint | number): string {
  return typeof value === 'bigint'
    ? `${JSON.stringify(name.replace(/Minor$/, ''))}:${formatMinor(value)}`
    : `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

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
