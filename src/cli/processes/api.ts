/** The API process: HTTP in front, no workflow code. Stops by refusing new requests, finishing the running ones, then closing pools. */
import { composeApi, type ProcessContext } from '../../platform/composition/compose.ts';
import { buildApp, DEFAULT_APP_SETTINGS } from '../../platform/http/app.ts';
import { startServer } from '../../platform/http/server.ts';
import { VERSION } from '../../platform/version.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { observe, openAdmin } from './observing.ts';
import { createHttpEvents } from '../../platform/telemetry/events.ts';

export interface RunningApi extends Lifecycle {
  readonly url: string;
  readonly adminUrl: string;
}

/** Starts serving; rejects when Postgres cannot be read or a port is taken. */
export async function runApi(parts: ProcessContext): Promise<RunningApi> {
  const { config, logger } = parts;
  const lifecycle = createLifecycle(logger, config.http.stopDeadlineMs);
  const observed = await observe(parts, lifecycle);
  const { metrics, tracing } = observed;
  const composition = composeApi(observed);
  lifecycle.onStop('pools', () => composition.close());
  try {
    await composition.start();
    const { checks } = composition;
    const adminUrl = await openAdmin(observed, lifecycle, { port: config.admin.apiPort, checks });
    const app = buildApp({
      useCases: composition.useCases,
      rateLimiter: composition.shared.rateLimiter,
      events: createHttpEvents({ logger, metrics: metrics.http }),
      settings: {
        ...DEFAULT_APP_SETTINGS,
        brand: config.brand,
        trustedProxies: config.http.trustedProxies,
        opsAddresses: config.opsAddresses,
      },
      version: VERSION,
      ...(tracing ? { tracing } : {}),
    });
    const server = await startServer({ app, host: config.http.host, port: config.http.port });
    // Three quarters of the deadline for requests; the rest for what comes after.
    lifecycle.onStop('http server', () => server.stop(Math.trunc(config.http.stopDeadlineMs * 0.75)));
    logger.info({ url: server.url, adminUrl }, 'api listens');
    return Object.assign(lifecycle, { url: server.url, adminUrl });
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}
