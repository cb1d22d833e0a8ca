/**
 * Promise M7: odd money has a home. Every way a payment can go wrong, in every order that we may hear of it, ends in a named state with its
 * entries in the ledger, and nothing that the gateway kept is dropped.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSoundBooks } from '../support/invariants.ts';
import { CASES, playCase, TAKES_MONEY_MS } from '../support/odd-money.ts';
import { ORDERS } from '../support/odd-payer.ts';
import { dropped } from '../support/payers.ts';
import { gatewayFaults } from '../support/payments.ts';
import { createRandom, seedOfRun, size } from '../support/size.ts';
import { startStack, type Stack } from '../support/stack.ts';

const SEEDS = size({ ci: 1, prove: 200 });
/** A transfer account lives 15 minutes at least: the gateway's clock is behind, so that it ends in time for a test. */
const BEHIND_MS = 15 * 60_000 - TAKES_MONEY_MS;

const MATRIX = CASES.flatMap((odd) => ORDERS.map((order) => ({ odd, order, name: `${odd.name}, ${order}` })));
const FIRST_SEED = seedOfRun();
/** Cases under way at one time: what has to be paid in time is, also on a slow machine. */
const LANES = 12;
/** Until the time to pay is over; these begin first. */
const waitsLong = ({ odd, order }: (typeof MATRIX)[number]): boolean =>
  /expiry|returned/.test(odd.name) || (order === 'poll only' && /second time|after delivery/.test(odd.name));

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    env: {
      SIMWAY_TEST_TIMINGS: JSON.stringify({
        checkoutMs: TAKES_MONEY_MS,
        transferMs: TAKES_MONEY_MS,
        pollFirstMs: 2_000,
        refundLookFirstMs: 300,
        refundLookMaxMs: 1_000,
      }),
    },
    gateway: { now: () => Date.now() - BEHIND_MS },
  });
  // The test is the courier and ends every refund, so that each case has the order it is about.
  await gatewayFaults(stack, { webhooks: 'drop', refund: 'pending' });
}, 120_000);
afterAll(async () => {
  await stack.close();
});

describe.each(Array.from({ length: SEEDS }, (_, nth) => FIRST_SEED + nth))('SIMWAY_TEST_SEED=%i', (seed) => {
  const played = new Map<string, PromiseWithResolvers<undefined>>();
  beforeAll(() => {
    for (const { name } of MATRIX) {
      const playing = Promise.withResolvers<undefined>();
      playing.promise.catch(() => undefined);
      played.set(name, playing);
    }
    const waiting = MATRIX.map((one, nth) => ({ ...one, random: createRandom(seed + nth * 7_919) }))
      .toSorted((one, other) => Number(waitsLong(other)) - Number(waitsLong(one)))
      .values();
    const lane = async (): Promise<void> => {
      for (const { odd, order, name, random } of waiting) {
        const { resolve, reject } = played.get(name)!;
        await playCase(stack, odd, order, random).then(() => resolve(undefined), reject);
      }
    };
    for (let count = 0; count < LANES; count += 1) void lane();
  });

  it.each(MATRIX)('$name', async ({ name }) => {
    await played.get(name)!.promise;
  });

  it('leaves the books sound, and nothing that the gateway kept is dropped', async () => {
    await Promise.allSettled(Array.from(played.values(), ({ promise }) => promise));
    expect(await dropped(stack)).toEqual([]);
    await expectSoundBooks(stack);
  });
});
