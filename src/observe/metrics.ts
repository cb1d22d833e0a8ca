/**
 * Numbers for Prometheus. Labels are route templates, methods, statuses and codes: never paths, ids or addresses, so that no caller
 * can make the set of series grow.
 */
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

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

/** `processMetrics` adds memory, event loop and garbage collection of this process. */
export function createMetrics(options: { readonly processMetrics: boolean }): Metrics {
  const registry = new Registry();
  if (options.processMetrics) collectDefaultMetrics({ register: registry });
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
  return {
    registry,
    http: {
      answered({ route, method, status, durationMs }) {
        const label = KNOWN_METHODS.has(method) ? method : 'OTHER';
        requests.inc({ route, method: label, status });
        durations.observe({ route, method: label }, durationMs / 1000);
      },
    },
  };
}
