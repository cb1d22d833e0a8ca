// Redis killed, hung, and refusing our password: reads, purchases and limits keep working, and no request
// waits more than 250 ms for it. Redis holds counts only, and no prices.
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningRedis } from '../../src/dev/redis.ts';
import { newBuyer, type Buyer } from '../support/people/buyer.ts';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { ownRedis, type OwnServer } from '../support/world/own-servers.ts';
import { startStack, type Answer, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

/** The most time that Redis may add to a request, in any state. */
const MAX_ADDED_MS = 250;
/**
 * A machine that is busy with other tests delays a request now and then: of this many, two may be slow, but
 * none may hang.
 */
const READS = 30;
const HELD_UP_BY_OTHERS = 2;
const HANGS_MS = 900;

let redis: OwnServer<RunningRedis>;
let stack: Stack;
let buyer: Buyer;
let usualMs: number;
beforeAll(async () => {
  redis = await ownRedis();
  stack = await startStack({ redisUrl: redis.server.url });
  buyer = await newBuyer(stack);
  await readMany();
  const times = (await readMany()).map(({ ms }) => ms).toSorted((a, b) => a - b);
  usualMs = times[Math.trunc(times.length / 2)]!;
});
afterAll(async () => {
  administrator?.disconnect();
  await stack.close();
  await redis.close();
});
afterAll(() => expectSoundBooks(stack));

interface Timed {
  readonly answer: Answer;
  readonly ms: number;
}

const PATHS = [
  '/api/wallet/balance',
  '/api/esim/my-esims',
  '/api/esim/regions',
  '/api/settings/exchange-rate',
];

/**
 * One after the other, so that each request's time is its own, minus the time of a reference call to the same
 * process and the same Postgres without Redis: a busy machine delays both.
 */
async function readMany(): Promise<Timed[]> {
  const timed: Timed[] = [];
  for (let count = 0; count < READS; count += 1) {
    const [{ ms, value: answer }, yardstick] = await Promise.all([
      time(() => buyer.read(PATHS[count % PATHS.length]!)),
      time(async () => {
        await fetch(`${stack.adminUrl}/healthz`);
        await sql`select 1`.execute(stack.owner);
      }),
    ]);
    timed.push({ answer, ms: ms - yardstick.ms });
  }
  return timed;
}

async function time<T>(what: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const startedAtMs = performance.now();
  const value = await what();
  return { value, ms: performance.now() - startedAtMs };
}

async function expectBusinessAsUsual(): Promise<void> {
  const reads = await readMany();
  expect(reads.filter(({ answer }) => answer.status !== 200)).toEqual([]);
  const slow = reads.map(({ ms }) => ms - usualMs).filter((addedMs) => addedMs > MAX_ADDED_MS);
  expect(slow.length).toBeLessThanOrEqual(HELD_UP_BY_OTHERS);
  expect(slow.filter((addedMs) => addedMs > HANGS_MS)).toEqual([]);
  for (const { answer } of reads) expect(answer.headers.get('X-RateLimit-Limit')).toMatch(/^\d+$/);
  const bought = await buyer.buy('SIM-OK');
  expect(bought.status).toBe(201);
  expect(bought.body.status).toBe('SUCCESS');
}

/** The limits still apply in each process, by its own count instead of the shared one. */
async function expectLimitsHold(): Promise<void> {
  const limited = await newBuyer(stack, { plan: 'ENTERPRISE', requestsPerMinute: 5 });
  const statuses: number[] = [];
  for (let count = 0; count < 12; count += 1)
    statuses.push((await limited.read('/api/wallet/balance')).status);
  expect(statuses).toContain(429);
  // At most one window's worth of requests on each side of the minute.
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(10);
}

it('Redis holds only counts of requests and paces, so a forged value in it changes no price', async () => {
  await readMany();
  expect((await buyer.buy('SIM-OK')).status).toBe(201);
  const client = new Redis(redis.server.url);
  const keys = await client.keys('*');
  client.disconnect();
  const known = new RegExp(`^${stack.env['SIMWAY_NAMESPACE_PREFIX']}:(limit|pace):`);
  expect(keys.some((key) => known.test(key))).toBe(true);
  expect(keys.filter((key) => !known.test(key))).toEqual([]);
});

describe.each([
  {
    state: 'killed',
    take: () => redis.server.kill(),
    giveBack: () => redis.server.start(),
  },
  {
    state: 'hung',
    take: () => signal('SIGSTOP'),
    giveBack: () => signal('SIGCONT'),
  },
  {
    state: 'with a password that we do not have',
    take: async () => {
      await administer(['config', 'set', 'requirepass', 'changed'], ['client', 'kill', 'type', 'normal']);
    },
    giveBack: () => administer(['config', 'set', 'requirepass', '']),
  },
])('Redis $state', ({ take, giveBack }) => {
  it('reads and purchases go on without waiting for Redis, and rate limits hold', async () => {
    await take();
    try {
      await expectBusinessAsUsual();
      await expectLimitsHold();
      const ready = await fetch(`${stack.adminUrl}/readyz`);
      expect(ready.status).toBe(200);
    } finally {
      await giveBack();
    }
    await until(
      async () => (await fetch(`${stack.adminUrl}/readyz`)).text(),
      (text) => !text.includes('limits are per process'),
      { what: 'Redis within reach again' },
    );
    await expectBusinessAsUsual();
  });
});

let administrator: Redis | undefined;

/** On a connection that stays open, so that it needs no later password. */
async function administer(...commands: readonly [string, ...string[]][]): Promise<void> {
  administrator ??= new Redis(redis.server.url);
  for (const [command, ...args] of commands) await administrator.call(command, ...args);
}

function signal(name: NodeJS.Signals): Promise<void> {
  process.kill(redis.server.pid, name);
  return Promise.resolve();
}
