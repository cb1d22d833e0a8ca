/** Limits and paces that several processes share exactly, through a real Redis (promise A8, small). */
import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it } from 'vitest';
import { createRedis } from '../../src/platform/redis/connection.ts';
import {
  createRedisPacer,
  createInProcessPacer,
  createUnlimitedPacer,
} from '../../src/platform/redis/pacer.ts';
import { createRedisRateLimiter, createInProcessRateLimiter } from '../../src/platform/redis/rate-limiter.ts';
import type { Pacer, RateLimiter } from '../../src/platform/rate-limiter.ts';
import type { CounterReport } from '../support/time/shared-counter-process.ts';
import { until } from '../support/time/until.ts';
import { forFile } from '../support/world/for-file.ts';

const PROCESSES = 4;
const program = fileURLToPath(new URL('../support/time/shared-counter-process.ts', import.meta.url));
const prefixes = (name: string): string => `${inject('runId')}:${name}:`;

async function inProcesses(args: readonly string[]): Promise<CounterReport[]> {
  const children: ChildProcess[] = [];
  try {
    for (let i = 0; i < PROCESSES; i += 1)
      children.push(fork(program, ['--url', inject('redisUrl'), ...args]));
    await Promise.all(children.map((child) => once(child, 'message')));
    return await Promise.all(
      children.map(async (child) => {
        const answered = once(child, 'message');
        child.send('go');
        const [report] = (await answered) as [CounterReport];
        return report;
      }),
    );
  } finally {
    await Promise.all(
      children.map(async (child) => {
        if (child.exitCode !== null) return;
        const gone = once(child, 'exit');
        child.kill();
        await gone;
      }),
    );
  }
}

describe('four processes', () => {
  it('allow exactly the limit out of three times the limit', async () => {
    // Without an answer of Redis in time a process counts for itself: such a run shows nothing.
    const reports = await until(
      () => {
        const prefix = prefixes(`a8-${randomUUID()}`);
        return inProcesses(['--prefix', prefix, '--limit', '300', '--requests', '225']);
      },
      (found) => found.every(({ standIns }) => standIns === 0),
      { what: 'a run in which Redis answered in time' },
    );
    expect(reports.reduce((sum, report) => sum + report.allowed, 0)).toBe(300);
    expect(reports.reduce((sum, report) => sum + report.refused, 0)).toBe(600);
    // Each process had its part: they ran in parallel.
    expect(reports.filter((report) => report.allowed > 0).length).toBeGreaterThan(1);
  });

  it('keep one pace together', async () => {
    // A busy machine may hold a process up, so that it learns late of its slots: such a run shows nothing.
    const { reports } = await until(
      async () => {
        const prefix = prefixes(`pace-${randomUUID()}`);
        const found = await inProcesses(['--prefix', prefix, '--rate', '8', '--slots', '6']);
        return { reports: found, lateMs: Math.max(...found.map((report) => report.lateMs)) };
      },
      ({ lateMs }) => lateMs < 100,
      { what: 'a run in which no process was held up' },
    );
    const times = reports.flatMap((report) => report.slotTimesMs).sort((a, b) => a - b);
    expect(times).toHaveLength(24);
    // Any nine calls take more than a second; a tenth is left for late timers.
    const spans = times.slice(8).map((time, i) => time - times[i]!);
    expect(Math.min(...spans)).toBeGreaterThan(900);
    // And no call waits without need: 24 calls are three windows, the last of which is open at its start.
    expect(times.at(-1)! - times[0]!).toBeLessThan(3500);
  });
});

const redis = await forFile(createRedis({ url: inject('redisUrl') }));
expect(await redis.isReady(5000)).toBe(true);

const limiters: [string, () => RateLimiter][] = [
  ['through Redis', () => createRedisRateLimiter({ redis, keyPrefix: prefixes('limiter') })],
  ['in this process', () => createInProcessRateLimiter()],
];

describe.each(limiters)('limiter %s', (name, create) => {
  it('counts down, refuses, and says when the window ends', async () => {
    const limiter = create();
    const bucket = `${name} counts`;
    const before = Date.now();
    const verdicts = [];
    for (let i = 0; i < 5; i += 1) verdicts.push(await limiter.consume(bucket, 3));
    expect(verdicts.map(({ allowed, limit, remaining }) => [allowed, limit, remaining])).toEqual([
      [true, 3, 2],
      [true, 3, 1],
      [true, 3, 0],
      [false, 3, 0],
      [false, 3, 0],
    ]);
    for (const { resetAtMs } of verdicts) {
      expect(resetAtMs).toBeGreaterThan(before + 55_000);
      expect(resetAtMs).toBeLessThanOrEqual(Date.now() + 60_000);
    }
  });

  it('keeps buckets separate, and applies a new limit in the middle of a window', async () => {
    const limiter = create();
    const bucket = `${name} changes`;
    expect((await limiter.consume(bucket, 1)).allowed).toBe(true);
    expect((await limiter.consume(bucket, 1)).allowed).toBe(false);
    expect((await limiter.consume(`${bucket} not`, 1)).allowed).toBe(true);
    expect(await limiter.consume(bucket, 500)).toMatchObject({ allowed: true, limit: 500, remaining: 497 });
    expect((await limiter.consume(bucket, 0)).allowed).toBe(false);
  });
});

const pacers: [string, (rate: number, isSteady?: boolean) => Pacer][] = [
  [
    'through Redis',
    (rate, isSteady = false) =>
      createRedisPacer({
        redis,
        key: prefixes(`pacer-${Math.random()}`),
        requestsPerSecond: rate,
        isSteady,
        withoutRedis: { takeSlot: () => Promise.reject(new Error('Redis was to answer')) },
      }),
  ],
  [
    'in this process',
    (rate, isSteady = false) => createInProcessPacer({ requestsPerSecond: rate, isSteady }),
  ],
];

describe.each(pacers)('pacer %s', (_name, create) => {
  it('allows a burst at once, then one slot a window, in order', async () => {
    const pacer = create(4);
    const startedAt = performance.now();
    const times = await Promise.all(
      Array.from({ length: 6 }, async () => {
        expect(await pacer.takeSlot(5000)).toBe(true);
        return performance.now() - startedAt;
      }),
    );
    expect(Math.max(...times.slice(0, 4))).toBeLessThan(1000);
    expect(Math.min(...times.slice(4))).toBeGreaterThanOrEqual(1000);
    expect(Math.max(...times)).toBeLessThan(3000);
  });

  it('at a steady pace allows a burst at once, then one after the other', async () => {
    const pacer = create(4, true);
    const startedAt = performance.now();
    const times = await Promise.all(
      Array.from({ length: 8 }, async () => {
        expect(await pacer.takeSlot(5000)).toBe(true);
        return performance.now() - startedAt;
      }),
    );
    expect(Math.max(...times.slice(0, 4))).toBeLessThan(250);
    times.slice(4).forEach((time, index) => expect(time).toBeGreaterThanOrEqual((index + 1) * 270));
    expect(await pacer.takeSlot(200)).toBe(false);
  });

  it.each([false, true])(
    'refuses at once when no slot comes in time, without using one (%s)',
    async (isSteady) => {
      const pacer = create(2, isSteady);
      expect(await pacer.takeSlot(0)).toBe(true);
      expect(await pacer.takeSlot(0)).toBe(true);
      const startedAt = performance.now();
      for (let i = 0; i < 10; i += 1) expect(await pacer.takeSlot(100)).toBe(false);
      // To wait for each would have taken as long as a window.
      expect(performance.now() - startedAt).toBeLessThan(900);
      expect(await pacer.takeSlot(1500)).toBe(true);
    },
  );

  it('supports paces slower than one a second', async () => {
    const pacer = create(0.5);
    expect(await pacer.takeSlot(0)).toBe(true);
    expect(await pacer.takeSlot(1500)).toBe(false);
  });
});

describe('a pacer', () => {
  it('without a limit never waits', async () => {
    const pacer = createUnlimitedPacer();
    for (let i = 0; i < 100; i += 1) expect(await pacer.takeSlot(0)).toBe(true);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('refuses a pace of %s', (requestsPerSecond) => {
    expect(() => createInProcessPacer({ requestsPerSecond })).toThrow(RangeError);
  });

  it("through Redis drops slots that are far ahead because Redis' clock went back", async () => {
    const key = prefixes('clock-jump');
    const inAnHour = Date.now() + 3_600_000;
    await redis.client.rpush(key, ...Array<number>(2).fill(inAnHour));
    const withoutRedis = { takeSlot: () => Promise.resolve(false) };
    const pacer = createRedisPacer({ redis, key, requestsPerSecond: 2, withoutRedis });
    expect(await pacer.takeSlot(0)).toBe(true);
  });

  it('through Redis leaves nothing behind', async () => {
    const key = prefixes('expires');
    const withoutRedis = { takeSlot: () => Promise.resolve(false) };
    await createRedisPacer({ redis, key, requestsPerSecond: 2, withoutRedis }).takeSlot(0);
    const ttlMs = await redis.client.pttl(key);
    expect(ttlMs).toBeGreaterThan(0);
    expect(ttlMs).toBeLessThanOrEqual(1100);
  });
});
