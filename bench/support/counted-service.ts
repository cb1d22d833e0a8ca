/** A copy of the service whose way to Postgres and Redis leads through wire counters. */
import type { BenchOptions } from './options.ts';
import type { Servers } from './servers.ts';
import { startService } from './service.ts';
import { startWireCounter, type WireCounter } from './wire-counter.ts';

/** `redis` is absent where there is none. */
export async function startCountedService(servers: Servers, options: Pick<BenchOptions, 'log'>) {
  const redis =
    servers.redisUrl === undefined ? undefined : await counterFor(servers, servers.redisUrl, 'redis');
  const counters: WireCounter[] = [];
  const service = await startService(servers, options, {
    databaseUrl: async (url) => {
      const counted = await counterFor(servers, url, 'postgres');
      counters.push(counted.counter);
      return counted.url;
    },
    redisUrl: redis?.url,
  });
  const [postgres] = counters;
  if (!postgres) throw new Error('the service was started without its database counter');
  return { service, postgres, redis: redis?.counter };
}

const DEFAULT_PORTS = { postgres: 5432, redis: 6379 };

async function counterFor(servers: Servers, url: string, protocol: 'postgres' | 'redis') {
  const through = new URL(url);
  const port = through.port === '' ? DEFAULT_PORTS[protocol] : Number(through.port);
  const counter = await startWireCounter({ host: through.hostname, port, protocol });
  servers.onClose(() => counter.close());
  through.hostname = '127.0.0.1';
  through.port = String(counter.port);
  return { url: through.href, counter };
}
