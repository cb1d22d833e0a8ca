/**
 * What one world does, counted as it happens: purchases, payments, deliveries to merchants, waits for an allowance at a vendor. Each process
 * counts for itself, Prometheus adds up. Labels come from closed lists of ours, never from a caller.
 */
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Environment } from '../../domain/account.ts';

/** What happens in one world, for the events that count. */
export interface WorldMetrics {
  purchaseAnswered(answer: string, ms: number): void;
  purchaseClosed(status: 'SUCCESS' | 'FAILED', reason: string): void;
  personCalled(reason: string): void;
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
const ANSWER_BUCKETS_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 10];
/** Up to the 15 s that a merchant's endpoint has. */
const ATTEMPT_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const WAIT_BUCKETS_SECONDS = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

const WORLD = 'environment';

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
    personCalled: (reason) => counters.called.inc({ environment, reason }),
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

function countersOn(registry: Registry) {
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

function histogramsOn(registry: Registry) {
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
