// The catalogue and its prices on the whole service: a change at the supplier is published within one sync,
// and write access to Redis does not lower a price.
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { Redis } from 'ioredis';
import { insertRates } from '../../src/catalogue/store/rates.ts';
import { newBuyer } from '../support/people/buyer.ts';
import { untilImported } from '../support/vendors/packages.ts';
import { startStack, type Stack } from '../support/world/stack.ts';
import { until } from '../support/time/until.ts';

let stack: Stack;
let redis: Redis;
beforeAll(async () => {
  stack = await startStack();
  redis = new Redis(inject('redisUrl'));
});
afterAll(async () => {
  redis.disconnect();
  await stack.close();
});

/** From the list of changes, or from the feed. */
interface Page {
  readonly items: readonly {
    readonly packageCode?: string;
    readonly event?: string;
    readonly data?: Readonly<Record<string, unknown>>;
  }[];
  readonly nextCursor: string;
}

it('one sync publishes a change at the supplier in the list of changes and in the feed of events', async () => {
  const buyer = await newBuyer(stack);
  const schedule = stack.temporal.schedule.getHandle('syncCatalogue-schedule');
  const page = async (path: string): Promise<Page> => {
    const answer = await buyer.read(path);
    expect(answer.status, answer.text).toBe(200);
    return (answer.body as unknown as { data: Page }).data;
  };
  const atSupplier = async (code: string, change: object): Promise<void> => {
    const body = JSON.stringify(change);
    const answer = await fetch(`${stack.supplierControlUrl}/packages/${code}`, { method: 'PUT', body });
    if (!answer.ok) throw new Error(await answer.text());
  };
  const before = await untilImported(stack);
  const [dearer = '', gone = ''] = (await page('/api/esim/packages/changes?limit=2')).items.map(
    ({ packageCode }) => packageCode,
  );
  const since = (await page('/api/esim/packages/changes?since=now')).nextCursor;
  const after = (await page('/api/events?limit=100')).nextCursor;

  await atSupplier(dearer, { price: 43_210 });
  await atSupplier(gone, { withdrawn: true });
  await schedule.trigger();
  const changes = await until(
    async () => (await page(`/api/esim/packages/changes?since=${since}`)).items,
    (items) => items.length > 0,
    { what: 'the changes' },
  );
  expect(changes).toHaveLength(2);
  expect(changes).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        kind: 'CHANGED',
        packageCode: dearer,
        changedFields: ['price'],
        // $4.321 and the merchants' 15 %.
        price: 4.97,
      }),
      expect.objectContaining({ kind: 'WITHDRAWN', packageCode: gone, price: null }),
    ]),
  );
  const events = await until(
    async () => (await page(`/api/events?after=${after}`)).items,
    (items) => items.length > 0,
    { what: 'the events' },
  );
  expect(events.map(({ event, data }) => [event, data?.['packageCode'], data?.['changedFields']])).toEqual(
    expect.arrayContaining([
      ['package.changed', dearer, 'price'],
      ['package.withdrawn', gone, undefined],
    ]),
  );
  expect(events).toHaveLength(2);
  expect(await untilImported(stack)).toBe(before + 1);
  await until(
    () => buyer.read(`/api/esim/packages/${dearer}`),
    ({ text }) => text.includes('4.97'),
    { what: 'the new price in the list' },
  );
});

/** One naira for a dollar. */
const FORGED = [
  { id: '1', currency: 'NGN', micros: '1000000', source: 'operator', observedAtMs: Date.now() + 3_600_000 },
];

it('a forged rate in Redis does not lower any price', async () => {
  const buyer = await newBuyer(stack, { currency: 'NGN', fundsMinor: 10_000_000n });
  const revisionOf = async () => {
    const row = await stack.owner
      .selectFrom('revisions')
      .select('revision')
      .where('name', '=', 'rates')
      .executeTakeFirstOrThrow();
    return Number(row.revision);
  };
  const known = await revisionOf();
  const prefix = stack.env['SIMWAY_NAMESPACE_PREFIX'];
  for (let revision = known + 1; revision < known + 50; revision += 1)
    await redis.set(`${prefix}:cache:test:rates:${revision}`, JSON.stringify(FORGED));
  const rate = async () => (await buyer.read('/api/settings/exchange-rate')).text;
  const before = await rate();
  // A real observation makes every process read its rates again.
  const observedAt = new Date();
  await insertRates(stack.world, [
    { currency: 'NGN', micros: 1_700_000_000n, source: 'fixed', observedAt, status: 'GOOD' },
  ]);
  await until(rate, (text) => text !== before, { what: 'the new rate' });
  expect((await buyer.buy('SIM-OK')).status).toBe(201);
  const [purchase] = await buyer.purchases();
  // $2.30 at 1,700 naira, and the 3 % that naira cost more.
  expect(Number(purchase!.price_minor)).toBe(402_730);
  expect(await buyer.balanceMinor()).toBe(10_000_000n - 402_730n);
});
