// Promise: in a week in which the balance at the supplier runs out, the alert is out at least 24 hours before
// in 95 % of seeds, and at most one buyer of a package is refunded. The first half has a clock of its own: it
// is a rule on reads. The second sells on the product's rows, mixed as buyers, reads and payments come. What
// others spend of the same account is known from the next read: buyers who began before it may be refunded,
// and no later one is.
import { afterAll, describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/domain/clock.ts';
import {
  balanceLevel,
  hoursLeft,
  spentPerHour,
  type Spent,
} from '../../src/operations/supplier/balance-rules.ts';
import { createRandom, seedsOfRun, size, type Random } from '../support/time/size.ts';
import { openShop } from './supplier-shop.support.ts';

const LIMITS = { lowHours: 72, criticalHours: 24, minimumUsdE4: 0n };
const HISTORY_HOURS = 168;
/** Some balances last longer: sales may slow down. */
const MAX_HOURS = 2_000;

/** What an hour sells: by day and night, by weekday, with growth, chance and now and then a large order. */
function soldIn(hour: number, random: Random, growth: number): number {
  const day = 1 + 0.8 * Math.sin(((hour % 24) / 24) * 2 * Math.PI);
  const weekend = Math.trunc(hour / 24) % 7 >= 5 ? 1.6 : 1;
  const chance = 0.4 + random.below(1_200) / 1_000;
  const burst = random.below(100) === 0 ? 8 : 1;
  return 10_000 * day * weekend * chance * burst * growth ** (hour / 24);
}

/** How many hours before the balance is empty people are told. */
function noticeHours(seed: number): number {
  const random = createRandom(seed);
  const growth = 1 + random.below(100) / 1_000;
  const spent: Spent[] = [];
  const sell = (hour: number): number => {
    const usdE4 = BigInt(Math.round(soldIn(hour, random, growth)));
    const from = new Date(hour * HOUR_MS);
    spent.push({ from, to: new Date((hour + 1) * HOUR_MS), usdE4 });
    return Number(usdE4);
  };
  for (let hour = 0; hour < HISTORY_HOURS; hour += 1) sell(hour);
  // It lasts for five to seven days at the rate of the start.
  const lastsDays = 5 + random.below(2_000) / 1_000;
  let left = spentPerHour(spent, new Date(HISTORY_HOURS * HOUR_MS)) * 24 * lastsDays;
  let toldAt: number | undefined;
  for (let hour = HISTORY_HOURS; hour < HISTORY_HOURS + MAX_HOURS; hour += 1) {
    left -= sell(hour);
    const now = new Date((hour + 1) * HOUR_MS);
    const hours = hoursLeft(BigInt(Math.round(left)), spentPerHour(spent, now));
    if (balanceLevel(BigInt(Math.round(left)), hours, LIMITS) !== 'ok') toldAt ??= hour;
    if (left <= 0) return hour - (toldAt ?? hour);
  }
  throw new Error(`seed ${seed}: the balance did not run out`);
}

it('the alert is out at least 24 hours before the balance is empty, in 95 % of seeds', () => {
  const seeds = seedsOfRun({ ci: 200, prove: 5_000 });
  const early = seeds.filter((seed) => noticeHours(seed) >= 24);
  expect(early.length / seeds.length).toBeGreaterThanOrEqual(0.95);
});

const COSTS = { small: 10_000n, middle: 37_000n, large: 90_000n };
type Code = keyof typeof COSTS;
const CODES = Object.keys(COSTS) as Code[];

describe('a week in which the balance runs out', () => {
  const shops: Awaited<ReturnType<typeof openShop>>[] = [];
  afterAll(() => Promise.all(shops.map((shop) => shop.close())));

  /**
   * Sells until it is over. The most refunded buyers of one package: of all, and of those who
   * began after a read that shows what others have spent.
   */
  async function sellOut(seed: number, othersAt: number): Promise<{ all: number; later: number }> {
    const random = createRandom(seed);
    const shop = await openShop(COSTS);
    shops.push(shop);
    shop.atSupplier.balance = 900_000n + BigInt(random.below(600_000));
    await shop.check();
    const [unpaid, paid]: [string[], string[]] = [[], []];
    const buyers: { id: string; code: Code; isLater: boolean }[] = [];
    let isKnown = false;
    const withOne = async (from: string[], act: (id: string) => Promise<unknown>) => {
      const [id] = from.splice(random.below(from.length || 1), 1);
      if (id !== undefined) await act(id);
    };
    const buy = async (method: 'CARD' | 'WALLET') => {
      const code = random.pick(CODES);
      const opened = await shop.open(code, method);
      if (!opened.startsWith('txn-')) {
        expect(opened).toBe('PACKAGE_UNAVAILABLE');
        return;
      }
      if (method === 'CARD') buyers.push({ id: opened, code, isLater: isKnown });
      (method === 'CARD' ? unpaid : paid).push(opened);
    };
    const pay = (id: string) => shop.pay(id).then(() => paid.push(id));
    for (let at = 0; at < 160; at += 1) {
      if (at === othersAt) shop.atSupplier.balance -= shop.atSupplier.balance / 4n;
      const chance = random.below(100);
      if (chance < 45) await buy(random.below(3) === 0 ? 'WALLET' : 'CARD');
      else if (chance < 65) await withOne(unpaid, pay);
      else if (chance < 70) await withOne(unpaid, shop.abandon);
      else if (chance < 97) await withOne(paid, shop.deliver);
      else {
        await shop.check();
        isKnown ||= at > othersAt;
      }
    }
    for (const id of unpaid.splice(0)) await pay(id);
    while (paid.length > 0) await withOne(paid, shop.deliver);
    // It did run out.
    expect(shop.atSupplier.balance).toBeLessThan(COSTS.large);
    const most = async (some: typeof buyers) => {
      const refunded: Code[] = [];
      for (const { id, code } of some)
        if ((await shop.statusOf(id)) === 'FAILED, PACKAGE_UNAVAILABLE') refunded.push(code);
      return Math.max(0, ...CODES.map((code) => refunded.filter((one) => one === code).length));
    };
    return { all: await most(buyers), later: await most(buyers.filter(({ isLater }) => isLater)) };
  }

  const LIMIT_MS = size({ ci: 60_000, prove: 120_000 });

  it.each(seedsOfRun({ ci: 2, prove: 40 }))(
    'refunds at most one buyer of a package, with seed %s',
    async (seed) => expect((await sellOut(seed, Infinity)).all).toBeLessThanOrEqual(1),
    LIMIT_MS,
  );

  it.each(seedsOfRun({ ci: 1, prove: 40 }))(
    'refunds nobody who began after a read that shows what others have spent, with seed %s',
    async (seed) => expect((await sellOut(seed, 60)).later).toBe(0),
    LIMIT_MS,
  );
});
