/**
 * Numbers for Prometheus. Labels are route templates, methods, statuses and codes: never paths, ids or addresses, so that no caller
 * can make the set of series grow.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Environment } from '../../domain/account.ts';

export interface HttpMetrics {
  answered(answer: {
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly durationMs: number;
  }): void;
}

export interface Metrics {
  readonly registry: Registry;
  readonly http: HttpMetrics;
  readonly world: (environment: Environment) => WorldMetrics;
  /** A call to a vendor has ended; without a status it was lost. */
  vendorCalled(call: VendorCall): void;
}

export interface VendorCall {
  readonly vendor: string;
  readonly environment: string;
  readonly status: number | undefined;
  readonly ms: number;
}

/** From a cached read to a purchase that waits its full eight seconds. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/** `processMetrics` adds memory, event loop and garbage collection of this process, and what `build` it is. */
export function createMetrics(options: {
  readonly processMetrics: boolean;
  readonly build?: { readonly version: string; readonly buildId: string };
}): Metrics {
  const registry = new Registry();
  if (options.processMetrics) collectDefaultMetrics({ register: registry });
  if (options.build) tellBuild(registry, options.build);
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests answered, by route template, method and status',
    labelNames: ['route', 'method', 'status'] as const,
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'From the first byte handled to the answer handed over, by route template and method',
    labelNames: ['route', 'method'] as const,
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  const vendors = new Histogram({
    name: 'simway_vendor_request_seconds',
    help: 'From a call to a vendor to the head of its answer; `lost` where none came',
    labelNames: ['environment', 'vendor', 'status'] as const,
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  return {
    registry,
    vendorCalled: ({ vendor, environment, status, ms }) =>
      vendors.observe({ environment, vendor, status: status ?? 'lost' }, ms / 1000),
    world: createWorldMetrics(registry),
    http: {
      answered({ route, method, status, durationMs }) {
        const label = KNOWN_METHODS.has(method) ? method : 'OTHER';
        requests.inc({ route, method: label, status });
        durations.observe({ route, method: label }, durationMs / 1000);
      },
    },
  };
}

/** A gauge that is always 1: its labels are what it tells. */
function tellBuild(registry: Registry, { version, buildId }: { version: string; buildId: string }): void {
  new Gauge({
    name: 'simway_build_info',
    help: 'What this process runs',
    labelNames: ['version', 'build_id'],
    registers: [registry],
  }).set({ version, build_id: buildId }, 1);
}

/** What happens in one world, for the events that count. */
export interface WorldMetrics {
  purchaseAnswered(answer: string, ms: number): void;
  purchaseClosed(status: 'SUCCESS' | 'FAILED', reason: string): void;
  purchaseNeedsAttention(reason: string): void;
  paymentBooked(what: string): void;
  refundEnded(end: string): void;
  gatewayEvent(verdict: 'kept' | 'refused'): void;
  /** The gateway does not find a charge that it took. */
  chargeNotFound(): void;
  webhookAttempted(outcome: string, ms: number): void;
  /** A wait for a vendor's allowance; `granted` false where none came in time. */
  allowanceAwaited(vendor: string, ms: number, granted: boolean): void;
}

/** From an answer at once to the whole 8 s that a buyer waits. */
export const ANSWER_BUCKETS_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 10];

/** Up to the 15 s that a merchant's endpoint has. */
export const ATTEMPT_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

export const WAIT_BUCKETS_SECONDS = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export const WORLD = 'environment';

/** Registers the metrics once for all worlds of a process; answers what each world counts with. */
export function createWorldMetrics(registry: Registry): (environment: Environment) => WorldMetrics {
  const counters = countersOn(registry);
  const seconds = histogramsOn(registry);
  return (environment) => ({
    purchaseAnswered: (answer, ms) => {
      counters.answers.inc({ environment, answer });
      seconds.answers.observe({ environment }, ms / 1000);
    },
    purchaseClosed: (status, reason) => counters.closed.inc({ environment, status, reason }),
    purchaseNeedsAttention: (reason) => counters.called.inc({ environment, reason }),
    paymentBooked: (what) => counters.payments.inc({ environment, what }),
    refundEnded: (end) => counters.refunds.inc({ environment, end }),
    gatewayEvent: (verdict) => counters.gatewayEvents.inc({ environment, verdict }),
    chargeNotFound: () => counters.notFound.inc({ environment }),
    webhookAttempted: (outcome, ms) => {
      counters.attempts.inc({ environment, outcome });
      seconds.attempts.observe({ environment }, ms / 1000);
    },
    allowanceAwaited: (vendor, ms, granted) => {
      if (!granted) counters.denied.inc({ environment, vendor });
      seconds.waits.observe({ environment, vendor }, ms / 1000);
    },
  });
}

export function countersOn(registry: Registry) {
  const counter = <const Labels extends string>(name: string, help: string, labels: readonly Labels[]) =>
    new Counter({ name, help, labelNames: [WORLD, ...labels], registers: [registry] });
  return {
    answers: counter('simway_purchase_answers_total', 'First answers to buyers', ['answer']),
    closed: counter('simway_purchases_closed_total', 'Purchases and fundings that ended', [
      'status',
      'reason',
    ]),
    called: counter('simway_persons_called_total', 'Times a person was called to a purchase', ['reason']),
    payments: counter('simway_payments_booked_total', 'Money from outside, by what it turned out to be', [
      'what',
    ]),
    refunds: counter('simway_refunds_ended_total', 'Refunds that ended, by how', ['end']),
    gatewayEvents: counter('simway_gateway_events_total', 'Events that came in from the gateway', [
      'verdict',
    ]),
    notFound: counter(
      'simway_gateway_charges_not_found_total',
      'Looks at charges that the gateway took and does not find any more',
      [],
    ),
    attempts: counter('simway_webhook_attempts_total', 'Attempts to deliver a message to a merchant', [
      'outcome',
    ]),
    denied: counter('simway_vendor_allowance_denied_total', 'Calls not made, no allowance came in time', [
      'vendor',
    ]),
  };
}

export function histogramsOn(registry: Registry) {
  const histogram = <const Labels extends string>(
    name: string,
    help: string,
    labels: readonly Labels[],
    buckets: number[],
  ) => new Histogram({ name, help, labelNames: [WORLD, ...labels], buckets, registers: [registry] });
  return {
    answers: histogram(
      'simway_purchase_answer_seconds',
      'How long a buyer waited for the first answer',
      [],
      ANSWER_BUCKETS_SECONDS,
    ),
    attempts: histogram(
      'simway_webhook_attempt_seconds',
      'How long a merchant’s endpoint took',
      [],
      ATTEMPT_BUCKETS_SECONDS,
    ),
    waits: histogram(
      'simway_vendor_allowance_wait_seconds',
      'Waits for a place in a vendor’s allowance',
      ['vendor'],
      WAIT_BUCKETS_SECONDS,
    ),
  };
}
