import { composeApi, composeCodecEndpoint } from '../composition/api.ts';
import { createRouteTable } from '../routes/route-table.ts';
import type { ProcessContext } from '../composition/context.ts';
import { buildApp, DEFAULT_APP_SETTINGS } from '../http/app.ts';
import { DASHBOARD_FOLDER } from '../../platform/http/dashboard.ts';
import { DOCS_FOLDER } from '../../platform/http/docs/site.ts';
import { startServer } from '../../platform/http/server.ts';
import { VERSION } from '../../platform/version.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { observe, openAdmin } from './observing.ts';
import { createHttpEvents } from '../../platform/telemetry/events.ts';

interface RunningApi extends Lifecycle {
  readonly url: string;
  readonly adminUrl: string;
}

interface ApiOptions {
  /** How often batches and automatic top-ups that are due are looked for. */
  readonly beginDueEveryMs?: number;
}

/** Rejects when Postgres is not reachable or a port is taken. */
export async function runApi(context: ProcessContext, options: ApiOptions = {}): Promise<RunningApi> {
  const { config, logger } = context;
  const lifecycle = createLifecycle(logger, config.http.stopDeadlineMs);
  const observed = await observe(context, lifecycle);
  const { metrics, tracing } = observed;
  const composition = composeApi(observed);
  lifecycle.onStop('pools', () => composition.close());
  try {
    await composition.start(options.beginDueEveryMs);
    const { checks } = composition;
    const codec = composeCodecEndpoint(context);
    const adminUrl = await openAdmin(observed, lifecycle, { port: config.admin.apiPort, checks, codec });
    const app = buildApp({
      useCases: composition.useCases,
      rateLimiter: composition.redis.rateLimiter,
      events: createHttpEvents({ logger, metrics: metrics.http }),
      settings: {
        ...DEFAULT_APP_SETTINGS,
        trustedProxies: config.http.trustedProxies,
        opsAddresses: config.opsAddresses,
        publicUrl: config.publicUrl,
        maxEventBytesInFlight: config.http.maxEventBytesInFlight,
      },
      routes: createRouteTable({ version: VERSION, brand: config.brand }),
      tracing,
      dashboardFolder: DASHBOARD_FOLDER,
      docsFolder: DOCS_FOLDER,
    });
    const { host, port, trustedProxies, maxConnections, maxConnectionsPerAddress } = config.http;
    const server = await startServer({
      app,
      host,
      port,
      trustedProxies,
      maxConnections,
      maxConnectionsPerAddress,
      onClosed: metrics.http.connectionClosed,
    });
    // Three quarters of the deadline for open requests, the rest for what is closed after them.
    lifecycle.onStop('http server', () => server.stop(Math.trunc(config.http.stopDeadlineMs * 0.75)));
    logger.info({ url: server.url, adminUrl }, 'api listens');
    return Object.assign(lifecycle, { url: server.url, adminUrl });
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}
