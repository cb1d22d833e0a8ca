/**
 * Every process killed and paused at random moments, while buyers buy, operators refund and banks dispute.
 * After the last fault each purchase that its row calls paid is delivered or given back within seconds, or is
 * on the stuck list within a minute. No money is lost on either side. SIMWAY_TEST_SEED repeats a run,
 * SIMWAY_TEST_SEEDS sets how many seeds it takes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningPostgres } from '../../src/dev/postgres.ts';
import type { RunningRedis } from '../../src/dev/redis.ts';
import type { RunningTemporal } from '../../src/dev/temporal.ts';
import { newBuyer } from '../support/people/buyer.ts';
import { commander, hereFinance, jsonOf } from '../support/people/finance.ts';
import { inspectBooks } from '../support/money/invariants.ts';
import { newOperator } from '../support/people/operator-actions.ts';
import { ownPostgres, ownRedis, ownTemporal, type OwnServer } from '../support/world/own-servers.ts';
import { dropped } from '../support/money/payers.ts';
import { inflict } from '../support/world/random-faults.ts';
import { STORIES } from '../support/people/random-stories.ts';
import { createRandom, seedsOfRun, size } from '../support/time/size.ts';
import { startStack, type Stack } from '../support/world/stack.ts';
import { storyOf } from '../support/people/story.ts';
import { until } from '../support/time/until.ts';
import { LONG_ANSWER_TIMINGS } from '../support/world/workflow-harness.ts';

const SEEDS = seedsOfRun({ ci: 1, prove: 100 });
const FAULTS = size({ ci: 6, prove: 12 });
const STORIES_AT_ONCE = size({ ci: 10, prove: 20 });
/** Who sleeps until the time to pay is over is seen: it is longer than the test waits. */
const TIMINGS = {
  ...LONG_ANSWER_TIMINGS,
  answerWithinMs: 3_000,
  // No outage of this test makes a payment end unopened.
  openChargeForMs: 300_000,
  checkoutMs: 900_000,
  transferMs: 900_000,
  pollFirstMs: 500,
  pollMaxMs: 2_000,
};
const WITHIN_SECONDS_MS = 20_000;
const LISTED_AFTER_MS = 75_000;

let servers: [OwnServer<RunningPostgres>, OwnServer<RunningTemporal>, OwnServer<RunningRedis>];
let stack: Stack;
beforeAll(async () => {
  servers = await Promise.all([ownPostgres(), ownTemporal(), ownRedis()]);
  const [postgres, temporal, redis] = servers;
  stack = await startStack({
    processes: 'own',
    databaseUrl: postgres.server.url,
    temporalAddress: temporal.server.address,
    redisUrl: redis.server.url,
    timings: TIMINGS,
  });
}, 180_000);
afterAll(async () => {
  await stack.close();
  for (const server of servers) await server.close();
}, 60_000);

/** Paid by its row, and neither delivered nor given back. */
async function paidAndOpen(): Promise<string[]> {
  const rows = await stack.owner
    .selectFrom('purchases')
    .select('transaction_id')
    .where('status', '=', 'PROCESSING')
    .execute();
  return rows.map((row) => row.transaction_id);
}

async function stuck(): Promise<string[]> {
  // A run may take longer than a session that nobody uses.
  const { env } = await commander(stack);
  const items = jsonOf(await hereFinance(env, 'stuck --json')) as { transactionId: string }[];
  return items.map(({ transactionId }) => transactionId);
}

/** Paid purchases that are neither closed nor listed. */
async function forgotten(): Promise<string[]> {
  const open = await paidAndOpen();
  if (open.length === 0) return [];
  const listed = await stuck();
  return open.filter((id) => !listed.includes(id));
}

describe.each(SEEDS)('SIMWAY_TEST_SEED=%i', (seed) => {
  it(`${FAULTS} faults: nothing paid is forgotten, and the books and the vendors' accounts agree`, async () => {
    const random = createRandom(seed);
    const [postgres, temporal, redis] = servers.map(({ server }) => server) as [
      RunningPostgres,
      RunningTemporal,
      RunningRedis,
    ];
    const buyer = await newBuyer(stack);
    const { esimId } = await buyer.activeEsim();
    const scene = { stack, buyer, operator: newOperator(stack, TIMINGS), esimId };
    const stories = Array.from({ length: STORIES_AT_ONCE }, (_, nth) =>
      random.pick(STORIES)({ ...scene, random: createRandom(seed * 1_000 + nth) }),
    );
    const ended = Promise.allSettled(stories);
    const faults = await inflict({ stack, postgres, temporal, redis }, random, FAULTS);
    const healedAtMs = performance.now();
    console.log(`SIMWAY_TEST_SEED=${seed}: ${faults.join(', ')}`);

    await until(forgotten, (ids) => ids.length === 0, {
      what: 'each paid purchase delivered, given back or listed',
      withinMs: LISTED_AFTER_MS,
      everyMs: 500,
    }).catch(async (error: unknown) => {
      for (const id of await forgotten()) console.log(await storyOf(stack, id));
      throw error;
    });
    expect(
      (await ended).flatMap((story) => (story.status === 'rejected' ? [String(story.reason)] : [])),
    ).toEqual([]);
    const slow = await until(
      () => paidAndOpen(),
      (ids) => ids.length === 0,
      { what: 'no paid purchase open', withinMs: WITHIN_SECONDS_MS, everyMs: 200 },
    ).catch(() => paidAndOpen());
    console.log(
      `all at rest after ${Math.round(performance.now() - healedAtMs)} ms; slow: ${slow.join() || 'none'}`,
    );
    expect(slow).toEqual([]);
    await until(
      () => dropped(stack),
      (lost) => lost.length === 0,
      {
        what: 'all money of the gateway booked',
        everyMs: 1_000,
      },
    );
    await until(
      () => inspectBooks(stack),
      ({ violations }) => violations.length === 0,
      {
        what: 'sound books',
        everyMs: 1_000,
      },
    );
  }, 600_000);
});
