/**
 * Numbers for Prometheus. Labels are route templates, methods, statuses and codes: never paths, ids or addresses, so that no caller
 * can make the set of series grow.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Environment } from '../../domain/account.ts';
import { createWorldMetrics, type WorldMetrics } from './world-metrics.ts';

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
