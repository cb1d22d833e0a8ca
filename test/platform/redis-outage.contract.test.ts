/**
 * A separate Redis that is stopped, killed, made read-only and restarted: nothing hangs, nothing throws, and
 * limits keep working.
 */
import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRedis, type RedisConnection } from '../../src/platform/redis/connection.ts';
import { createRedisPacer, createInProcessPacer } from '../../src/platform/redis/pacer.ts';
import { createRedisRateLimiter } from '../../src/platform/redis/rate-limiter.ts';
import { startTestRedis } from '../support/world/services.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';

/** The most time that Redis may add to a call. */
const MAX_MS = 250;
let redis: RedisConnection;
let lines: string[];

const folder = await makeTestFolder();
const server = await startTestRedis(folder);
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  lines = [];
  redis = createRedis({
    url: server.url,
    logger: {
      info: (_fields, message) => lines.push(message),
      warn: (_fields, message) => lines.push(message),
    },
  });
  expect(await redis.isReady(5000)).toBe(true);
});
afterEach(() => redis.close());

let made = 0;
function parts() {
  const keyPrefix = `outage-${(made += 1)}:`;
  return {
    limiter: createRedisRateLimiter({ redis, keyPrefix }),
    pacer: createRedisPacer({
      redis,
      key: `${keyPrefix}pace`,
      requestsPerSecond: 1000,
      withoutRedis: createInProcessPacer({ requestsPerSecond: 3 }),
    }),
    keyPrefix,
  };
}

async function timed<T>(times: number[], call: () => T | Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const value = await call();
  times.push(performance.now() - startedAt);
  return value;
}

/** Whether counting uses Redis again: a count made there directly shows in the verdict. */
async function countsInRedis({ limiter, keyPrefix }: ReturnType<typeof parts>): Promise<boolean> {
  const bucket = `again-${(made += 1)}`;
  await limiter.consume(bucket, 10);
  const counted = await redis.attempt<string | null>(
    (client) => client.get(`${keyPrefix}:${bucket}`),
    () => null,
  );
  return counted === '1';
}

const outages: [string, { begin: () => Promise<void>; end: () => Promise<void> }][] = [
  [
    'hangs',
    {
      begin: () => Promise.resolve(void process.kill(server.pid, 'SIGSTOP')),
      end: () => Promise.resolve(void process.kill(server.pid, 'SIGCONT')),
    },
  ],
  ['is killed', { begin: () => server.kill(), end: () => server.start() }],
  [
    'is read-only',
    {
      begin: async () => {
        await redis.client.replicaof('127.0.0.1', 1);
      },
      end: async () => {
        await expect
          .poll(() => redis.client.replicaof('NO', 'ONE').then(String, () => 'not yet'), { timeout: 5000 })
          .toBe('OK');
      },
    },
  ],
];

describe.each(outages)('when Redis %s', (_name, outage) => {
  it('limits keep working in this process, quickly, and are shared again afterwards', async () => {
    const made = parts();
    expect(await countsInRedis(made)).toBe(true);
    await outage.begin();
    try {
      const times: number[] = [];
      const verdicts = [];
      for (let i = 0; i < 60; i += 1) verdicts.push(await timed(times, () => made.limiter.consume('b', 40)));
      expect(verdicts.filter((verdict) => verdict.allowed)).toHaveLength(40);
      expect(verdicts.at(-1)).toMatchObject({ allowed: false, limit: 40, remaining: 0 });
      expect(Math.max(...times)).toBeLessThan(MAX_MS);
      // Not every call waits: two noticed the outage, the others did not try.
      expect(times.filter((time) => time > 50).length).toBeLessThanOrEqual(3);
    } finally {
      await outage.end();
    }
    await expect.poll(() => countsInRedis(made), { timeout: 8000 }).toBe(true);
  });

  it('many calls at once are answered too', async () => {
    const { limiter } = parts();
    await outage.begin();
    try {
      const times: number[] = [];
      const verdicts = await Promise.all(
        Array.from({ length: 200 }, () => timed(times, () => limiter.consume('b', 150))),
      );
      expect(verdicts.filter((verdict) => verdict.allowed)).toHaveLength(150);
      expect(Math.max(...times)).toBeLessThan(MAX_MS);
    } finally {
      await outage.end();
    }
    await expect.poll(() => redis.client.status, { timeout: 8000 }).toBe('ready');
  });

  it('paces use the share of this process', async () => {
    const { pacer } = parts();
    await outage.begin();
    try {
      const times: number[] = [];
      const slots: boolean[] = [];
      for (let i = 0; i < 5; i += 1) slots.push(await timed(times, () => pacer.takeSlot(0)));
      expect(slots).toEqual([true, true, true, false, false]);
      expect(Math.max(...times)).toBeLessThan(MAX_MS);
    } finally {
      await outage.end();
    }
    await expect.poll(() => pacer.takeSlot(0), { timeout: 8000, interval: 1 }).toBe(true);
  });
});

describe('a Redis that never existed', () => {
  it('costs no time and is reported once', async () => {
    const said: string[] = [];
    const absent = createRedis({
      url: 'redis://:hidden@127.0.0.1:1',
      logger: {
        info: (_fields, message) => said.push(message),
        warn: (fields, message) => said.push(message + JSON.stringify(fields)),
      },
    });
    try {
      expect(await absent.isReady(400)).toBe(false);
      const limiter = createRedisRateLimiter({ redis: absent, keyPrefix: 'x' });
      expect((await limiter.consume('b', 1)).allowed).toBe(true);
      expect((await limiter.consume('b', 1)).allowed).toBe(false);
      expect(said).toHaveLength(1);
      expect(said.join()).not.toContain('hidden');
    } finally {
      absent.close();
    }
  });
});

it('an outage is reported when it begins and when it ends', async () => {
  await server.kill();
  await server.start();
  await expect.poll(() => redis.client.status, { timeout: 8000 }).toBe('ready');
  expect(lines).toEqual(['Redis is out of reach: going on without it', 'Redis is within reach again']);
});
