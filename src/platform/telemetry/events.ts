/**
 * One function per event: it writes the log line and counts. Other code calls these instead of logging, so
 * that the texts are the same everywhere. Never pass a key, a secret, an activation code, a PIN or a PUK.
 */
import type { Environment } from '../../domain/account.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Logger } from './logger.ts';
import type {
  Metrics,
  PeopleMetrics,
  SupplierEventVerdict,
  UNVERIFIED_REQUESTS,
  WorldMetrics,
} from './metrics.ts';

interface ReconciledFields {
  readonly runId: string;
  readonly opened: number;
  readonly closed: number;
  /** Open differences of any age, by kind. */
  readonly open: readonly { readonly kind: string; readonly count: number }[];
}

export type EventLog = Pick<Logger, 'info' | 'warn' | 'error'>;

export type Events = ReturnType<typeof createEvents>;

/** With `metrics` the events of an environment are counted as well, with `people` those of people. */
export function createEvents(log: EventLog, metrics?: WorldMetrics, people?: PeopleMetrics) {
  return {
    ...purchaseEvents(log, metrics),
    ...gatewayEvents(log, metrics),
    ...webhookEvents(log, metrics),
    ...supplierEvents(log, metrics),
    ...maintenanceEvents(log, people),
    /** The error names the key, and nothing of the payload. */
    temporalPayloadUnreadable: ({ message: detail }: Error) => {
      log.error({ detail }, 'a payload in Temporal is unreadable');
      metrics?.count('payloadsUnreadable', {});
    },
  };
}

/**
 * Work that was requested without a valid record of ours. `step`: a local activity was scheduled on a task
 * queue.
 */
type UnverifiedRequest = (typeof UNVERIFIED_REQUESTS)[number];

type Texts<Names extends string> = Readonly<Record<Names, string>>;

/** Events that are a line, and may be counted; their fields are texts, and `More`. */
function linesOf(log: EventLog) {
  const line =
    (level: keyof EventLog) =>
    <Names extends string, More = unknown>(message: string, count?: (fields: Texts<Names> & More) => void) =>
    (fields: Texts<Names> & More): void => {
      log[level](fields, message);
      count?.(fields);
    };
  return { info: line('info'), warn: line('warn'), error: line('error') };
}

function purchaseEvents(log: EventLog, metrics: WorldMetrics | undefined) {
  const { info, warn, error } = linesOf(log);
  return {
    purchaseAnswered: info<'transactionId' | 'requestId' | 'answer', { reason?: string; ms: number }>(
      'purchase answered',
      ({ answer, ms }) => {
        metrics?.count('answers', { answer });
        metrics?.observe('answers', ms, {});
      },
    ),
    purchaseDelivered: info<'transactionId'>('purchase delivered', () =>
      metrics?.count('closed', { status: 'SUCCESS', reason: '' }),
    ),
    purchaseFailed: warn<'transactionId' | 'reason' | 'detail'>(
      'purchase failed, money given back',
      ({ reason }) => metrics?.count('closed', { status: 'FAILED', reason }),
    ),
    purchaseNeedsAttention: error<'transactionId' | 'reason'>('purchase needs attention', ({ reason }) =>
      metrics?.count('needingAttention', { reason }),
    ),
    settleFailed: error<'transactionId' | 'detail'>('purchase delivered, but not settled'),
    refundFailed: error<'transactionId' | 'detail'>('order refused, and its money could not be given back'),
    supplierRefused: warn<'transactionId' | 'reason' | 'detail'>('supplier refused'),
    /** `detail` names the key that is missing. */
    esimUnreadable: error<'esimId' | 'detail'>('install data of an eSIM cannot be read', () =>
      metrics?.count('installDataUnreadable', {}),
    ),
    sealingKeyMissing: error<'keyId'>('eSIMs are sealed with a key that is not configured', () =>
      metrics?.count('installDataUnreadable', {}),
    ),
    esimCheckFailed: warn<'esimId' | 'detail'>(
      'could not check the eSIM at the supplier, serving stored data',
    ),
    /** A step got a request that our API has not signed and that no row proves. Nothing was done. */
    unverifiedRequest: error<
      'detail',
      Partial<Texts<'transactionId' | 'runKey' | 'batchId'>> & { what: UnverifiedRequest }
    >('unverified request refused: not signed by the API, and not in the database', ({ what }) =>
      metrics?.count('unverified', { what }),
    ),
    /** Our database refuses a row for good: a fault of ours. Its request has ended, or waits for a person. */
    rowRefused: error<'step' | 'detail', Partial<Texts<'transactionId'>>>(
      'the database refuses a row for good',
      ({ step }) => metrics?.count('rowsRefused', { step }),
    ),
    /** A merchant whose program opens payments that are never paid, or many buyers who leave the checkout. */
    unpaidRefused: warn<'accountId'>('refused: too many payments of the account are unpaid', () =>
      metrics?.count('unpaidRefused', {}),
    ),
    /** The sweep starts it. */
    returnNotBegun: warn<'what' | 'id' | 'detail'>(
      'the workflow of a return or a replacement was not started: the sweep starts it soon',
    ),
    jobNotBegun: warn<'jobId' | 'detail'>(
      'the workflow of a batch or a batch repair could not be started now',
    ),
    jobEnded: info<'jobId' | 'status' | 'line'>('batch or batch repair ended'),
    installEmailSent: info<'transactionId', { attempts: number }>('install link sent to a traveller'),
    /** `detail` names neither address nor link. */
    installEmailNotSent: warn<
      'transactionId' | 'outcome' | 'detail',
      { attempts: number; isGivenUp: boolean }
    >('install link not sent to a traveller'),
    operatorActionEnded: info<'outcome', Partial<Texts<'actionId' | 'transactionId' | 'action' | 'code'>>>(
      'operator action ended',
    ),
  };
}

function gatewayEvents(log: EventLog, metrics: WorldMetrics | undefined) {
  const { info, warn, error } = linesOf(log);
  return {
    gatewayRefused: warn<'reference' | 'reason' | 'detail'>('gateway refused'),
    gatewayCheckFailed: warn<'reference' | 'detail'>('could not check the payment at the gateway'),
    /** The list of paid charges. Single checks replace it while this lasts. */
    gatewayListFailed: warn<'detail'>('could not read the list of charges at the gateway'),
    unknownGatewayStatus: error<'reference' | 'gatewayStatus'>('unknown gateway status, nothing changed'),
    gatewayChargeNotFound: error<'transactionId' | 'reference'>(
      'gateway does not find a charge that it accepted: is its key of the same integration?',
      () => metrics?.count('chargesNotFound', {}),
    ),
    gatewayEventKept: info<'type', { reference: string | null }>('gateway event kept', () =>
      metrics?.count('gatewayEvents', { verdict: 'kept' }),
    ),
    gatewayEventRefused: warn<never, { bytes: number }>(
      'gateway event refused: its signature is not valid',
      () => metrics?.count('gatewayEvents', { verdict: 'refused' }),
    ),
    paymentBooked: info<'transactionId' | 'reference' | 'what'>('payment booked', ({ what }) =>
      metrics?.count('payments', { what }),
    ),
    refundRefused: warn<'refundKey' | 'reason' | 'detail'>('gateway refused a refund'),
    refundEnded: info<'refundKey' | 'end'>('refund ended', ({ end }) => metrics?.count('refunds', { end })),
  };
}

function supplierEvents(log: EventLog, metrics: WorldMetrics | undefined) {
  const { info, warn, error } = linesOf(log);
  return {
    unknownSupplierState: error<'esimId' | 'supplierStatus'>(
      'unknown supplier status: the eSIM keeps its status, usage is taken',
      () => metrics?.count('supplierEvents', { verdict: 'unknown-status' }),
    ),
    illegalStatusChange: error<'esimId' | 'from' | 'supplierStatus'>(
      'the supplier names a state that this eSIM cannot go to, its state stays',
    ),
    /** `type`: the sender's word, at most 100 characters. */
    supplierEventReceived: ({ verdict, type }: { verdict: SupplierEventVerdict; type: string }) => {
      const isUsual = verdict === 'kept' || verdict === 'repeated';
      log[isUsual ? 'info' : 'warn']({ verdict, type }, 'supplier event');
      metrics?.count('supplierEvents', { verdict });
    },
    supplierEventsRegistered: info<'url'>('the supplier sends its events here'),
    /** It is tried again. */
    supplierEventsNotRegistered: warn<'url' | 'detail'>(
      'the supplier does not send its events here yet',
      () => metrics?.count('registrationFailures', {}),
    ),
  };
}

type NoticeTexts = 'noticeId' | 'accountId' | 'kind' | 'about';

function webhookEvents(log: EventLog, metrics: WorldMetrics | undefined) {
  const { info, warn } = linesOf(log);
  return {
    /** `outcome`: `delivered`, `answered` (any other status), or why there was no complete answer. */
    webhookAttempted: (
      fields: Texts<'messageId' | 'endpointId' | 'outcome'> & {
        attempt: number;
        status: number | null;
        ms: number;
      },
    ) => {
      log[fields.outcome === 'delivered' ? 'info' : 'warn'](fields, 'webhook attempted');
      metrics?.count('attempts', { outcome: fields.outcome });
      metrics?.observe('attempts', fields.ms, {});
    },
    webhookEndpointDisabled: warn<'endpointId' | 'accountId' | 'reason'>('webhook endpoint disabled'),
    /** The dispatcher finds them again. */
    webhooksNotHandedOver: warn<'detail', { messages: number }>('messages could not be handed to Temporal'),
    /** They are tried again: within a minute, or when their leases expire. */
    dispatchFailed: (error: unknown, messages: number) =>
      log.error({ error, messages }, 'messages could not be dispatched'),
    noticeSent: info<NoticeTexts, { attempts: number }>('notice sent to the owner of an account'),
    alertOpened: warn<'kind' | 'about'>('alert for operators opened'),
    alertClosed: info<'kind' | 'about'>('alert for operators closed'),
    /** It is retried. `detail` names no address. */
    alertNotSent: warn<'channelId' | 'detail', { attempts: number }>('alert for operators not sent'),
    /** It is retried. `detail` names no address. */
    noticeNotSent: warn<NoticeTexts | 'outcome' | 'detail', { attempts: number }>(
      'notice to the owner of an account not sent',
    ),
  };
}

type SyncCounts = 'regions' | 'packages' | 'added' | 'changed' | 'repriced' | 'withdrawn' | 'held' | 'ms';

function maintenanceEvents(log: EventLog, people: PeopleMetrics | undefined) {
  const { info, warn, error } = linesOf(log);
  return {
    personLockedOut: warn<'personId' | 'address'>('person locked out there after too many wrong tries', () =>
      people?.signIn('locked-out'),
    ),
    /** Counted alone: the audit log has each of them. */
    signInRefused: (what: 'wrong-password' | 'wrong-code') => people?.signIn(what),
    signInQueueFull: warn<'lane'>('too many passwords wait to be checked', () =>
      people?.signIn('queue-full'),
    ),
    /** To somebody who is not a user. */
    strangerMailSent: info<'kind'>('mail to a stranger sent', ({ kind }) =>
      people?.strangerMail({ kind, outcome: 'sent' }),
    ),
    strangerMailHeld: warn<'kind' | 'why'>('mail to a stranger not sent', ({ kind, why }) =>
      people?.strangerMail({ kind, outcome: why }),
    ),
    /** By the link in such a mail. */
    mailsStopped: warn<'requestId'>('a stranger wants no more mail', () => people?.mailsStopped()),
    /** Without the e-mail address: the request id identifies the request. */
    userMailNotSent: warn<'kind' | 'requestId' | 'detail'>('a mail to a user was not sent'),
    signInFailed: error<'detail'>('signing in failed on our side'),
    requestsNotKept: warn<'detail'>('recent requests of accounts were not written'),
    catalogueSynced: info<never, Readonly<Record<SyncCounts, number>>>('catalogue synced'),
    supplierPricesHeld: error<never, { readonly count: number }>('prices of the supplier wait for a person'),
    catalogueSyncRefused: error<'reason'>('catalogue sync refused'),
    reconciled: ({ runId, opened, closed, open }: ReconciledFields) =>
      log[open.length === 0 ? 'info' : 'warn']({ runId, opened, closed, open }, 'reconciled'),
    rateQuarantined: error<'currency' | 'source'>('exchange rate quarantined'),
    rateSourceFailed: warn<'source' | 'detail'>('exchange rate source failed'),
    memoryNotRefreshed: warn<'what' | 'detail'>('could not refresh memory, serving what is known'),
  };
}

interface AnsweredRequest {
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
  /** Of a user of the dashboard. */
  readonly userId: string | undefined;
  readonly environment: Environment | undefined;
  readonly errorCode: ErrorCode | undefined;
  /** Of a 503. */
  readonly cause: string | undefined;
}

export type HttpEvents = ReturnType<typeof createHttpEvents>;

/** The events of one process's HTTP server. */
export function createHttpEvents({ logger, metrics }: { logger: Logger; metrics: Metrics['http'] }) {
  return {
    /** Every request, once. */
    answered: (request: AnsweredRequest) => {
      metrics.answered(request);
      logger[request.cause === undefined ? 'info' : 'warn'](request, 'request answered');
    },
    /** An unexpected error: our fault. */
    failed: (failure: Texts<'requestId' | 'route'> & { readonly error: unknown }) =>
      logger.error(failure, 'request failed'),
    /** The purchase was answered, but the answer could not be stored under its Idempotency-Key. */
    answerNotKept: (failure: Texts<'requestId'> & { readonly error: unknown }) =>
      logger.error(failure, 'answer not kept under its idempotency key'),
    /** A connection failed outside of a request. */
    connectionFailed: (error: unknown) => logger.debug({ error }, 'connection failed'),
  };
}
