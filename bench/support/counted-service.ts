/** A copy of the service whose way to Postgres and Redis leads through wire counters. */
import type { ServiceLog } from '../../src/dev/child.ts';
import type { Servers } from './servers.ts';
import { startService, type Service } from './service.ts';
import { startWireCounter, type WireCounter } from './wire-counter.ts';

interface CountedService {
  readonly service: Service;
  readonly postgres: WireCounter;
  /** Absent where there is no Redis. */
  readonly redis: WireCounter | undefined;
}

export async function startCountedService(servers: Servers, log: ServiceLog): Promise<CountedService> {
  const redis =
    servers.redisUrl === undefined ? undefined : await counterFor(servers, servers.redisUrl, 'redis');
  const counters: WireCounter[] = [];
  const service = await startService({
    servers,
    log,
    via: {
      databaseUrl: async (url) => {
        const counted = await counterFor(servers, url, 'postgres');
        counters.push(counted.counter);
        return counted.url;
      },
      ...(redis === undefined ? {} : { redisUrl: redis.url }),
    },
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
