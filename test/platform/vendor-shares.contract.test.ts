/**
 * A process's parts of a vendor's rate limit: with Redis, without any, and with one that is down. A flood of
 * one kind of work, or of one account, never uses what belongs to others, and the total never exceeds the
 * limit.
 */
import { afterEach, describe, expect, inject, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { composeRedisServices, type RedisServices } from '../../src/app/composition/redis-services.ts';
import type { Pacer } from '../../src/platform/rate-limiter.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { read } from './settings.support.ts';

let services: RedisServices | undefined;
afterEach(() => services?.close());

/** A call that must wait for another's slot waits longer. */
const WINDOW_MS = 1_000;

const NO_REDIS = 'redis://127.0.0.1:1';

/** The services of a process that sells in the live environment; `redisUrl` undefined: none is configured. */
async function processWith(redisUrl: string | undefined) {
  const { config, secrets } = read({
    SIMWAY_NAMESPACE_PREFIX: `t-${randomBytes(5).toString('hex')}`,
    SIMWAY_LIVE_SUPPLIER_ACCESS_CODE: 'code',
    SIMWAY_LIVE_GATEWAY_SECRET_KEY: 'key',
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
  });
  services = composeRedisServices(config, secrets, createLogger({ level: 'silent' }));
  // It notices a Redis that can be reached.
  if (redisUrl !== undefined && redisUrl !== NO_REDIS)
    await expect.poll(async () => (await services!.check()).detail, { timeout: 5_000 }).toBeUndefined();
  return { live: config.worlds.live!, services };
}

/**
 * Many concurrent calls: `hasBegun` once one of them has its slot; `slots` when each got its own, in
 * milliseconds, without refused ones.
 */
function flood(
  pacer: Pacer,
  calls: number,
  withinMs: number,
): { readonly hasBegun: Promise<unknown>; readonly slots: Promise<number[]> } {
  const startedAt = performance.now();
  const takes = Array.from({ length: calls }, async () =>
    (await pacer.takeSlot(withinMs)) ? performance.now() - startedAt : undefined,
  );
  return {
    hasBegun: Promise.race(takes),
    slots: Promise.all(takes).then((times) =>
      times.filter((time) => time !== undefined).toSorted((a, b) => a - b),
    ),
  };
}

const slots = (pacer: Pacer, calls: number, withinMs: number): Promise<number[]> =>
  flood(pacer, calls, withinMs).slots;

const within = (times: readonly number[], ms: number): number => times.filter((time) => time < ms).length;

describe.each([
  ['with Redis', () => inject('redisUrl')],
  ['without Redis', () => undefined],
])("the supplier's 8 requests a second, %s", (_name, redisUrl) => {
  it('leave six to orders at once, with two for a flood of reads and one for a flood of schedules', async () => {
    const { live, services: shared } = await processWith(redisUrl());
    const { orders, reads, background } = shared.supplierPacers('esim-access', live);
    // Schedules wait long, so they take their slots first.
    const scheduled = flood(background, 20, 2_500);
    const readings = flood(reads, 200, 2_500);
    await Promise.all([scheduled.hasBegun, readings.hasBegun]);
    const ordered = await slots(orders, 6, 5_000);
    expect(ordered).toHaveLength(6);
    expect(ordered.at(-1)).toBeLessThan(WINDOW_MS);
    const [readAt, scheduledAt] = await Promise.all([readings.slots, scheduled.slots]);
    expect(within(readAt, 1_050)).toBeLessThanOrEqual(2);
    expect(within(scheduledAt, 1_050)).toBeLessThanOrEqual(1);
    // Three windows begin within the wait.
    expect(readAt.length + scheduledAt.length).toBeLessThanOrEqual(3 * 2);
    expect(scheduledAt.length).toBeLessThanOrEqual(3);
  });

  it("leave six to orders at once, when a flood of operators' checks uses one of the reads' slots", async () => {
    const { live, services: shared } = await processWith(redisUrl());
    const { orders, reads, checks } = shared.supplierPacers('esim-access', live);
    const checked = flood(checks, 50, 2_500);
    // As long as a reader waits.
    const readings = flood(reads, 200, 800);
    await Promise.all([checked.hasBegun, readings.hasBegun]);
    const ordered = await slots(orders, 6, 5_000);
    expect(ordered).toHaveLength(6);
    expect(ordered.at(-1)).toBeLessThan(WINDOW_MS);
    const [readAt, checkedAt] = await Promise.all([readings.slots, checked.slots]);
    expect(within(checkedAt, 1_050)).toBeLessThanOrEqual(1);
    expect([2, 3]).toContain(checkedAt.length);
    expect(readAt.length + checkedAt.length).toBeLessThanOrEqual(3 * 2);
  });

  it("give a part of orders to one account, and another's order with its profile waits for none of them", async () => {
    const { live, services: shared } = await processWith(redisUrl());
    const { effectsOf, questionsOf } = shared.supplierPacers('esim-access', live);
    const pile = flood(effectsOf('acc-flood'), 100, 2_500);
    await pile.hasBegun;
    // Each order of the flood asks for its profile too.
    const questions = flood(questionsOf('acc-flood'), 100, 2_500);
    await questions.hasBegun;
    const [ordered = Infinity] = await slots(effectsOf('acc-other'), 1, 5_000);
    const [read = Infinity] = await slots(questionsOf('acc-other'), 1, 5_000);
    expect(ordered + read).toBeLessThan(WINDOW_MS);
    // Two at once, and then five in two seconds.
    for (const { slots: times } of [pile, questions]) expect((await times).length).toBeLessThanOrEqual(2 + 6);
  });

  it("are ordered by at most one purchase a second of one account's batches, and those of another begin beside them", async () => {
    const { live, services: shared } = await processWith(redisUrl());
    const batchesOf = shared.batchPacer(live);
    const pile = flood(batchesOf('acc-flood'), 20, 2_500);
    await pile.hasBegun;
    expect((await slots(batchesOf('acc-other'), 1, 5_000))[0]).toBeLessThan(WINDOW_MS);
    expect((await pile.slots).length).toBeLessThanOrEqual(3);
  });

  it('stay available to orders in a process that stops its background work', async () => {
    const { live, services: shared } = await processWith(redisUrl());
    const { orders, background } = shared.supplierPacers('esim-access', live);
    const startedAt = performance.now();
    const waiting = flood(background, 20, 30_000);
    await waiting.hasBegun;
    shared.endBackground();
    expect((await waiting.slots).length).toBeLessThanOrEqual(1);
    expect(performance.now() - startedAt).toBeLessThan(WINDOW_MS);
    expect(await background.takeSlot(5_000)).toBe(false);
    expect(await slots(orders, 6, 5_000)).toHaveLength(6);
  });

  it('are all available to orders while no reads come', async () => {
    const { live, services: shared } = await processWith(redisUrl());
    const ordered = await slots(shared.supplierPacers('esim-access', live).orders, 9, 5_000);
    expect(within(ordered, 500)).toBe(8);
    expect(ordered).toHaveLength(9);
  });
});

it('while Redis is down, a process gets two of the supplier’s requests a second, and reads leave them to orders', async () => {
  const { live, services: shared } = await processWith(NO_REDIS);
  const { orders, reads } = shared.supplierPacers('esim-access', live);
  const readings = flood(reads, 100, 1_800);
  await readings.hasBegun;
  const ordered = await slots(orders, 3, 3_000);
  // At least one a second is left next to one read in two seconds.
  expect(ordered).toHaveLength(3);
  expect(within(ordered, 300)).toBe(1);
  expect(ordered.at(-1)).toBeLessThan(2_500);
  expect(await readings.slots).toHaveLength(1);
});

describe.each([
  ['with Redis', () => inject('redisUrl')],
  ['without Redis', () => undefined],
])("the gateway's 30 requests a second, %s", (_name, redisUrl) => {
  it("give one account a quarter, and another account's request waits for none of it", async () => {
    const { live, services: shared } = await processWith(redisUrl());
    const { account, all } = shared.gatewayPacers('paystack', live);
    const pile = slots(account('acc-flood'), 300, 2_000);
    const other = await slots(account('acc-other'), 5, 5_000);
    expect(other.at(-1)).toBeLessThan(WINDOW_MS);
    const monitored = await slots(all, 10, 5_000);
    expect(monitored.at(-1)).toBeLessThan(WINDOW_MS);
    // Seven in each of the windows that it met, however late a busy machine asks for its last one.
    const piled = await pile;
    expect(piled.length).toBeLessThanOrEqual(7 * (Math.ceil(piled.at(-1)! / WINDOW_MS) + 1));
  });

  it('are shared by many accounts, which never exceed the total', async () => {
    const { live, services: shared } = await processWith(redisUrl());
    const { account } = shared.gatewayPacers('paystack', live);
    const times = (
      await Promise.all(Array.from({ length: 12 }, (_, index) => slots(account(`acc-${index}`), 7, 5_000)))
    ).flat();
    expect(times).toHaveLength(84);
    const sorted = times.toSorted((a, b) => a - b);
    expect(within(sorted, 900)).toBeLessThanOrEqual(30);
    expect(sorted.at(-1)).toBeLessThan(4_000);
  });
});
