/**
 * The parts of a vendor's allowance as a process gets them: with Redis, without any, and with one that is away. A flood of one kind of work, or of one
 * account, never takes what belongs to others, and nobody goes over the whole.
 */
import { afterEach, describe, expect, inject, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { composeRedisServices, type RedisServices } from '../../src/platform/composition/redis-services.ts';
import { readConfig } from '../../src/platform/config/config.ts';
import type { Pacer } from '../../src/platform/rate-limiter.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';

let services: RedisServices | undefined;
afterEach(() => services?.close());

/** A call that has to wait for another's slot waits for longer. */
const WINDOW_MS = 1_000;

const NO_REDIS = 'redis://127.0.0.1:1';

/** What a process that sells in the live world is made of; `redisUrl` undefined: none is configured. */
function processWith(redisUrl: string | undefined) {
  const { config, secrets } = readConfig({
    DATABASE_URL: 'postgres://127.0.0.1/none',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SIMWAY_ID_SECRET: 'x'.repeat(32),
    SIMWAY_SECRETS_KEY: '0'.repeat(64),
    SIMWAY_NAMESPACE_PREFIX: `t-${randomBytes(5).toString('hex')}`,
    SIMWAY_TEST_SUPPLIER_URL: 'http://127.0.0.1:1',
    SIMWAY_TEST_SUPPLIER_ACCESS_CODE: 'code',
    SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: 'code',
    SIMWAY_LIVE_GATEWAY_SECRET_KEY: 'key',
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
  });
  services = composeRedisServices(config, secrets, createLogger({ level: 'silent' }));
  return { live: config.worlds.live!, services };
}

/** When each of many calls that come at once got its slot, in milliseconds; refused ones are left out. */
async function slots(pacer: Pacer, calls: number, withinMs: number): Promise<number[]> {
  const startedAt = performance.now();
  const times = await Promise.all(
    Array.from({ length: calls }, async () =>
      (await pacer.takeSlot(withinMs)) ? performance.now() - startedAt : undefined,
    ),
  );
  return times.filter((time) => time !== undefined).toSorted((a, b) => a - b);
}

const within = (times: readonly number[], ms: number): number => times.filter((time) => time < ms).length;

async function untilReady({ check }: RedisServices): Promise<void> {
  await expect.poll(async () => (await check()).detail, { timeout: 5_000 }).toBeUndefined();
}

describe.each([
  ['with Redis', () => inject('redisUrl')],
  ['without Redis', () => undefined],
])("the supplier's 8 requests a second, %s", (name, redisUrl) => {
  it('a flood of reads takes two of them and a flood of schedules one, and orders have six at once', async () => {
    const { live, services: shared } = processWith(redisUrl());
    if (name === 'with Redis') await untilReady(shared);
    const { orders, reads, background } = shared.supplierPacers(live);
    // Schedules are patient, so they hold their places first.
    const scheduled = slots(background, 20, 2_500);
    const read = slots(reads, 200, 2_500);
    // The flood is there before the orders are.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const ordered = await slots(orders, 6, 5_000);
    expect(ordered).toHaveLength(6);
    expect(ordered.at(-1)).toBeLessThan(WINDOW_MS);
    expect(within(await read, 1_050)).toBeLessThanOrEqual(2);
    expect(within(await scheduled, 1_050)).toBeLessThanOrEqual(1);
    // Three windows begin within the wait.
    expect((await read).length + (await scheduled).length).toBeLessThanOrEqual(3 * 2);
    expect((await scheduled).length).toBeLessThanOrEqual(3);
  });

  it("a flood of operators' checks takes one of those of reads, and orders have six at once", async () => {
    const { live, services: shared } = processWith(redisUrl());
    if (name === 'with Redis') await untilReady(shared);
    const { orders, reads, checks } = shared.supplierPacers(live);
    const checked = slots(checks, 50, 2_500);
    // As long as a reader waits.
    const read = slots(reads, 200, 800);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const ordered = await slots(orders, 6, 5_000);
    expect(ordered).toHaveLength(6);
    expect(ordered.at(-1)).toBeLessThan(WINDOW_MS);
    expect(within(await checked, 1_050)).toBeLessThanOrEqual(1);
    expect([2, 3]).toContain((await checked).length);
    expect((await read).length + (await checked).length).toBeLessThanOrEqual(3 * 2);
  });

  it('a process that stops gives up its background work, and its orders go on', async () => {
    const { live, services: shared } = processWith(redisUrl());
    if (name === 'with Redis') await untilReady(shared);
    const { orders, background } = shared.supplierPacers(live);
    const startedAt = performance.now();
    const waiting = slots(background, 20, 30_000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    shared.endBackground();
    expect((await waiting).length).toBeLessThanOrEqual(1);
    expect(performance.now() - startedAt).toBeLessThan(WINDOW_MS);
    expect(await background.takeSlot(5_000)).toBe(false);
    expect(await slots(orders, 6, 5_000)).toHaveLength(6);
  });

  it('orders take what others leave: all eight while nobody reads', async () => {
    const { live, services: shared } = processWith(redisUrl());
    if (name === 'with Redis') await untilReady(shared);
    const ordered = await slots(shared.supplierPacers(live).orders, 9, 5_000);
    expect(within(ordered, 500)).toBe(8);
    expect(ordered).toHaveLength(9);
  });
});

it("while Redis is away, a process has two of the supplier's requests a second, and reads leave them to orders", async () => {
  const { live, services: shared } = processWith(NO_REDIS);
  const { orders, reads } = shared.supplierPacers(live);
  const read = slots(reads, 100, 1_800);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const ordered = await slots(orders, 3, 3_000);
  // One a second and more is left beside the one read in two seconds.
  expect(ordered).toHaveLength(3);
  expect(within(ordered, 300)).toBe(1);
  expect(ordered.at(-1)).toBeLessThan(2_500);
  expect(await read).toHaveLength(1);
});

describe.each([
  ['with Redis', () => inject('redisUrl')],
  ['without Redis', () => undefined],
])("the gateway's 30 requests a second, %s", (name, redisUrl) => {
  it("one account's pile takes a quarter of them, and another's request waits for none of it", async () => {
    const { live, services: shared } = processWith(redisUrl());
    if (name === 'with Redis') await untilReady(shared);
    const { account, all } = shared.gatewayPacers(live);
    const pile = slots(account('acc-flood'), 300, 2_000);
    const other = await slots(account('acc-other'), 5, 5_000);
    expect(other.at(-1)).toBeLessThan(WINDOW_MS);
    const monitored = await slots(all, 10, 5_000);
    expect(monitored.at(-1)).toBeLessThan(WINDOW_MS);
    // Seven in each of the windows that begin within its wait.
    expect((await pile).length).toBeLessThanOrEqual(3 * 7);
  });

  it('many accounts together keep to the whole', async () => {
    const { live, services: shared } = processWith(redisUrl());
    if (name === 'with Redis') await untilReady(shared);
    const { account } = shared.gatewayPacers(live);
    const times = (
      await Promise.all(Array.from({ length: 12 }, (_, index) => slots(account(`acc-${index}`), 7, 5_000)))
    ).flat();
    expect(times).toHaveLength(84);
    const sorted = times.toSorted((a, b) => a - b);
    expect(within(sorted, 900)).toBeLessThanOrEqual(30);
    expect(sorted.at(-1)).toBeLessThan(4_000);
  });
});
