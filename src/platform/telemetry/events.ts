/**
 * One function per business event: what happened, once as a log line with its ids, and counted. Rooms call these instead of writing log
 * lines, so the words stay the same everywhere. No key, secret, activation code, PIN or PUK ever comes in here.
 */
import type { WorldMetrics, HttpMetrics } from './metrics.ts';
import type { Environment } from '../../domain/account.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Logger } from './logger.ts';

export interface EventLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A notice to the owner of an account: what kind, and what it is about. */
interface NoticeFields {
  noticeId: string;
  accountId: string;
  kind: string;
  about: string;
  attempts: number;
}

export interface Events {
  purchaseAnswered(fields: {
    transactionId: string;
    requestId: string;
    answer: string;
    reason?: string;
    ms: number;
  }): void;
  purchaseDelivered(fields: { transactionId: string }): void;
  purchaseFailed(fields: { transactionId: string; reason: string; detail: string }): void;
  purchaseNeedsAttention(fields: { transactionId: string; reason: string }): void;
  settleFailed(fields: { transactionId: string; detail: string }): void;
  supplierRefused(fields: { transactionId: string; reason: string; detail: string }): void;
  unknownSupplierState(fields: { esimId: string; supplierStatus: string }): void;
  esimCheckFailed(fields: { esimId: string; detail: string }): void;
  gatewayRefused(fields: { reference: string; reason: string; detail: string }): void;
  gatewayCheckFailed(fields: { reference: string; detail: string }): void;
  /** The list of paid charges; single looks stand in for it where that lasts. */
  gatewayListFailed(fields: { detail: string }): void;
  unknownGatewayStatus(fields: { reference: string; gatewayStatus: string }): void;
  /** The gateway took this charge before. */
  gatewayChargeNotFound(fields: { transactionId: string; reference: string }): void;
  gatewayEventKept(fields: { type: string; reference: string | null }): void;
  gatewayEventRefused(fields: { bytes: number }): void;
  paymentBooked(fields: { transactionId: string; reference: string; what: string }): void;
  refundRefused(fields: { refundKey: string; reason: string; detail: string }): void;
  refundEnded(fields: { refundKey: string; end: string }): void;
  /** An operator's move was made, refused, or waits for a second person. */
  operatorActionEnded(fields: {
    moveId?: string;
    transactionId?: string;
    move?: string;
    outcome: string;
    code?: string;
  }): void;
  /** One attempt to tell a merchant; `outcome` is `delivered`, `answered` (any other status) or why there was no whole answer. */
  webhookAttempted(fields: {
    messageId: string;
    endpointId: string;
    attempt: number;
    outcome: string;
    status: number | null;
    ms: number;
  }): void;
  webhookEndpointDisabled(fields: { endpointId: string; accountId: string; reason: string }): void;
  noticeSent(fields: NoticeFields): void;
  /** It is tried again. `detail` names no address. */
  noticeNotSent(fields: NoticeFields & { outcome: string; detail: string }): void;
  /** Too many wrong passwords in a row. */
  personLockedOut(fields: { personId: string; address: string }): void;
  /** The sweep finds them again. */
  webhooksNotHandedOver(fields: { messages: number; detail: string }): void;
  catalogueSynced(fields: {
    regions: number;
    packages: number;
    added: number;
    changed: number;
    repriced: number;
    withdrawn: number;
    ms: number;
  }): void;
  catalogueSyncRefused(fields: { reason: string }): void;
  reconciled(fields: {
    readonly runId: string;
    readonly opened: number;
    readonly closed: number;
    readonly open: readonly { readonly kind: string; readonly count: number }[];
  }): void;
  rateQuarantined(fields: { currency: string; source: string }): void;
  rateSourceFailed(fields: { source: string; detail: string }): void;
  memoryNotRefreshed(fields: { what: string; detail: string }): void;
}

/** With `metrics` the events of a world are counted as well. */
export function createEvents(log: EventLog, metrics?: WorldMetrics): Events {
  const events = toldTo(log);
  return metrics ? { ...events, ...counted(events, metrics) } : events;
}

function toldTo(log: EventLog): Events {
  return {
    purchaseAnswered: (fields) => log.info(fields, 'purchase answered'),
    purchaseDelivered: (fields) => log.info(fields, 'purchase delivered'),
    purchaseFailed: (fields) => log.warn(fields, 'purchase failed, money given back'),
    purchaseNeedsAttention: (fields) => log.error(fields, 'purchase needs attention'),
    settleFailed: (fields) => log.error(fields, 'delivered, but not settled'),
    supplierRefused: (fields) => log.warn(fields, 'supplier refused'),
    unknownSupplierState: (fields) => log.error(fields, 'supplier state never seen before, nothing changed'),
    esimCheckFailed: (fields) => log.warn(fields, 'eSIM could not be looked up, serving what is known'),
    gatewayRefused: (fields) => log.warn(fields, 'gateway refused'),
    gatewayCheckFailed: (fields) => log.warn(fields, 'gateway could not be asked'),
    gatewayListFailed: (fields) => log.warn(fields, 'gateway list could not be read'),
    unknownGatewayStatus: (fields) => log.error(fields, 'gateway status never seen before, nothing changed'),
    gatewayChargeNotFound: (fields) =>
      log.error(fields, 'gateway does not find a charge that it took: is its key of the same integration?'),
    gatewayEventKept: (fields) => log.info(fields, 'gateway event kept'),
    gatewayEventRefused: (fields) => log.warn(fields, 'gateway event refused: not certainly its word'),
    paymentBooked: (fields) => log.info(fields, 'payment booked'),
    refundRefused: (fields) => log.warn(fields, 'gateway refused a refund'),
    refundEnded: (fields) => log.info(fields, 'refund ended'),
    operatorActionEnded: (fields) => log.info(fields, 'operator move ended'),
    webhookAttempted: (fields) =>
      log[fields.outcome === 'delivered' ? 'info' : 'warn'](fields, 'webhook attempted'),
    webhookEndpointDisabled: (fields) => log.warn(fields, 'webhook endpoint disabled'),
    noticeSent: (fields) => log.info(fields, 'notice sent to the owner of an account'),
    noticeNotSent: (fields) => log.warn(fields, 'notice to the owner of an account not sent'),
    personLockedOut: (fields) => log.warn(fields, 'person locked out after too many wrong passwords'),
    webhooksNotHandedOver: (fields) => log.warn(fields, 'webhooks could not be handed over'),
    catalogueSynced: (fields) => log.info(fields, 'catalogue synced'),
    catalogueSyncRefused: (fields) => log.error(fields, 'catalogue sync refused'),
    reconciled: ({ runId, opened, closed, open }) =>
      log[open.length === 0 ? 'info' : 'warn']({ runId, opened, closed, open }, 'reconciled'),
    rateQuarantined: (fields) => log.error(fields, 'exchange rate quarantined'),
    rateSourceFailed: (fields) => log.warn(fields, 'exchange rate source failed'),
    memoryNotRefreshed: (fields) => log.warn(fields, 'could not refresh memory, serving what is known'),
  };
}

/** The events that count, each told first. */
function counted(events: Events, metrics: WorldMetrics): Partial<Events> {
  return {
    purchaseAnswered: (fields) => {
      events.purchaseAnswered(fields);
      metrics.purchaseAnswered(fields.answer, fields.ms);
    },
    purchaseDelivered: (fields) => {
      events.purchaseDelivered(fields);
      metrics.purchaseClosed('SUCCESS', '');
    },
    purchaseFailed: (fields) => {
      events.purchaseFailed(fields);
      metrics.purchaseClosed('FAILED', fields.reason);
    },
    purchaseNeedsAttention: (fields) => {
      events.purchaseNeedsAttention(fields);
      metrics.purchaseNeedsAttention(fields.reason);
    },
    gatewayChargeNotFound: (fields) => {
      events.gatewayChargeNotFound(fields);
      metrics.chargeNotFound();
    },
    paymentBooked: (fields) => {
      events.paymentBooked(fields);
      metrics.paymentBooked(fields.what);
    },
    refundEnded: (fields) => {
      events.refundEnded(fields);
      metrics.refundEnded(fields.end);
    },
    gatewayEventKept: (fields) => {
      events.gatewayEventKept(fields);
      metrics.gatewayEvent('kept');
    },
    gatewayEventRefused: (fields) => {
      events.gatewayEventRefused(fields);
      metrics.gatewayEvent('refused');
    },
    webhookAttempted: (fields) => {
      events.webhookAttempted(fields);
      metrics.webhookAttempted(fields.outcome, fields.ms);
    },
  };
}

export interface AnsweredRequest {
  readonly requestId: string;
  /** The purchase that the request turned out to be about. */
  readonly transactionId: string | undefined;
  /** The route's template, or `unmatched`. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  /** To a hundredth. */
  readonly durationMs: number;
  readonly clientAddress: string;
  readonly accountId: string | undefined;
  /** Who has signed in. */
  readonly personId: string | undefined;
  readonly environment: Environment | undefined;
  readonly errorCode: ErrorCode | undefined;
  /** What is behind a 503. */
  readonly cause: string | undefined;
}

export interface HttpEvents {
  /** Every request, once. */
  answered(request: AnsweredRequest): void;
  /** An error that is nobody's refusal: ours to repair. */
  failed(failure: { readonly requestId: string; readonly route: string; readonly error: unknown }): void;
  /** A purchase was answered, but the answer could not be kept under its Idempotency-Key. */
  answerNotKept(failure: { readonly requestId: string; readonly error: unknown }): void;
  /** A connection failed outside any request's handling. */
  connectionFailed(error: unknown): void;
}

/** The events of one process's HTTP door. */
export function createHttpEvents(options: {
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
}): HttpEvents {
  const { logger, metrics } = options;
  return {
    answered(request) {
      metrics.answered(request);
      if (request.cause === undefined) logger.info(request, 'request answered');
      else logger.warn(request, 'request answered');
    },
    failed: (failure) => logger.error({ ...failure }, 'request failed'),
    answerNotKept: (failure) => logger.error({ ...failure }, 'answer not kept under its idempotency key'),
    connectionFailed: (error) => logger.debug({ error }, 'connection failed'),
  };
}
