/**
 * Orders by the SDK while connections break at random bytes and the merchant's program is killed at random:
 * each intended order is bought once, and no purchase exists that the program does not know.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newBuyer } from '../support/people/buyer.ts';
import { casesOfRun, createRandom, withSeed } from '../support/time/size.ts';
import { until } from '../support/time/until.ts';
import { soundStack } from '../support/world/sound-stack.ts';
import { makeTestFolder } from '../support/world/test-folder.ts';
import { startCuttingProxy } from './cutting-proxy.support.ts';
import { knownIn, live } from './orders.support.ts';

const PRICE_MINOR = 230n;
const count = casesOfRun({ ci: 200, prove: 10_000 });
const stack = await soundStack();

it(`buys ${count} orders once each, and knows all of them`, async () => {
  await withSeed(async (seed) => {
    const random = createRandom(seed);
    const buyer = await newBuyer(stack, {
      plan: 'ENTERPRISE',
      fundsMinor: 2n * PRICE_MINOR * BigInt(count),
    });
    const file = join(await makeTestFolder(), 'orders');
    writeFileSync(file, '');
    const proxy = await startCuttingProxy(stack.apiUrl, random);
    const orders = { baseUrl: proxy.url, apiKey: buyer.account.apiKey, file, count };
    let kills = 0;
    while (!(await live(orders, random.below(4_000)))) kills += 1;
    await proxy.close();
    expect(Math.min(kills, proxy.cuts.request, proxy.cuts.answer)).toBeGreaterThan(0);

    const ended = knownIn(file).filter(({ intent }) => !intent);
    expect(ended.map(({ order }) => order).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: count }, (_, order) => order),
    );
    const purchases = await until(
      () => buyer.purchases(),
      (rows) => rows.every(({ closed_at }) => closed_at !== null),
      { what: 'all purchases closed' },
    );
    expect(purchases.map((row) => row.transaction_id).toSorted()).toEqual(
      ended.map(({ transactionId }) => transactionId).toSorted(),
    );
    expect(await buyer.balanceMinor()).toBe(PRICE_MINOR * BigInt(count));
    console.log(
      `${count} orders, ${kills} kills, ${proxy.cuts.request} cut requests, ${proxy.cuts.answer} cut answers`,
    );
  });
});
