import { Redis } from 'ioredis';
import { createCircuitBreaker } from '../circuit-breaker.ts';
import type { Logger } from '../telemetry/logger.ts';

/**
 * A healthy Redis answers in one. A caller may wait for the call before its own as well, and lose 250 ms in
 * all.
 */
const DEADLINE_MS = 100;
/** One slow answer is an accident, two in a row are a state. */
const FAILURES_TO_OPEN = 2;
/** One probe a second: quick to notice that Redis is back, and one call in a second pays for it. */
const OPEN_FOR_MS = 1000;
const LONGEST_RECONNECT_MS = 1000;
/** Hygiene only, so that no command waits for ever; `attempt` has given up long before. */
const COMMAND_TIMEOUT_MS = 1000;
/** A connection that took commands and is silent for this long is dead, though not closed. */
const SILENCE_MS = 5000;

export interface RedisConnection {
  /** For use inside `attempt` only. */
  readonly client: Redis;
  /** The call's value, or that of the fallback if Redis is unreachable, slow or refuses. */
  attempt<T>(call: (client: Redis) => Promise<T>, standIn: () => T | Promise<T>): Promise<T>;
  /** Whether it answers, waiting for it up to `withinMs`. */
  isReady(withinMs: number): Promise<boolean>;
  /** Why it is unreachable, such as a refused password; undefined while it answers. Contains no password. */
  problem(): string | undefined;
  close(): void;
}

/**
 * One connection to Redis, which may be down, hung or read-only at any moment: `attempt` answers within 250
 * ms, and no event of the connection ends the process. Connects in the background and keeps reconnecting.
 * Throws only when the URL is invalid. Never logs the URL, which may hold a password.
 */
export function createRedis(options: {
  readonly url: string;
  readonly logger?: Pick<Logger, 'info' | 'warn'>;
}): RedisConnection {
  const { logger } = options;
  const reconnectOnReadOnly = onceIn(LONGEST_RECONNECT_MS);
  const client = new Redis(options.url, {
    // A queue for offline times would make callers wait for exactly the Redis that is not there.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1000,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENCE_MS,
    retryStrategy: (attempts) => Math.min(25 * 2 ** Math.min(attempts, 10), LONGEST_RECONNECT_MS),
    // After a failover the old primary refuses writes: connect to the new one behind the same name.
    reconnectOnError: (error) => error.message.startsWith('READONLY') && reconnectOnReadOnly(),
    connectionName: 'simway',
  });
  const outages = reportOutages(client, logger);
  const breaker = createCircuitBreaker({
    deadlineMs: DEADLINE_MS,
    failuresToOpen: FAILURES_TO_OPEN,
    openForMs: OPEN_FOR_MS,
    onChange: (state) => {
      if (state === 'open') logger?.warn({}, 'Redis fails or is too slow: going on without it');
      else logger?.info({}, 'Redis answers again');
    },
  });
  return {
    client,
    attempt: async (call, standIn) => {
      if (client.status !== 'ready') return standIn();
      try {
        return await breaker.run(() => call(client));
      } catch {
        return standIn();
      }
    },
    isReady: (withinMs) => isReady(client, withinMs),
    problem: () => outages.problem(),
    close: () => {
      outages.mute();
      client.disconnect();
    },
  };
}

/**
 * One line when it goes and one when it comes back, not one for every attempt in between, and none when we
 * close it.
 */
function reportOutages(
  client: Redis,
  logger: Pick<Logger, 'info' | 'warn'> | undefined,
): { mute(): void; problem(): string | undefined } {
  let isReported = true;
  let problem: string | undefined;
  const gone = (reason: string): void => {
    if (problem === undefined && isReported)
      logger?.warn({ reason }, 'Redis is out of reach: going on without it');
    problem = reason;
  };
  client.on('error', (error: NodeJS.ErrnoException) => gone(error.code ?? error.message.slice(0, 100)));
  // The error that closed it says more.
  client.on('close', () => gone(problem ?? 'connection closed'));
  client.on('ready', () => {
    if (problem !== undefined && isReported) logger?.info({}, 'Redis is within reach again');
    problem = undefined;
  });
  return {
    mute: () => {
      isReported = false;
    },
    problem: () => problem,
  };
}

/**
 * Answers true at most once in the given time: many commands fail at once, and one of them is enough to
 * reconnect.
 */
function onceIn(intervalMs: number): () => boolean {
  let nextAtMs = 0;
  return () => {
    if (performance.now() < nextAtMs) return false;
    nextAtMs = performance.now() + intervalMs;
    return true;
  };
}

function isReady(client: Redis, withinMs: number): Promise<boolean> {
  if (client.status === 'ready') return Promise.resolve(true);
  return new Promise((resolve) => {
    const answer = (ready: boolean): void => {
      clearTimeout(timer);
      client.off('ready', onReady);
      resolve(ready);
    };
    const onReady = (): void => answer(true);
    const timer = setTimeout(() => answer(false), withinMs);
    client.on('ready', onReady);
  });
}
