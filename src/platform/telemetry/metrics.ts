/**
 * Numbers for Prometheus. Labels are route templates, methods, statuses and codes: never paths, ids or
 * addresses, so that no caller can make the set of series grow.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Environment } from '../../domain/account.ts';

export type Metrics = ReturnType<typeof createMetrics>;
/** What happens in one environment, for the events that count. */
/** For events about people. */
export type PeopleMetrics = Metrics['people'];
export type WorldMetrics = ReturnType<Metrics['world']>;
/** Kinds of work that have a part of a vendor's allowance each, and the whole that accounts share. */
export type VendorWork =
  'whole' | 'orders' | 'reads' | 'background' | 'checks' | 'payments' | 'monitor' | 'reconciliation';

/** From a cached read to a purchase that waits its full eight seconds. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** From an immediate answer to the whole 8 s that a buyer waits. */
const ANSWER_BUCKETS_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 10];
/** Up to the 15 s that a merchant's endpoint has. */
const ATTEMPT_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const WAIT_BUCKETS_SECONDS = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Requests to steps that no row confirms. */
export const UNVERIFIED_REQUESTS = [
  'purchase',
  'funding',
  'payment',
  'action',
  'delivery',
  'step',
  'reconciliation',
  'batch',
] as const;

/** What became of a supplier's event, or what is odd about it. */
export const SUPPLIER_EVENT_VERDICTS = [
  'kept',
  'repeated',
  'foreign',
  'unreadable',
  'no-room',
  'unknown-type',
  'unknown-esim',
  'unknown-status',
] as const;
export type SupplierEventVerdict = (typeof SUPPLIER_EVENT_VERDICTS)[number];

/** Counted from the start, so that the first one shows as an increase. */
const CONNECTION_LIMITS = ['address', 'total', 'idle', 'pipelined', 'unread'] as const;

const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/**
 * `processMetrics` adds memory, event loop and garbage collection of this process, and what `build` it is.
 */
export function createMetrics({
  processMetrics,
  build,
}: {
  readonly processMetrics: boolean;
  readonly build?: { readonly version: string; readonly buildId: string };
}) {
  const registry = new Registry();
  if (processMetrics) collectDefaultMetrics({ register: registry });
  if (build)
    // A gauge that is always 1: its labels carry the information.
    new Gauge({
      name: 'simway_build_info',
      help: 'What this process runs',
      labelNames: ['version', 'build_id'],
      registers: [registry],
    }).set({ version: build.version, build_id: build.buildId }, 1);
  const { counter, histogram } = makersOn(registry);
  const requests = counter('http_requests_total', 'Requests answered, by route template, method and status', [
    'route',
    'method',
    'status',
  ]);
  const durations = histogram(
    'http_request_duration_seconds',
    'From the first byte handled to the answer handed over, by route template and method',
    DURATION_BUCKETS_SECONDS,
    ['route', 'method'],
  );
  const closed = counter(
    'simway_http_connections_closed_total',
    'Connections closed because of a limit, by which',
    ['limit'],
  );
  for (const limit of CONNECTION_LIMITS) closed.inc({ limit }, 0);
  const removals = counter(
    'simway_access_removals_total',
    'Resets and disablings of people and accounts at the dashboard; `waits` for a second administrator',
    ['outcome'],
  );
  for (const outcome of ['done', 'waits', 'refused']) removals.inc({ outcome }, 0);
  const vendors = histogram(
    'simway_vendor_request_seconds',
    'From a call to a vendor to the head of its answer; `lost` where none came',
    DURATION_BUCKETS_SECONDS,
    ['environment', 'vendor', 'status'],
  );
  return {
    registry,
    /** A call to a vendor has ended; without a status it was lost. */
    vendorCalled: (call: { vendor: string; environment: string; status: number | undefined; ms: number }) => {
      const { vendor, environment, status = 'lost', ms } = call;
      vendors.observe({ environment, vendor, status }, ms / 1000);
    },
    accessRemoved: ({ outcome }: { readonly outcome: 'done' | 'waits' | 'refused' }) =>
      removals.inc({ outcome }),
    world: createWorldMetrics(registry),
    people: createPeopleMetrics(registry),
    http: {
      answered: (answer: { route: string; method: string; status: number; durationMs: number }) => {
        const { route, status, durationMs } = answer;
        const method = KNOWN_METHODS.has(answer.method) ? answer.method : 'OTHER';
        requests.inc({ route, method, status });
        durations.observe({ route, method }, durationMs / 1000);
      },
      connectionClosed: (limit: (typeof CONNECTION_LIMITS)[number]) => closed.inc({ limit }),
    },
  };
}

function makersOn(registry: Registry) {
  const registers = [registry];
  return {
    counter: <const Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <const Label extends string>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: readonly Label[],
    ) => new Histogram({ name, help, labelNames, buckets, registers }),
  };
}

/** What became of a mail to a non-user. */
const STRANGER_MAIL_OUTCOMES = ['sent', 'limited', 'stopped', 'not-a-member'] as const;

const SIGN_IN_EVENTS = ['wrong-password', 'wrong-code', 'locked-out', 'queue-full'] as const;

/** People who sign in, and mail to people who do not. Each is counted from the start, for alerts. */
function createPeopleMetrics(registry: Registry) {
  const { counter } = makersOn(registry);
  const mails = counter(
    'simway_stranger_mails_total',
    'Mails to people who are not users, by what became of them',
    ['kind', 'outcome'],
  );
  for (const kind of ['invitation', 'traveller'])
    for (const outcome of STRANGER_MAIL_OUTCOMES) mails.inc({ kind, outcome }, 0);
  const signIns = counter('simway_sign_in_events_total', 'What goes wrong when people sign in, by event', [
    'event',
  ]);
  for (const event of SIGN_IN_EVENTS) signIns.inc({ event }, 0);
  const stops = counter('simway_mail_stops_total', 'Addresses whose owners want no more mail', []);
  return {
    strangerMail: (mail: { kind: string; outcome: string }) => mails.inc(mail),
    mailsStopped: () => stops.inc(),
    signIn: (event: (typeof SIGN_IN_EVENTS)[number]) => signIns.inc({ event }),
  };
}

type LabelsOf<Metric> = Metric extends Counter<infer Label> | Histogram<infer Label>
  ? Readonly<Record<Exclude<Label, typeof WORLD>, string>>
  : never;

/** Registers the metrics once for all environments of a process; returns what counts in one of them. */
function createWorldMetrics(registry: Registry) {
  const counters = countersOn(registry);
  const seconds = histogramsOn(registry);
  return (environment: Environment) => {
    const count = <Name extends keyof typeof counters>(
      name: Name,
      labels: LabelsOf<(typeof counters)[Name]>,
      by = 1,
    ): void => (counters[name] as Counter).inc({ environment, ...labels }, by);
    // An alert fires on the first one: it has to show as an increase.
    for (const what of UNVERIFIED_REQUESTS) count('unverified', { what }, 0);
    for (const verdict of SUPPLIER_EVENT_VERDICTS) count('supplierEvents', { verdict }, 0);
    for (const step of ['openPurchase', 'openFunding']) count('rowsRefused', { step }, 0);
    count('registrationFailures', {}, 0);
    count('unpaidRefused', {}, 0);
    count('installDataUnreadable', {}, 0);
    count('payloadsUnreadable', {}, 0);
    return {
      count,
      observe: <Name extends keyof typeof seconds>(
        name: Name,
        ms: number,
        labels: LabelsOf<(typeof seconds)[Name]>,
      ): void => (seconds[name] as Histogram).observe({ environment, ...labels }, ms / 1000),
    };
  };
}

const WORLD = 'environment';

function countersOn(registry: Registry) {
  const { counter } = makersOn(registry);
  const by = <const Label extends string>(name: string, help: string, ...labels: Label[]) =>
    counter(name, help, [WORLD, ...labels]);
  return {
    answers: by('simway_purchase_answers_total', 'First answers to buyers', 'answer'),
    closed: by(
      'simway_purchases_closed_total',
      'Purchases that were delivered, or failed at the supplier or when their payment was opened',
      'status',
      'reason',
    ),
    needingAttention: by(
      'simway_purchases_needing_attention_total',
      'Purchases that needed attention',
      'reason',
    ),
    unverified: by(
      'simway_unverified_requests_total',
      'Steps asked for what neither the API nor an operator asked for; nothing was done',
      'what',
    ),
    rowsRefused: by(
      'simway_rows_refused_total',
      'Rows that our own database refused for good, by the step that sent them',
      'step',
    ),
    unpaidRefused: by(
      'simway_unpaid_payments_refused_total',
      'Purchases and fundings refused because too many of the account are unpaid',
    ),
    installDataUnreadable: by('simway_install_data_unreadable_total', 'Install data that could not be read'),
    payments: by(
      'simway_payments_booked_total',
      'Money through the gateway, by what it turned out to be',
      'what',
    ),
    refunds: by('simway_refunds_ended_total', 'Refunds that ended, by how', 'end'),
    gatewayEvents: by('simway_gateway_events_total', 'Events that came in from the gateway', 'verdict'),
    supplierEvents: by('simway_supplier_events_total', 'Events that came in from the supplier', 'verdict'),
    registrationFailures: by(
      'simway_supplier_registration_failures_total',
      'Failed attempts to have the supplier send its events here',
    ),
    chargesNotFound: by(
      'simway_gateway_charges_not_found_total',
      'Accepted charges that the gateway no longer finds',
    ),
    payloadsUnreadable: by(
      'simway_temporal_payloads_unreadable_total',
      'Payloads in Temporal that could not be decrypted',
    ),
    attempts: by('simway_webhook_attempts_total', 'Attempts to deliver a message to a merchant', 'outcome'),
    denied: by(
      'simway_vendor_allowance_denied_total',
      'Calls not made, no allowance came in time',
      'vendor',
      'work',
    ),
  };
}

function histogramsOn(registry: Registry) {
  const { histogram } = makersOn(registry);
  const by = <const Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    ...labels: Label[]
  ) => histogram(name, help, buckets, [WORLD, ...labels]);
  return {
    answers: by(
      'simway_purchase_answer_seconds',
      'How long a buyer waited for the first answer',
      ANSWER_BUCKETS_SECONDS,
    ),
    attempts: by(
      'simway_webhook_attempt_seconds',
      'How long a merchant’s endpoint took',
      ATTEMPT_BUCKETS_SECONDS,
    ),
    waits: by(
      'simway_vendor_allowance_wait_seconds',
      'Waits for a place in a vendor’s allowance',
      WAIT_BUCKETS_SECONDS,
      'vendor',
      'work',
    ),
  };
}
