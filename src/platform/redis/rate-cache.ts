import type { JsonCache } from '../json-cache.ts';
import type { RedisConnection } from './connection.ts';

/** A cache that all processes share. Without Redis, or with a value that cannot be read, `get` answers undefined. Never throws. */
export function createRedisJsonCache(options: {
  readonly redis: RedisConnection;
  readonly keyPrefix: string;
}): JsonCache {
  const { redis, keyPrefix } = options;
  return {
    get: async (key) => {
      const text = await redis.attempt<string | null>(
        (client) => client.get(keyPrefix + key),
        () => null,
      );
      return text === null ? undefined : parsed(text);
    },
    set: async (key, value, ttlMs) => {
      const text = JSON.stringify(value);
      await redis.attempt<unknown>(
        (client) => client.set(keyPrefix + key, text, 'PX', Math.max(1, Math.trunc(ttlMs))),
        () => undefined,
      );
    },
  };
}

/** The same for one process; meant for few keys. Entries live as text, so that both caches hand out values of their own. */
export function createInProcessJsonCache(): JsonCache {
  const entries = new Map<string, { readonly text: string; readonly endsAtMs: number }>();
  return {
    get: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return Promise.resolve(undefined);
      if (entry.endsAtMs > performance.now()) return Promise.resolve(parsed(entry.text));
      entries.delete(key);
      return Promise.resolve(undefined);
    },
    set: (key, value, ttlMs) => {
      entries.set(key, { text: JSON.stringify(value), endsAtMs: performance.now() + ttlMs });
      return Promise.resolve();
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
