/**
 * One function per event: it writes the log line and counts. Other rooms call these instead of logging, so that the texts are the same everywhere.
 * Never pass a key, a secret, an activation code, a PIN or a PUK.
 */
import type { Environment } from '../../domain/account.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Logger } from './logger.ts';
import type { HttpMetrics, WorldMetrics } from './metrics.ts';

export type EventLog = Pick<Logger, 'info' | 'warn' | 'error'>;

export type Events = ReturnType<typeof createEvents>;

/** With `metrics` the events of a world are counted as well. */
export function createEvents(log: EventLog, metrics?: WorldMetrics) {
  return {
    ...purchaseEvents(log, metrics),
    ...gatewayEvents(log, metrics),
    ...webhookEvents(log, metrics),
    ...maintenanceEvents(log),
  };
}

interface Purchase {
  readonly transactionId: string;
}

function purchaseEvents(log: EventLog, metrics: WorldMetrics | undefined) {
  return {
    purchaseAnswered: (
      fields: Purchase & { requestId: string; answer: string; reason?: string; ms: number },
    ) => {
      log.info(fields, 'purchase answered');
      metrics?.purchaseAnswered(fields.answer, fields.ms);
    },
    purchaseDelivered: (fields: Purchase) => {
      log.info(fields, 'purchase delivered');
      metrics?.purchaseClosed('SUCCESS', '');
    },
    purchaseFailed: (fields: Purchase & { reason: string; detail: string }) => {
      log.warn(fields, 'purchase failed, money given back');
      metrics?.purchaseClosed('FAILED', fields.reason);
    },
    purchaseNeedsAttention: (fields: Purchase & { reason: string }) => {
      log.error(fields, 'purchase needs attention');
      metrics?.purchaseNeedsAttention(fields.reason);
    },
    settleFailed: (fields: Purchase & { detail: string }) =>
      log.error(fields, 'purchase delivered, but not settled'),
    supplierRefused: (fields: Purchase & { reason: string; detail: string }) =>
      log.warn(fields, 'supplier refused'),
    unknownSupplierState: (fields: { esimId: string; supplierStatus: string }) =>
      log.error(fields, 'unknown supplier state, nothing changed'),
    esimCheckFailed: (fields: { esimId: string; detail: string }) =>
      log.warn(fields, 'could not check the eSIM at the supplier, serving stored data'),
    operatorActionEnded: (fields: {
      moveId?: string;
      transactionId?: string;
      move?: string;
      outcome: string;
      code?: string;
    }) => log.info(fields, 'operator action ended'),
  };
}

interface GatewayPayment {
  readonly reference: string;
}

function gatewayEvents(log: EventLog, metrics: WorldMetrics | undefined) {
  return {
    gatewayRefused: (fields: GatewayPayment & { reason: string; detail: string }) =>
      log.warn(fields, 'gateway refused'),
    gatewayCheckFailed: (fields: GatewayPayment & { detail: string }) =>
      log.warn(fields, 'could not check the payment at the gateway'),
    /** The list of paid charges. Single checks replace it while this lasts. */
    gatewayListFailed: (fields: { detail: string }) =>
      log.warn(fields, 'could not read the list of charges at the gateway'),
    unknownGatewayStatus: (fields: GatewayPayment & { gatewayStatus: string }) =>
      log.error(fields, 'unknown gateway status, nothing changed'),
    gatewayChargeNotFound: (fields: Purchase & GatewayPayment) => {
      log.error(
        fields,
        'gateway does not find a charge that it accepted: is its key of the same integration?',
      );
      metrics?.chargeNotFound();
    },
    gatewayEventKept: (fields: { type: string; reference: string | null }) => {
      log.info(fields, 'gateway event kept');
      metrics?.gatewayEvent('kept');
    },
    gatewayEventRefused: (fields: { bytes: number }) => {
      log.warn(fields, 'gateway event refused: its signature is not valid');
      metrics?.gatewayEvent('refused');
    },
    paymentBooked: (fields: Purchase & GatewayPayment & { what: string }) => {
      log.info(fields, 'payment booked');
      metrics?.paymentBooked(fields.what);
    },
    refundRefused: (fields: { refundKey: string; reason: string; detail: string }) =>
      log.warn(fields, 'gateway refused a refund'),
    refundEnded: (fields: { refundKey: string; end: string }) => {
      log.info(fields, 'refund ended');
      metrics?.refundEnded(fields.end);
    },
  };
}

/** A notice to the owner of an account. */
interface Notice {
  readonly noticeId: string;
  readonly accountId: string;
  readonly kind: string;
  readonly about: string;
  readonly attempts: number;
}

function webhookEvents(log: EventLog, metrics: WorldMetrics | undefined) {
  return {
    /** `outcome`: `delivered`, `answered` (any other status), or why there was no complete answer. */
    webhookAttempted: (fields: {
      messageId: string;
      endpointId: string;
      attempt: number;
      outcome: string;
      status: number | null;
      ms: number;
    }) => {
      log[fields.outcome === 'delivered' ? 'info' : 'warn'](fields, 'webhook attempted');
      metrics?.webhookAttempted(fields.outcome, fields.ms);
    },
    webhookEndpointDisabled: (fields: { endpointId: string; accountId: string; reason: string }) =>
      log.warn(fields, 'webhook endpoint disabled'),
    /** The sweep finds them again. */
    webhooksNotHandedOver: (fields: { messages: number; detail: string }) =>
      log.warn(fields, 'webhooks could not be enqueued'),
    noticeSent: (fields: Notice) => log.info(fields, 'notice sent to the owner of an account'),
    /** It is retried. `detail` names no address. */
    noticeNotSent: (fields: Notice & { outcome: string; detail: string }) =>
      log.warn(fields, 'notice to the owner of an account not sent'),
  };
}

function maintenanceEvents(log: EventLog) {
  return {
    personLockedOut: (fields: { personId: string; address: string }) =>
      log.warn(fields, 'person locked out after too many wrong passwords'),
    catalogueSynced: (fields: {
      regions: number;
      packages: number;
      added: number;
      changed: number;
      repriced: number;
      withdrawn: number;
      ms: number;
    }) => log.info(fields, 'catalogue synced'),
    catalogueSyncRefused: (fields: { reason: string }) => log.error(fields, 'catalogue sync refused'),
    reconciled: ({
      runId,
      opened,
      closed,
      open,
    }: {
      readonly runId: string;
      readonly opened: number;
      readonly closed: number;
      readonly open: readonly { readonly kind: string; readonly count: number }[];
    }) => log[open.length === 0 ? 'info' : 'warn']({ runId, opened, closed, open }, 'reconciled'),
    rateQuarantined: (fields: { currency: string; source: string }) =>
      log.error(fields, 'exchange rate quarantined'),
    rateSourceFailed: (fields: { source: string; detail: string }) =>
      log.warn(fields, 'exchange rate source failed'),
    memoryNotRefreshed: (fields: { what: string; detail: string }) =>
      log.warn(fields, 'could not refresh memory, serving what is known'),
  };
}

export interface AnsweredRequest {
  readonly requestId: string;
  /** Of the purchase, once it is known. */
  readonly transactionId: string | undefined;
  /** The route's template, or `unmatched`. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  /** To a hundredth. */
  readonly durationMs: number;
  readonly clientAddress: string;
  readonly accountId: string | undefined;
  readonly personId: string | undefined;
  readonly environment: Environment | undefined;
  readonly errorCode: ErrorCode | undefined;
  /** Of a 503. */
  readonly cause: string | undefined;
}

export type HttpEvents = ReturnType<typeof createHttpEvents>;

/** The events of one process's HTTP server. */
export function createHttpEvents({
  logger,
  metrics,
}: {
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
}) {
  return {
    /** Every request, once. */
    answered: (request: AnsweredRequest) => {
      metrics.answered(request);
      logger[request.cause === undefined ? 'info' : 'warn'](request, 'request answered');
    },
    /** An unexpected error: a fault of ours. */
    failed: (failure: { readonly requestId: string; readonly route: string; readonly error: unknown }) =>
      logger.error(failure, 'request failed'),
    /** The purchase was answered, but the answer could not be stored under its Idempotency-Key. */
    answerNotKept: (failure: { readonly requestId: string; readonly error: unknown }) =>
      logger.error(failure, 'answer not kept under its idempotency key'),
    /** A connection failed outside of a request. */
    connectionFailed: (error: unknown) => logger.debug({ error }, 'connection failed'),
  };
}
