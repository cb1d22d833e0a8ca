import { setTimeout } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Pacer } from '../rate-limiter.ts';
import type { RedisConnection } from './connection.ts';

/** No call is reserved further ahead. An entry beyond it means that the clock has jumped back. */
const LONGEST_WAIT_MS = 60_000;

/**
 * KEYS[1] the moments granted last, newest first; ARGV calls, windowMs, withinMs, longestWaitMs. Redis' own
 * clock, so that processes need not agree on the time. Answers how long to wait, or -1 when the next free
 * moment is too late.
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

/**
 * The same at a steady pace (the generic cell rate algorithm): KEYS[1] is the moment from which everything is
 * free again. A first few may go at once; calls without end go one by one, so that they never fill a window
 * of the whole with what several of theirs allow.
 */
const TAKE_STEADILY = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local calls, window, within, longest = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local free = tonumber(redis.call('GET', KEYS[1]) or now)
if free - now > longest + window then free = now end
local at = math.max(now, free - window + window / calls)
if at - now > within then return -1 end
free = math.max(now, free) + window / calls
redis.call('SET', KEYS[1], string.format('%.3f', free), 'PX', math.ceil(free - now))
return math.ceil(at - now)
`;

/**
 * A pacer that all processes share: each call takes the next free moment from one list in Redis, so that no
 * second has more calls than agreed. While Redis is down each process keeps to its own share. Throws
 * RangeError unless the pace is positive.
 */
export function createRedisPacer({
  redis,
  key,
  requestsPerSecond,
  isSteady = false,
  withoutRedis,
}: {
  readonly redis: RedisConnection;
  /** One key per account at a vendor. */
  readonly key: string;
  readonly requestsPerSecond: number;
  /** Calls without end go one by one, not as many at once as a window allows. */
  readonly isSteady?: boolean;
  /** What this process may do by itself while Redis is gone: its share of the limit. */
  readonly withoutRedis: Pacer;
}): Pacer {
  const { calls, windowMs } = paceOf(requestsPerSecond);
  const command = isSteady ? 'simwayTakeSteadily' : 'simwayTakeSlot';
  redis.client.defineCommand(command, { numberOfKeys: 1, lua: isSteady ? TAKE_STEADILY : TAKE_SLOT });
  const takeShared = async (client: Redis, withinMs: number): Promise<number> => {
    const scripted = client as Redis &
      Record<typeof command, (...args: (string | number)[]) => Promise<number>>;
    return scripted[command](key, calls, windowMs, Math.trunc(withinMs), LONGEST_WAIT_MS);
  };
  return {
    takeSlot: async (withinMs, signal) => {
      const startedAtMs = performance.now();
      const waitMs = await redis.attempt<number | null>(
        (client) => takeShared(client, Math.min(withinMs, LONGEST_WAIT_MS)),
        () => null,
      );
      if (waitMs === null)
        return withoutRedis.takeSlot(Math.max(0, withinMs - (performance.now() - startedAtMs)), signal);
      return waitMs >= 0 && pauseFor(waitMs, signal);
    },
  };
}

/** Calls may reach the vendor closer together than they left here. */
export const TRAVEL_MARGIN_MS = 100;

export interface Pace {
  readonly calls: number;
  readonly windowMs: number;
}

/** `8` → 8 calls in any 1,100 ms. Throws RangeError unless positive. */
export function paceOf(requestsPerSecond: number): Pace {
  if (!(requestsPerSecond > 0 && Number.isFinite(requestsPerSecond))) {
    throw new RangeError('requestsPerSecond must be positive');
  }
  const calls = Math.max(1, Math.trunc(requestsPerSecond));
  return { calls, windowMs: Math.ceil((1000 * calls) / requestsPerSecond) + TRAVEL_MARGIN_MS };
}

/**
 * When the next call may go, given the times (milliseconds, ascending) of calls granted so far; it is added
 * to them. Null when that is later than `withinMs` from now, and then nothing is added.
 */
export function takeFrom(granted: number[], nowMs: number, withinMs: number, pace: Pace): number | null {
  const oldest = granted.at(-pace.calls);
  const atMs = oldest === undefined ? nowMs : Math.max(nowMs, oldest + pace.windowMs);
  if (atMs - nowMs > withinMs) return null;
  granted.push(atMs);
  if (granted.length > pace.calls) granted.shift();
  return atMs;
}

/** The same at a steady pace: `state.freeMs` is the moment from which everything is free again. */
export function takeSteadily(
  state: { freeMs: number },
  nowMs: number,
  withinMs: number,
  { calls, windowMs }: Pace,
): number | null {
  const pauseMs = windowMs / calls;
  const atMs = Math.max(nowMs, state.freeMs - windowMs + pauseMs);
  if (atMs - nowMs > withinMs) return null;
  state.freeMs = Math.max(nowMs, state.freeMs) + pauseMs;
  return atMs;
}

/** A pacer for this process alone. Throws RangeError unless the pace is positive. */
export function createInProcessPacer(options: {
  readonly requestsPerSecond: number;
  readonly isSteady?: boolean;
}): Pacer {
  const pace = paceOf(options.requestsPerSecond);
  const granted: number[] = [];
  const steady = { freeMs: 0 };
  return {
    takeSlot: async (withinMs, signal) => {
      const nowMs = performance.now();
      const atMs = options.isSteady
        ? takeSteadily(steady, nowMs, withinMs, pace)
        : takeFrom(granted, nowMs, withinMs, pace);
      return atMs !== null && pauseFor(atMs - nowMs, signal);
    },
  };
}

/**
 * A pacer for work that may take only a part of a pace: it waits for a slot of its part, and then for one of
 * the whole. So the rest of the whole is always left to others, and what this work does not use is theirs as
 * well.
 */
export function createPartPacer({ part, whole }: { readonly part: Pacer; readonly whole: Pacer }): Pacer {
  return {
    takeSlot: async (withinMs, signal) => {
      const startedAtMs = performance.now();
      if (!(await part.takeSlot(withinMs, signal))) return false;
      return whole.takeSlot(Math.max(0, withinMs - (performance.now() - startedAtMs)), signal);
    },
  };
}

/**
 * For work that ends with its process: once `signal` is aborted it gets no slot, and what waits for one gives
 * up.
 */
export function createEndingPacer(pacer: Pacer, signal: AbortSignal): Pacer {
  return {
    takeSlot: async (withinMs, ends) =>
      !signal.aborted && pacer.takeSlot(withinMs, ends ? AbortSignal.any([signal, ends]) : signal),
  };
}

/** For vendors that set no limit. */
export function createUnlimitedPacer(): Pacer {
  return { takeSlot: () => Promise.resolve(true) };
}

/**
 * Waits, and not at all for less than a millisecond; false: `signal` has ended the wait. The slot stays
 * taken.
 */
async function pauseFor(waitMs: number, signal: AbortSignal | undefined): Promise<boolean> {
  return waitMs < 1 || setTimeout(Math.ceil(waitMs), true, { signal }).catch(() => false);
}
