// What one person may do with prices: markups and rates are judged together against what two people agreed
// on, and a supplier's price that jumps waits for a person.
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { isCostJump } from '../../src/catalogue/pricing.ts';
import { readCatalogue, replaceCatalogue, replaceTopUps } from '../../src/catalogue/store/catalogue.ts';
import { findPricingSettings } from '../../src/catalogue/store/pricing-settings.ts';
import { lockPricing } from '../../src/catalogue/store/rates.ts';
import { basePackage, PRICE_LIMITS, region } from '../support/money/facts.ts';
import { until } from '../support/time/until.ts';
import type { ExampleName } from '../support/http/examples.ts';
import { generalError } from '../support/http/error-bodies.ts';
import type { tokens } from './pricing.support.ts';
import { dataOf, FINANCE, openPricing, REASON, SECOND, TERMS } from './pricing.support.ts';

const { books, observe, post, get, setRate, confirm } = await openPricing();

describe('markups and rate together', () => {
  /** Nothing has a markup: prices are the cost, and every cent counts. */
  const AT_COST = { userMarkupPercent: 0, merchantMarkupPercent: 0, ngnIncrementPercent: 0 };
  const preview = async (terms: object) => dataOf(await post('/ops/prices/preview', terms));
  const save = async (terms: object, who: keyof typeof tokens = FINANCE, example?: ExampleName) => {
    const { id: version } = await findPricingSettings(books.world);
    return post('/ops/prices', { version, ...terms, reason: REASON }, who, example);
  };
  const confirmPrices = (id: unknown, who: keyof typeof tokens, example?: ExampleName) =>
    post(`/ops/prices/${String(id)}/confirm`, { reason: 'agreed' }, who, example);
  beforeEach(async () => {
    await sql`delete from test.proposed_prices`.execute(books.owner);
    await sql`delete from test.pricing_settings where id <> 'initial'`.execute(books.owner);
  });

  test('of one person sell nothing below cost: neither the markups after the rate, nor at once', async () => {
    expect((await setRate(1_360)).status).toBe(200);
    expect(await preview(AT_COST)).toMatchObject({ outcome: 'below-cost' });
    const reply = await save(AT_COST);
    expect(reply.json).toEqual(
      generalError(409, 'PRICES_BELOW_COST', expect.stringContaining('below cost') as string),
    );
    expect(await findPricingSettings(books.world)).toMatchObject({ id: 'initial' });
  });

  test('of one person sell nothing below cost: a rate after the markups waits', async () => {
    const low = { userMarkupPercent: 13, merchantMarkupPercent: 4, ngnIncrementPercent: 3 };
    expect((await save(low)).status).toBe(200);
    const reply = await setRate(1_360);
    expect([reply.status, dataOf(reply)['outcome']]).toEqual([202, 'waits']);
    expect((await setRate(1_495)).status).toBe(200);
  });

  test('of one person sell nothing below cost to those who pay in another currency than their prices', async () => {
    await observe({ currency: 'GHS', micros: 15_000_000n });
    expect((await setRate(13.6, { currency: 'GHS' })).status).toBe(200);
    const low = { userMarkupPercent: 18, merchantMarkupPercent: 10, ngnIncrementPercent: 3 };
    expect(await preview(low)).toMatchObject({ outcome: 'below-cost' });
    expect((await save(low)).json).toMatchObject({ error: { code: 'PRICES_BELOW_COST' } });
  });

  test('move no price more than 10 % from the one that two people agreed on, in any number of steps', async () => {
    const dearer = (percent: number) => ({ ...TERMS, userMarkupPercent: percent });
    expect((await save(dearer(35))).status).toBe(200);
    expect(await preview(dearer(45))).toMatchObject({ outcome: 'waits' });
    expect((await save(dearer(45))).status).toBe(202);
    expect((await setRate(1_640)).status).toBe(202);
    expect((await setRate(1_510)).status).toBe(200);
  });

  test('at the same moment are bounded too', async () => {
    const raised = { ...TERMS, userMarkupPercent: 36 };
    const [markups, rate] = await Promise.all([save(raised), setRate(1_630)]);
    expect([markups.status, rate.status].sort()).toEqual([200, 202]);
  });

  test('of 1,000 % wait for another, independent person, and then apply', async () => {
    const huge = { userMarkupPercent: 1_000, merchantMarkupPercent: 1_000, ngnIncrementPercent: 3 };
    const waits = await save(huge, FINANCE, { answer: 'waits' });
    expect(waits.status).toBe(202);
    const id = dataOf(waits)['proposalId'];
    expect(dataOf(await get('/ops/prices'))['waiting']).toMatchObject([
      { proposalId: id, ...huge, proposedBy: FINANCE, reason: REASON },
    ]);
    expect(dataOf(await confirmPrices(id, FINANCE))).toBeUndefined();
    expect(await findPricingSettings(books.world)).toMatchObject({ id: 'initial' });
    const confirmed = await confirmPrices(id, SECOND, { request: 'confirm', answer: 'confirmed' });
    expect(dataOf(confirmed)).toEqual({ outcome: 'set' });
    expect(await findPricingSettings(books.world)).toMatchObject({ userMarkupBps: 100_000 });
    expect(dataOf(await get('/ops/prices'))).toMatchObject({
      items: [{ by: FINANCE, confirmedBy: SECOND }, {}],
      waiting: [],
    });
    expect((await confirmPrices(id, SECOND)).status).toBe(404);
    // Agreed by two, so one person may go on from there.
    expect((await save({ ...huge, userMarkupPercent: 950 })).status).toBe(200);
  });

  test.each([
    ['withdrawn by the person who set them', FINANCE],
    ['declined by another person', SECOND],
  ] as const)('that wait are %s, then confirmed by nobody', async (_what, who) => {
    const huge = { ...TERMS, userMarkupPercent: 1_000 };
    const id = String(dataOf(await save(huge))['proposalId']);
    const decline = (example?: ExampleName) =>
      post(`/ops/prices/${id}/decline`, { reason: 'too dear' }, who, example);
    const declined = await decline({ request: 'decline', answer: 'declined' });
    expect(dataOf(declined)).toEqual({ outcome: 'declined' });
    const { rows } = await sql`
      select actor, detail from accounts.audit_log where action = 'prices.decline' and subject = ${id}`.execute(
      books.owner,
    );
    const after = { userMarkupBps: 100_000, merchantMarkupBps: 1_500, ngnIncrementBps: 300 };
    const words = { reason: 'too dear', proposedBy: FINANCE, proposedReason: REASON, environment: 'test' };
    expect(rows).toEqual([{ actor: who, detail: { after, ...words } }]);
    expect(dataOf(await get('/ops/prices'))['waiting']).toEqual([]);
    expect((await confirmPrices(id, SECOND)).status).toBe(404);
    expect((await decline()).status).toBe(404);
    expect(await findPricingSettings(books.world)).toMatchObject({ id: 'initial' });
    const confirmed = String(dataOf(await save(huge))['proposalId']);
    await confirmPrices(confirmed, SECOND);
    expect((await post(`/ops/prices/${confirmed}/decline`, { reason: 'too late' })).status).toBe(404);
  });

  test('that wait are refused once other markups were saved', async () => {
    const waits = await save({ ...TERMS, userMarkupPercent: 90 });
    expect((await save({ ...TERMS, userMarkupPercent: 26 })).status).toBe(200);
    expect(dataOf(await get('/ops/prices'))['waiting']).toEqual([]);
    expect((await confirmPrices(dataOf(waits)['proposalId'], SECOND)).status).toBe(409);
  });

  test('that wait are refused where a rate has put them below cost meanwhile', async () => {
    const low = { userMarkupPercent: 15, merchantMarkupPercent: 2, ngnIncrementPercent: 3 };
    const waits = await save(low);
    expect(waits.status).toBe(202);
    expect((await setRate(1_360)).status).toBe(200);
    const reply = await confirmPrices(dataOf(waits)['proposalId'], SECOND);
    expect(reply.json).toMatchObject({ error: { code: 'PRICES_BELOW_COST' } });
    expect(await findPricingSettings(books.world)).toMatchObject({ id: 'initial' });
  });

  test('a confirmation of a rate waits for a change that is being judged', async () => {
    const id = String(dataOf(await setRate(16_000))['rateId']);
    const order: string[] = [];
    let confirming: Promise<unknown> | undefined;
    await books.world.transaction().execute(async (trx) => {
      await lockPricing(trx);
      confirming = confirm(id, SECOND).then(() => order.push('confirmed'));
      await until(
        async () => {
          const { rows } = await sql`
          select from pg_locks where locktype = 'advisory' and not granted and database =
            (select oid from pg_database where datname = current_database())`.execute(books.owner);
          return rows.length;
        },
        (waiting) => waiting > 0,
      );
      order.push('judged');
    });
    await confirming;
    expect(order).toEqual(['judged', 'confirmed']);
  });
});

describe("a supplier's price that jumps", () => {
  const item = basePackage({ packageCode: 'JUMP', slug: 'JUMP', cost: 10_000n });
  const listed = (cost: bigint) =>
    replaceCatalogue(
      books.world,
      { supplier: 'esim-access', regions: [region()], packages: [{ ...item, cost }] },
      new Date(),
      undefined,
      isCostJump(PRICE_LIMITS),
    );
  const costNow = async () =>
    (await readCatalogue(books.world)).packages.find(({ packageCode }) => packageCode === 'JUMP')?.cost;
  const held = async (example?: string) =>
    dataOf(await get('/ops/supplier-prices', example))['items'] as { holdId: string }[];
  const accept = (id: string, example?: ExampleName) =>
    post(`/ops/supplier-prices/${id}/confirm`, { reason: 'the supplier says so' }, FINANCE, example);
  beforeEach(async () => {
    await sql`delete from test.held_costs`.execute(books.owner);
    await listed(10_000n);
    await sql`update test.packages set cost_usd_e4 = 10000 where package_code = 'JUMP'`.execute(books.owner);
  });

  afterAll(async () => {
    for (const table of [
      'held_costs',
      'package_top_ups',
      'package_top_up_checks',
      'package_versions',
      'packages',
    ])
      await sql`delete from ${sql.table(`test.${table}`)} where package_code like '%JUMP'`.execute(
        books.owner,
      );
  });

  test('68 times is held at the last one until a person confirms it; one that is near counts at once', async () => {
    expect(await listed(680_000n)).toMatchObject({ held: 1, repriced: 0 });
    expect(await costNow()).toBe(10_000n);
    expect(await held('one is held')).toMatchObject([
      { packageCode: 'JUMP', costUsd: 1, heldCostUsd: 68, changePercent: 6700 },
    ]);
    const [{ holdId } = { holdId: '' }] = await held();
    expect(dataOf(await get('/ops/overview'))['rates']).toMatchObject({ count: 1 });
    const reply = await accept(holdId, { request: 'confirm', answer: 'confirmed' });
    expect(dataOf(reply)).toEqual({ outcome: 'confirmed' });
    expect(await costNow()).toBe(680_000n);
    expect(await held()).toEqual([]);
    expect((await accept(holdId)).status).toBe(404);
    expect(await listed(690_000n)).toMatchObject({ held: 0, repriced: 1 });
  });

  test('and goes back is held no more, and another price is another number', async () => {
    await listed(680_000n);
    const [first] = await held();
    await listed(680_000n);
    expect(await held()).toEqual([first]);
    await listed(10n);
    const [second] = await held();
    expect(second?.holdId).not.toBe(first?.holdId);
    expect((await accept(first?.holdId ?? '')).status).toBe(404);
    await listed(11_000n);
    expect([await held(), await costNow()]).toEqual([[], 11_000n]);
  });

  test('of a top-up is held too', async () => {
    const topUp = { ...item, packageCode: 'TOPUP_JUMP', packageType: 'TOPUP' as const };
    const jump = isCostJump(PRICE_LIMITS);
    await replaceTopUps(books.world, 'JUMP', [topUp], new Date(), jump);
    const [kept] = await replaceTopUps(books.world, 'JUMP', [{ ...topUp, cost: 1n }], new Date(), jump);
    expect(kept?.cost).toBe(10_000n);
    expect(await held()).toMatchObject([{ packageCode: 'TOPUP_JUMP' }]);
  });
});
