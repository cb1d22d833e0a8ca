/**
 * Promise M7: unusual payments are accounted for. Every way a payment can go wrong, in every order of events,
 * ends in a named state with its entries in the ledger, and nothing that the gateway has received is lost.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSoundBooks } from '../support/money/invariants.ts';
import { runConcurrently } from '../support/time/concurrency.ts';
import { CASES, playCase, TAKES_MONEY_MS } from '../support/money/payment-cases.ts';
import { ORDERS } from '../support/money/case-payer.ts';
import { dropped } from '../support/money/payers.ts';
import { gatewayFaults } from '../support/money/payments.ts';
import { createRandom, seedOfRun, size } from '../support/time/size.ts';
import { startStack, type Stack } from '../support/world/stack.ts';

/** Books are checked as a whole: more seeds mean more stacks. */
const STACKS = size({ ci: 1, prove: 20 });
const SEEDS_A_STACK = size({ ci: 1, prove: 10 });
const FIRST_SEED = seedOfRun();
/**
 * A transfer account is valid for at least 15 minutes: the gateway's clock is set back, so that it ends in
 * time for a test.
 */
const BEHIND_MS = 15 * 60_000 - TAKES_MONEY_MS;

const MATRIX = CASES.flatMap((odd) => ORDERS.map((order) => ({ odd, order, name: `${odd.name}, ${order}` })));
/** Cases in progress at one time: few enough to be paid in time on a slow machine. */
const CONCURRENCY = 12;
/** Cases in progress besides: these do nothing until the time to pay is over. */
const CONCURRENT_WAITERS = size({ ci: 12, prove: 40 });
const waitsLong = ({ odd, order }: (typeof MATRIX)[number]): boolean =>
  /expiry|returned|late, and/.test(odd.name) ||
  (order === 'poll only' && /second time|after delivery/.test(odd.name));

async function bringUp(): Promise<Stack> {
  const stack = await startStack({
    timings: {
      checkoutMs: TAKES_MONEY_MS,
      transferMs: TAKES_MONEY_MS,
      pollFirstMs: 500,
      refundCheckFirstMs: 300,
      refundCheckMaxMs: 1_000,
    },
    env: {
      SIMWAY_TEST_RECONCILE_SETTLE_MS: '1',
    },
    gateway: { now: () => Date.now() - BEHIND_MS },
  });
  // The test delivers the events and ends every refund, so that each case has its own order.
  await gatewayFaults(stack, { webhooks: 'drop', refund: 'pending' });
  return stack;
}

/** Runs the matrix with every seed; each case's promise ends with the last of its seeds. */
function playAll(stack: Stack, seeds: readonly number[]): Map<string, Promise<void>> {
  const plays = MATRIX.flatMap((play, nth) =>
    seeds.map((seed) => ({
      play,
      seed,
      random: createRandom(seed + nth * 7_919),
      ended: Promise.withResolvers<undefined>(),
    })),
  );
  const begin = async (waiters: boolean, concurrency: number): Promise<void> => {
    const mine = plays.filter(({ play }) => waitsLong(play) === waiters);
    await runConcurrently(mine, concurrency, async ({ play, seed, random, ended }) => {
      await playCase(stack, play.odd, play.order, random).then(
        () => ended.resolve(undefined),
        (error: unknown) =>
          ended.reject(new Error(`with SIMWAY_TEST_SEED=${seed}: ${String(error)}`, { cause: error })),
      );
    });
  };
  void begin(true, CONCURRENT_WAITERS);
  void begin(false, CONCURRENCY);
  return new Map(
    MATRIX.map((play) => {
      const own = plays.filter((one) => one.play === play).map(({ ended }) => ended.promise);
      const all = Promise.all(own).then(() => undefined);
      all.catch(() => undefined);
      return [play.name, all];
    }),
  );
}

const STACKS_SEEDS = Array.from({ length: STACKS }, (_, stack) =>
  Array.from({ length: SEEDS_A_STACK }, (_, nth) => FIRST_SEED + stack * SEEDS_A_STACK + nth),
);

describe.each(STACKS_SEEDS.map((seeds) => ({ from: seeds[0], seeds })))(
  'SIMWAY_TEST_SEED=$from',
  ({ seeds }) => {
    let stack: Stack;
    let played: Map<string, Promise<void>>;
    beforeAll(async () => {
      stack = await bringUp();
      played = playAll(stack, seeds);
    }, 120_000);
    afterAll(() => stack.close());

    it.each(MATRIX)('$name', async ({ name }) => {
      await expect(played.get(name)).resolves.toBeUndefined();
    });

    it('leaves the books balanced, and loses nothing that the gateway has received', async () => {
      await Promise.allSettled(played.values());
      expect(await dropped(stack)).toEqual([]);
      await expectSoundBooks(stack);
    });
  },
);
