/**
 * What every long-running process is watched by: its metrics, its traces where somebody wants them, and an admin port of its own. Traces
 * begin before anything else and end last, so that the end of a process is traced as well.
 */
import type { ProcessContext, Check } from '../../platform/composition/compose.ts';
import { vendorAddresses } from '../../platform/composition/shared.ts';
import { buildAdminApp } from '../../platform/http/admin.ts';
import { startServer } from '../../platform/http/server.ts';
import { createMetrics, type Metrics } from '../../platform/telemetry/metrics.ts';
import { watchCalls } from '../../platform/telemetry/outgoing.ts';
import type { Tracing } from '../../platform/telemetry/tracing.ts';
import { VERSION } from '../../platform/version.ts';
import type { Lifecycle } from './lifecycle.ts';

export type Observed = ProcessContext & { readonly metrics: Metrics };

/** How long one who reads the numbers may take while everything else has ended. */
const ADMIN_STOP_MS = 1_000;

/** Answers the parts of a process that is watched from now on, until the lifecycle ends. */
export async function observe(parts: ProcessContext, lifecycle: Lifecycle): Promise<Observed> {
  const buildId = parts.config.deployment?.buildId ?? '';
  const metrics = createMetrics({ processMetrics: true, build: { version: VERSION, buildId } });
  const tracing = await startTracing(parts);
  if (tracing) lifecycle.onStop('traces', () => tracing.stop());
  const stopWatching = watchCalls(vendorAddresses(parts.config), (call) => {
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
  return { ...parts, metrics, ...(tracing ? { tracing } : {}) };
}

/** Nothing of it is even loaded where nobody wants traces. */
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

/** Opens the admin port; answers its address. */
export async function openAdmin(
  { config, metrics }: Observed,
  lifecycle: Lifecycle,
  admin: {
    readonly port: number;
    readonly checks: () => Promise<readonly Check[]>;
    /** Numbers from elsewhere in this process, in the same format. */
    readonly moreMetrics?: () => Promise<string>;
  },
): Promise<string> {
  const { moreMetrics } = admin;
  const server = await startServer({
    app: buildAdminApp({
      checks: admin.checks,
      metrics: {
        contentType: metrics.registry.contentType,
        metrics: async () => {
          // Numbers from elsewhere that do not come must not take ours with them.
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
