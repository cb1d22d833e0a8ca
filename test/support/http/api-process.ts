// The API in a separate process, for what can only be measured from outside: memory and an orderly stop.
// Controlled over IPC. It has no use cases, since its requests are refused before any.
import { buildApp, DEFAULT_APP_SETTINGS } from '../../../src/app/http/app.ts';
import { startServer } from '../../../src/platform/http/server.ts';
import { createHttpEvents } from '../../../src/platform/telemetry/events.ts';
import { createLogger } from '../../../src/platform/telemetry/logger.ts';
import { createMetrics } from '../../../src/platform/telemetry/metrics.ts';
import { createRouteTable } from '../../../src/app/routes/route-table.ts';
import type { WorldUseCases } from '../../../src/app/composition/use-cases.ts';

export interface Memory {
  readonly rssBytes: number;
  readonly heapBytes: number;
}
export type ToParent = { readonly port: number } | Memory;

const send = (message: ToParent): void => {
  process.send?.(message);
};

const logger = createLogger({ level: 'debug', destination: { write: () => undefined } });
const app = buildApp({
  useCases: {
    accounts: {
      authenticate: () =>
        Promise.resolve({
          account: {
            id: 'acc-1',
            type: 'USER',
            name: 'Ada',
            email: 'ada@example.com',
            currency: 'NGN',
            plan: 'ENTERPRISE',
            requestsPerMinute: 1_000_000,
          },
          keyId: 'key-1',
          maker: 'a test',
          environment: 'test',
          scopes: ['read', 'purchase', 'fund'],
          mayInstall: true,
          allowedAddresses: ['0.0.0.0/0', '::/0'],
        }),
    },
    worlds: { test: { environment: 'test' } as WorldUseCases },
  },
  rateLimiter: {
    consume: (_bucket, limit) =>
      Promise.resolve({ allowed: true, limit, remaining: limit, resetAtMs: 4_102_444_800_000 }),
    giveBack: () => Promise.resolve(),
  },
  events: createHttpEvents({ logger, metrics: createMetrics({ processMetrics: false }).http }),
  settings: { ...DEFAULT_APP_SETTINGS, publicRequestsPerMinute: 1_000_000, failedAuthPerMinute: 1_000_000 },
  routes: createRouteTable({ version: '1.2.3', brand: 'simway' }),
});
const server = await startServer({ app, host: '127.0.0.1', port: 0 });
send({ port: server.port });

process.on('message', (message) => {
  if (message === 'memory') {
    // With --expose-gc: only live memory, without garbage.
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    send({ rssBytes: rss, heapBytes: heapUsed });
    return;
  }
  void server.stop(1_000).then(() => process.disconnect());
});
