// Finance sets prices for one merchant, a plan, a country: what is refused, what waits for another person,
// and that nothing moves then.
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { insertAccount } from '../../src/accounts/store/accounts.ts';
import { createCatalogueMemory } from '../../src/catalogue/memory.ts';
import { createPricer } from '../../src/catalogue/prices.ts';
import { insertPriceRule, readPriceRules } from '../../src/catalogue/store/price-rules.ts';
import { lockPricing } from '../../src/catalogue/store/rates.ts';
import { readRevisions } from '../../src/catalogue/store/revisions.ts';
import type { Account } from '../../src/domain/account.ts';
import { HOUR_MS } from '../../src/domain/clock.ts';
import { generalError } from '../support/http/error-bodies.ts';
import type { ExampleName } from '../support/http/examples.ts';
import { PRICE_LIMITS } from '../support/money/facts.ts';
import { until } from '../support/time/until.ts';
import { dataOf, FINANCE, openPricing, REASON, SECOND, tokens } from './pricing.support.ts';

const { books, api, post, get, observe } = await openPricing();

const MERCHANT: Account = {
  ...{ id: `acc-${'a'.repeat(32)}`, type: 'MERCHANT', name: 'Roam Ltd', email: 'roam@merchant.example' },
  ...{ currency: 'USD', plan: 'STANDARD', requestsPerMinute: 100 },
};
await insertAccount(books.accounts, { ...MERCHANT, enterpriseRequestsPerMinute: null });
const NAIRA = { ...MERCHANT, id: `acc-${'b'.repeat(32)}`, currency: 'NGN' } as const;
await insertAccount(books.accounts, { ...NAIRA, enterpriseRequestsPerMinute: null });

beforeEach(async () => {
  await sql`delete from test.price_rules`.execute(books.owner);
  await sql`delete from accounts.audit_log where action like 'price-rule.%'`.execute(books.owner);
});

/** NG-1 costs USD 1.00, NG-5 USD 5.00; merchants pay 15 % more. */
const FOR_ONE = { scope: 'ACCOUNT', scopeId: MERCHANT.id };
const NEAR = { ...FOR_ONE, target: 'COUNTRY', targetId: 'NG', markupPercent: 10 };
const FAR = { ...NEAR, markupPercent: 50 };
const fixed = (price: number, more: object = {}) => ({
  ...{ ...FOR_ONE, target: 'PACKAGE', targetId: 'NG-1', price, currency: 'USD' },
  ...more,
});

const set = (rule: object, who: keyof typeof tokens = FINANCE, example?: ExampleName) =>
  post('/ops/price-rules', { ...rule, reason: REASON }, who, example);
const preview = async (rule: object, example?: ExampleName) =>
  dataOf(await post('/ops/price-rules/preview', rule, FINANCE, example));
const idOf = async (rule: object): Promise<string> => String(dataOf(await set(rule))['ruleId']);
const decide = (
  id: string,
  what: 'confirm' | 'decline' | 'end',
  who: keyof typeof tokens = FINANCE,
  example?: ExampleName,
) => post(`/ops/price-rules/${id}/${what}`, { reason: 'agreed' }, who, example);
const rules = async (query = '') =>
  dataOf(await get(`/ops/price-rules${query}`))['items'] as Record<string, unknown>[];
const audited = async () =>
  (
    await books.accounts
      .selectFrom('audit_log')
      .select(['actor', 'action', 'subject', 'detail'])
      .where('action', 'like', 'price-rule.%')
      .orderBy('id')
      .execute()
  ).map(({ actor, action, detail }) => ({ actor, action, detail }));

async function nothingMoved(work: () => Promise<unknown>): Promise<void> {
  const state = async () => [await rules(), await audited(), (await readRevisions(books.world)).pricing];
  const before = await state();
  await work();
  expect(await state()).toEqual(before);
}

/** What the merchant pays in a process whose clock is so far off. */
async function priceOf(packageCode: string, { account = MERCHANT, clockOffMs = 0 } = {}): Promise<bigint> {
  const memory = createCatalogueMemory({ db: books.world, onError: () => undefined });
  await memory.refresh();
  const clock = { now: () => new Date(Date.now() + clockOffMs) };
  const settings = { rateMaxAgeMs: 10 * HOUR_MS, topUpsFreshMs: 0, priceLimits: PRICE_LIMITS };
  const item = memory.current().byCode.get(packageCode);
  if (!item) throw new Error('it is not sold');
  return createPricer({ clock, settings }, memory.current(), account, account.currency).price(item).price
    .amountMinor;
}

describe('a rule', () => {
  test('near the agreed prices applies at once, with author and reason recorded', async () => {
    const { pricing } = await readRevisions(books.world);
    const reply = await set(NEAR, FINANCE, { request: 'a merchant, a country', answer: 'set' });
    expect([reply.status, dataOf(reply)]).toEqual([
      200,
      { outcome: 'set', ruleId: expect.any(String) as string },
    ]);
    expect((await readRevisions(books.world)).pricing).not.toBe(pricing);
    expect(await priceOf('NG-5')).toBe(550n);
    expect(await priceOf('NG-5', { account: { ...MERCHANT, id: 'acc-other' } })).toBe(575n);
    const listed = await get('/ops/price-rules', 'one rule');
    expect(dataOf(listed)['items']).toMatchObject([
      {
        ...{ ...FOR_ONE, target: 'COUNTRY', targetId: 'NG', kind: 'MARKUP', markupPercent: 10, price: null },
        ...{ rounding: 'NONE', validUntil: null, status: 'IN_FORCE', by: FINANCE, reason: REASON },
        ...{ confirmedBy: null, closedAt: null },
      },
    ]);
    const priceRule = `account ${MERCHANT.id}, country NG: markup 10.00 %`;
    expect(await audited()).toEqual([
      {
        actor: FINANCE,
        action: 'price-rule.set',
        detail: { priceRule, reason: REASON, environment: 'test' },
      },
    ]);
  });

  test('is shown beforehand over the whole list, also as CSV', async () => {
    await set({ ...NEAR, target: 'PACKAGE', targetId: 'NG-2', markupPercent: 12 });
    const shown = await preview({ ...NEAR, rounding: 'TO_99' }, { request: 'to .99', answer: 'waits' });
    expect(shown).toMatchObject({
      ...{ outcome: 'waits', belowCost: 0, packages: 5, changed: 4 },
      ...{ lowestMarginPercent: 10.71, largestChangePercent: 73.04 },
      items: [{ packageCode: 'NG-1', prices: [{ currency: 'USD', before: 1.15, after: 1.99 }] }, {}, {}, {}],
    });
    const csv = await api.ask('/ops/price-rules/preview', {
      ...{ method: 'POST', body: NEAR },
      headers: { authorization: `Bearer ${tokens[FINANCE]}`, accept: 'text/csv' },
    });
    expect(csv.text.split('\r\n').slice(0, 2)).toEqual([
      'packageCode,name,packageType,costUsd,accountType,currency,before,after,changePercent,marginPercent',
      'NG-1,Nigeria 5GB 30Days,BASE,1.0000,MERCHANT,USD,1.15,1.10,-4.35,9.09',
    ]);
    expect(await rules()).toHaveLength(1);
  });

  test('below cost is refused, names packages, and nothing moves', async () => {
    await nothingMoved(async () => {
      const rule = fixed(0.99);
      expect(await preview(rule)).toMatchObject({
        outcome: 'below-cost',
        belowCost: 1,
        belowCostExamples: ['NG-1: USD 0.99'],
        lowestMarginPercent: -1.01,
      });
      const reply = await set(rule);
      const why = 'The rule would sell packages below our cost: NG-1: USD 0.99. Nothing was saved';
      expect(reply.json).toEqual(generalError(409, 'PRICES_BELOW_COST', why));
    });
    expect((await set(fixed(1.1))).status).toBe(200);
  });

  test('below cost in NGN is judged at the agreed rate', async () => {
    // One person's rate, 10 % lower: prices are made with it, and cost counts at the agreed one.
    await observe({ micros: 1_360_000_000n, source: 'operator' });
    const rule = { ...NEAR, scopeId: NAIRA.id, markupPercent: 1 };
    await nothingMoved(async () =>
      expect((await set(rule)).json).toMatchObject({ error: { code: 'PRICES_BELOW_COST' } }),
    );
  });

  test('far from the agreed prices waits for another, independent person', async () => {
    const waits = await set(FAR, FINANCE, { answer: 'waits' });
    expect(waits.status).toBe(202);
    const id = String(dataOf(waits)['ruleId']);
    expect(await priceOf('NG-5')).toBe(575n);
    expect((await decide(id, 'confirm')).status).toBe(403);
    const confirmed = await decide(id, 'confirm', SECOND, { request: 'confirm', answer: 'confirmed' });
    expect(dataOf(confirmed)).toEqual({ outcome: 'set' });
    expect(await priceOf('NG-5')).toBe(750n);
    expect(await rules('?status=IN_FORCE')).toMatchObject([{ by: FINANCE, confirmedBy: SECOND }]);
    expect((await decide(id, 'confirm', SECOND)).status).toBe(404);
    // Small steps of one person from there are judged by the agreed markups too.
    await decide(id, 'end');
    expect((await set({ ...NEAR, markupPercent: 49 })).status).toBe(202);
  });

  test.each([
    ['withdrawn', FINANCE],
    ['declined by another person', SECOND],
  ] as const)('that waits is %s, then confirmed by nobody', async (_what, who) => {
    const id = await idOf(FAR);
    const declined = await decide(id, 'decline', who, { request: 'decline', answer: 'declined' });
    expect(dataOf(declined)).toEqual({ outcome: 'declined' });
    expect((await decide(id, 'confirm', SECOND)).status).toBe(404);
    expect(await rules()).toMatchObject([{ status: 'DECLINED', closedBy: who, closedReason: 'agreed' }]);
  });

  test('that waits for more than a day is confirmed by nobody', async () => {
    const id = await idOf(FAR);
    await sql`update test.price_rules set created_at = created_at - interval '24 hours'`.execute(books.owner);
    expect((await decide(id, 'confirm', SECOND)).status).toBe(404);
    expect(await rules()).toMatchObject([{ status: 'LAPSED' }]);
  });

  test('is judged once more when it is confirmed', async () => {
    const id = await idOf(fixed(1.5));
    await sql`update test.packages set cost_usd_e4 = 15001 where package_code = 'NG-1'`.execute(books.owner);
    expect((await decide(id, 'confirm', SECOND)).json).toMatchObject({
      error: { code: 'PRICES_BELOW_COST' },
    });
    await sql`update test.packages set cost_usd_e4 = 10000 where package_code = 'NG-1'`.execute(books.owner);
    expect((await set({ ...fixed(1.1) })).status).toBe(200);
    expect((await decide(id, 'confirm', SECOND)).json).toMatchObject({
      error: { code: 'PRICE_RULE_OVERLAPS' },
    });
  });

  test('ends when a person ends it, and then again the markup makes the price', async () => {
    const id = await idOf(NEAR);
    const ended = await decide(id, 'end', FINANCE, { request: 'end', answer: 'ended' });
    expect(dataOf(ended)).toEqual({ outcome: 'ended' });
    expect(await priceOf('NG-5')).toBe(575n);
    expect(await rules()).toMatchObject([{ status: 'ENDED', closedBy: FINANCE }]);
    expect((await decide(id, 'end')).status).toBe(404);
    expect((await audited()).map(({ action }) => action)).toEqual(['price-rule.set', 'price-rule.end']);
  });

  test('does not overlap another for the same buyers and the same target', async () => {
    await set({ ...NEAR, from: '2098-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z' });
    const during = { ...NEAR, from: '2098-06-01T00:00:00Z' };
    await nothingMoved(async () => {
      expect(await preview(during)).toMatchObject({
        outcome: 'overlaps',
        overlapping: { status: 'SCHEDULED' },
      });
      expect((await set(during)).json).toMatchObject({
        statusCode: 409,
        error: { code: 'PRICE_RULE_OVERLAPS' },
      });
    });
    for (const free of [
      { ...NEAR, until: '2098-01-01T00:00:00Z' },
      { ...NEAR, from: '2099-01-01T00:00:00Z' },
      { ...NEAR, target: 'REGION' },
      { ...NEAR, scopeId: NAIRA.id },
    ])
      expect((await set(free)).status).toBe(200);
  });

  test('of two people at once is set once', async () => {
    const asked = await books.world.transaction().execute(async (trx) => {
      await lockPricing(trx);
      const both = [set(NEAR), set({ ...NEAR, markupPercent: 12 }, SECOND)];
      await until(
        async () => {
          const { rows } = await sql`
            select from pg_locks where locktype = 'advisory' and not granted and database =
              (select oid from pg_database where datname = current_database())`.execute(books.owner);
          return rows.length;
        },
        (waiting) => waiting === both.length,
      );
      return { both };
    });
    const replies = await Promise.all(asked.both);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await rules('?status=IN_FORCE')).toHaveLength(1);
  });

  test('begins and ends by Postgres’ time in processes whose clocks are an hour off', async () => {
    const who = { by: 'a test', reason: 'a test', waits: false };
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000);
    const whom = { scope: 'ACCOUNT', scopeId: MERCHANT.id, target: 'PACKAGE', rounding: 'NONE' } as const;
    const terms = (targetId: string) => ({ ...whom, targetId, kind: 'MARKUP', markupBps: 1_000 }) as const;
    await insertPriceRule(books.world, { ...terms('NG-4'), from: at(-30), until: at(30) }, who);
    await insertPriceRule(books.world, { ...terms('NG-5'), from: at(30), until: null }, who);
    for (const clockOffMs of [-HOUR_MS, 0, HOUR_MS]) {
      expect(await priceOf('NG-4', { clockOffMs })).toBe(440n);
      expect(await priceOf('NG-5', { clockOffMs })).toBe(575n);
    }
    expect(await rules()).toMatchObject([{ status: 'SCHEDULED' }, { status: 'IN_FORCE' }]);
  });

  test('in the past begins at once, and is not in memory once it is over', async () => {
    const id = await idOf({ ...NEAR, from: '2020-01-01T00:00:00Z' });
    expect(await priceOf('NG-5')).toBe(550n);
    expect(await rules()).not.toMatchObject([{ validFrom: '2020-01-01T00:00:00.000Z' }]);
    await decide(id, 'end');
    expect(await readPriceRules(books.world)).toEqual([]);
  });

  test.each([
    ['an account that does not exist', { ...NEAR, scopeId: 'acc-0' }, 'scopeId'],
    ['a plan that does not exist', { ...NEAR, scope: 'PLAN', scopeId: 'GOLD' }, 'scopeId'],
    ['an account for all', { ...NEAR, scope: 'ALL' }, 'scopeId'],
    ['a country where nothing is sold', { ...NEAR, targetId: 'XX' }, 'targetId'],
    ['a code for all', { ...NEAR, target: 'ALL' }, 'targetId'],
    ['a fixed price for a country', { ...fixed(2), target: 'COUNTRY', targetId: 'NG' }, 'target'],
    ['a fixed price that is rounded', { ...fixed(2), rounding: 'TO_99' }, 'rounding'],
    ['a price in another currency', fixed(2_000, { currency: 'NGN' }), 'currency'],
    ['a rounding that is too coarse for dollars', { ...NEAR, rounding: 'TO_HUNDREDS' }, 'rounding'],
    ['both a markup and a price', { ...NEAR, price: 1, currency: 'USD' }, 'markupPercent'],
    ['neither', { ...FOR_ONE, target: 'ALL' }, 'markupPercent'],
    [
      'an end before its beginning',
      { ...NEAR, from: '2099-01-01T00:00:00Z', until: '2098-01-01T00:00:00Z' },
      'until',
    ],
    ['an end in the past', { ...NEAR, until: '2020-01-01T00:00:00Z' }, 'until'],
  ])('with %s is refused, and the field named', async (_what, rule, field) => {
    await nothingMoved(async () => {
      const reply = await set(rule);
      const { error } = reply.json as { error: { code: string; fields: { field: string }[] } };
      expect([reply.status, error.code, error.fields[0]?.field]).toEqual([400, 'VALIDATION_ERROR', field]);
    });
  });
});
