import type { ProcessContext } from '../composition/context.ts';
import { vendorAddresses } from '../composition/vendors.ts';
import { buildAdminApp, type AdminDeps, type ReadinessCheck } from '../../platform/http/admin.ts';
import { startServer } from '../../platform/http/server.ts';
import { createMetrics, type Metrics } from '../../platform/telemetry/metrics.ts';
import { watchCalls } from '../../platform/telemetry/outgoing.ts';
import type { Tracing } from '../../platform/telemetry/tracing.ts';
import { VERSION } from '../../platform/version.ts';
import type { Lifecycle } from './lifecycle.ts';

export type Observed = ProcessContext & { readonly metrics: Metrics };

const ADMIN_STOP_MS = 1_000;

export const READABLE = 'Postgres is reached over a public address without TLS: set SIMWAY_DATABASE_TLS';

/**
 * Adds metrics, and traces where they are configured. Traces start first and stop last, so that they cover
 * the whole process.
 */
export async function observe(context: ProcessContext, lifecycle: Lifecycle): Promise<Observed> {
  const { config, logger } = context;
  if (config.database.isReadable) logger.warn({}, READABLE);
  const buildId = config.deployment?.buildId ?? '';
  const metrics = createMetrics({ processMetrics: true, build: { version: VERSION, buildId } });
  const tracing = await startTracing(context);
  if (tracing) lifecycle.onStop('traces', () => tracing.stop());
  const stopWatching = watchCalls(vendorAddresses(config), (call) => {
    const startedAtMs = performance.now();
    const endSpan = tracing?.call(call);
    return (status) => {
      const { vendor, environment } = call;
      metrics.vendorCalled({ vendor, environment, status, ms: performance.now() - startedAtMs });
      endSpan?.(status);
    };
  });
  lifecycle.onStop('vendor calls', () => {
    stopWatching();
    return Promise.resolve();
  });
  return { ...context, metrics, tracing };
}

/** OpenTelemetry is loaded only where traces are configured. */
async function startTracing({ config, secrets, processName }: ProcessContext): Promise<Tracing | undefined> {
  if (!config.tracing) return undefined;
  const { createOpenTelemetry } = await import('../../platform/telemetry/open-telemetry.ts');
  return createOpenTelemetry({
    ...config.tracing,
    headers: secrets.tracingHeaders,
    serviceName: `${config.brand}-${processName}`,
    version: VERSION,
  });
}

/** Answers the address of the admin port. */
export async function openAdmin(
  { config, metrics }: Observed,
  lifecycle: Lifecycle,
  admin: {
    readonly port: number;
    readonly checks: () => Promise<readonly ReadinessCheck[]>;
    /** In the same format. */
    readonly moreMetrics?: () => Promise<string>;
    readonly codec?: AdminDeps['codec'];
  },
): Promise<string> {
  const { moreMetrics } = admin;
  const server = await startServer({
    app: buildAdminApp({
      checks: admin.checks,
      codec: admin.codec,
      metrics: {
        contentType: metrics.registry.contentType,
        metrics: async () => {
          // Our own metrics are served also when the others fail.
          const more = await moreMetrics?.().catch(() => '');
          return [await metrics.registry.metrics(), more ?? ''].join('\n');
        },
      },
      version: VERSION,
    }),
    host: config.admin.host,
    port: admin.port,
  });
  lifecycle.onStop('admin server', () => server.stop(ADMIN_STOP_MS));
  return server.url;
}
