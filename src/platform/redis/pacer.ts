/**
 * The port Pacer for a limit that all processes share: every call takes the next free moment from one list in Redis. Guarantee: never
 * more than the agreed number of calls in any second while Redis answers; without it each process keeps to a share of its own.
 */
import type { Redis } from 'ioredis';
import type { Pacer } from '../rate-limiter.ts';
import type { RedisConnection } from './connection.ts';
import { pauseFor } from './in-process.ts';
import { paceOf } from './slots.ts';

/** Nobody reserves further ahead, so an entry that lies further ahead comes from a clock that has jumped back. */
const LONGEST_WAIT_MS = 60_000;

/**
 * KEYS[1] the moments granted last, newest first; ARGV calls, windowMs, withinMs, longestWaitMs. Redis' own clock, so that
 * processes need not agree on the time. Answers how long to wait, or -1 when the next free moment is too late.
 */
const TAKE_SLOT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local calls, window, within, longest = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local newest = tonumber(redis.call('LINDEX', KEYS[1], 0) or now)
if newest - now > longest then redis.call('DEL', KEYS[1]) end
local oldest = tonumber(redis.call('LINDEX', KEYS[1], calls - 1) or now - window)
local at = math.max(now, oldest + window)
if at - now > within then return -1 end
redis.call('LPUSH', KEYS[1], string.format('%.0f', at))
redis.call('LTRIM', KEYS[1], 0, calls - 1)
redis.call('PEXPIRE', KEYS[1], at - now + window)
return at - now
`;

export interface RedisPacerOptions {
  readonly redis: RedisConnection;
  /** One key per account at a vendor. */
  readonly key: string;
  readonly requestsPerSecond: number;
  /** What this process may do by itself while Redis is gone: its share of the limit. */
  readonly withoutRedis: Pacer;
}

/** Makes the shared pacer. Throws RangeError unless the pace is positive. */
export function createRedisPacer({ redis, key, requestsPerSecond, withoutRedis }: RedisPacerOptions): Pacer {
  const { calls, windowMs } = paceOf(requestsPerSecond);
  redis.client.defineCommand('simwayTakeSlot', { numberOfKeys: 1, lua: TAKE_SLOT });
  const takeShared = async (client: Redis, withinMs: number): Promise<number> => {
    const scripted = client as Redis & { simwayTakeSlot(key: string, ...args: number[]): Promise<number> };
    return scripted.simwayTakeSlot(key, calls, windowMs, Math.trunc(withinMs), LONGEST_WAIT_MS);
  };
  return {
    takeSlot: async (withinMs) => {
      const startedAtMs = performance.now();
      const patienceMs = Math.min(withinMs, LONGEST_WAIT_MS);
      const waitMs = await redis.attempt<number | null>(
        (client) => takeShared(client, patienceMs),
        () => null,
      );
      if (waitMs === null)
        return withoutRedis.takeSlot(Math.max(0, withinMs - (performance.now() - startedAtMs)));
      if (waitMs < 0) return false;
      await pauseFor(waitMs);
      return true;
    },
  };
}
