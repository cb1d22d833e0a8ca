// Finance sets rates and prices over HTTP, on a real database: the prices that apply, the rates that await
// another person, the audit log, and what was on sale at a given moment.
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { findPricingSettings } from '../../src/catalogue/store/pricing-settings.ts';
import { findGoodRates, findSetRates } from '../../src/catalogue/store/rates.ts';
import { readRevisions } from '../../src/catalogue/store/revisions.ts';
import { DAY_MS } from '../../src/domain/clock.ts';
import { basePackage } from '../support/money/facts.ts';

import { personOf } from '../support/http/operators.ts';
import type { ExampleName } from '../support/http/examples.ts';
import { generalError } from '../support/http/error-bodies.ts';
import { dataOf, FINANCE, openPricing, REASON, SECOND, TERMS } from './pricing.support.ts';

/** Within 10 % of the prices that two people agreed on. */
const NEAR = { ...TERMS, userMarkupPercent: 30 };

const { books, sell, observe, post, get, setRate, confirm } = await openPricing();
const rateOf = async (currency: string): Promise<bigint | undefined> =>
  (await findGoodRates(books.world, currency))[0]?.micros;

/** Makes rates older by so many hours. */
const age = (hours: number, which = sql`true`) =>
  sql`update test.exchange_rates set observed_at = now() - ${hours} * interval '1 hour' where ${which}`.execute(
    books.owner,
  );
/** Audit entries about rates and prices, since the last call. */
let lastAuditId = 0n;
async function audited(): Promise<unknown[]> {
  const rows = await books.accounts
    .selectFrom('audit_log')
    .select(['id', 'actor', 'action', 'subject', 'detail'])
    .where('id', '>', lastAuditId)
    .where((eb) => eb.or([eb('action', 'like', 'rate.%'), eb('action', 'like', 'prices.%')]))
    .orderBy('id')
    .execute();
  lastAuditId = rows.at(-1)?.id ?? lastAuditId;
  return rows.map(({ actor, action, subject, detail }) => ({ actor, action, subject, detail }));
}
beforeEach(() => audited());

describe('setting a rate', () => {
  test('within the bound applies at once, in every process, with author and reason recorded', async () => {
    const { rates } = await readRevisions(books.world);
    const reply = await setRate(1_550.25, {}, 'set');
    expect(reply.status).toBe(200);
    expect(dataOf(reply)).toMatchObject({ outcome: 'set', currency: 'NGN', before: 1500, rate: 1550.25 });
    expect(await rateOf('NGN')).toBe(1_550_250_000n);
    expect(await findSetRates(books.world)).toEqual(new Map([['NGN', 1_550_250_000n]]));
    expect((await readRevisions(books.world)).rates).not.toBe(rates);
    expect(await audited()).toEqual([
      {
        actor: FINANCE,
        action: 'rate.set',
        subject: 'NGN',
        detail: { before: '1500', after: '1550.25', reason: REASON, environment: 'test' },
      },
    ]);
    const shown = dataOf(await get('/ops/rates'));
    expect(shown).toMatchObject({
      items: [{ currency: 'NGN', rate: 1550.25, source: 'operator', isSold: true }],
      waiting: [],
      changes: [
        {
          ...{ currency: 'NGN', before: 1500, rate: 1550.25, by: FINANCE, reason: REASON },
          ...{ confirmedBy: null, confirmReason: null },
        },
      ],
      history: [],
    });
  });

  test('applies when it is exactly 10 % off, and waits when it is more', async () => {
    expect((await setRate(1_650)).status).toBe(200);
    await sql`delete from test.exchange_rates where source = 'operator'`.execute(books.owner);
    expect((await setRate(1_650.000001)).status).toBe(202);
    expect((await setRate(1_349.999999)).status).toBe(202);
    expect(await rateOf('NGN')).toBe(1_500_000_000n);
  });

  test('null returns to the configured rate', async () => {
    await setRate(1_550);
    const reply = await setRate(null, {}, 'as configured');
    expect(dataOf(reply)).toMatchObject({ outcome: 'set', rateId: null, rate: null });
    expect(await findSetRates(books.world)).toEqual(new Map());
    expect(await audited()).toMatchObject([{}, { detail: { before: '1550', after: 'as configured' } }]);
    // Newest first, and nothing of the other environment.
    await sql`
      insert into accounts.audit_log (actor, action, subject, detail)
      values ('live@operator.example', 'rate.set', 'NGN', '{"before": "1", "after": "2", "reason": "live", "environment": "live"}')`.execute(
      books.owner,
    );
    expect(dataOf(await get('/ops/rates'))['changes']).toMatchObject([
      { before: 1550, rate: null },
      { before: 1500, rate: 1550 },
    ]);
  });

  test.each([
    ['no rate', { rate: undefined }, 'rate: is required'],
    ['a rate of nothing', { rate: 0 }, 'rate: must be a number above zero'],
    ['a negative one', { rate: -1 }, 'rate: must be a number above zero'],
    ['one as a text', { rate: '1,550' }, 'rate: must be a number above zero'],
    ['seven decimals', { rate: 1.1234567 }, 'at most six decimals'],
    ['an exponent', { rate: 1e21 }, 'rate: must be a number above zero'],
    ['no currency', { currency: 'naira' }, 'currency: must be a currency code'],
    ['dollars', { currency: 'USD' }, 'currency: rates are counted in US dollars'],
    ['no reason', { reason: undefined }, 'reason: is required'],
    ['a reason of blanks', { reason: '     ' }, 'reason: must have at least 3 characters'],
  ])('refuses %s, and nothing changes', async (_what, wrong, words) => {
    const reply = await setRate(1_550, wrong);
    expect(reply.status).toBe(400);
    expect(reply.text).toContain(words);
    expect(await rateOf('NGN')).toBe(1_500_000_000n);
    expect(await audited()).toEqual([]);
  });
});

describe('small steps by one person', () => {
  const observed = (micros: bigint, hoursAgo: number) =>
    observe({ micros, source: 'open.er-api.com', observedAt: new Date(Date.now() - hoursAgo * 3_600_000) });

  test('stay within 10 % of the last rate that this person did not set', async () => {
    expect((await setRate(1_365)).status).toBe(200);
    for (const rate of [1_242, 1_300]) {
      const reply = await setRate(rate);
      expect([reply.status, dataOf(reply)['outcome']]).toEqual([202, 'waits']);
    }
    expect(await rateOf('NGN')).toBe(1_365_000_000n);
    expect((await setRate(1_400)).status).toBe(200);
    // Also on the next day: the last rate observed by a provider still counts.
    await age(25, sql`rate_micros <> 1400000000`);
    expect((await setRate(1_300)).status).toBe(202);
  });

  test('may go on from a rate that a second person confirmed', async () => {
    const waits = await setRate(1_300);
    await confirm(dataOf(waits)['rateId'], SECOND);
    expect((await setRate(1_200)).status).toBe(200);
    expect((await setRate(1_100)).status).toBe(202);
  });

  test('at the same moment are bounded too, and rates of earlier days do not count where newer ones exist', async () => {
    await observed(1_000_000_000n, 30);
    const replies = await Promise.all([1_360, 1_361, 1_240, 1_120, 1_010].map((rate) => setRate(rate)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 202, 202, 202]);
  });

  test('may return to the configured rate', async () => {
    await sql`delete from test.exchange_rates`.execute(books.owner);
    await observed(1_500_000_000n, 1);
    const waits = await setRate(1_700);
    await confirm(dataOf(waits)['rateId'], SECOND);
    await age(25, sql`source <> 'operator'`);
    expect((await setRate(1_860)).status).toBe(200);
    // 9 % above the last one, and near the configured one only.
    expect((await setRate(1_960)).status).toBe(200);
    expect((await setRate(2_130)).status).toBe(200);
    expect((await setRate(2_300)).status).toBe(202);
  });
});

describe('a rate that is far off', () => {
  const propose = async (rate: number): Promise<string> => {
    const reply = await setRate(rate, {}, { answer: 'waits' });
    expect(reply.status).toBe(202);
    expect(dataOf(reply)).toMatchObject({ outcome: 'waits', before: 1500, rate });
    return String(dataOf(reply)['rateId']);
  };

  test('waits for another person, then applies, also after every refresh', async () => {
    const id = await propose(16_000);
    expect(await rateOf('NGN')).toBe(1_500_000_000n);
    expect(dataOf(await get('/ops/rates', 'one waits'))).toMatchObject({
      items: [{ rate: 1500 }],
      waiting: [
        {
          ...{ rateId: id, rate: 16000, currentRate: 1500, changePercent: 966.67, source: 'operator' },
          ...{ proposedBy: FINANCE, reason: REASON },
        },
      ],
      changes: [],
    });
    const own = await confirm(id, FINANCE);
    expect(own.json).toEqual(
      generalError(403, 'FORBIDDEN', expect.stringContaining('Another person') as string),
    );
    // A later observation must not override what a person set.
    await observe({ micros: 1_501_000_000n });
    expect(dataOf(await confirm(id, SECOND))).toEqual({ rateId: id, outcome: 'confirmed' });
    expect(await rateOf('NGN')).toBe(16_000_000_000n);
    expect(await findSetRates(books.world)).toEqual(new Map([['NGN', 16_000_000_000n]]));
    expect(dataOf(await confirm(id, SECOND))).toEqual({ rateId: id, outcome: 'already' });
    expect(await audited()).toEqual([
      {
        actor: FINANCE,
        action: 'rate.propose',
        subject: 'NGN',
        detail: { rateId: id, before: '1500', after: '16000', reason: REASON, environment: 'test' },
      },
      {
        actor: SECOND,
        action: 'rate.confirm',
        subject: 'NGN',
        detail: {
          ...{ rateId: id, before: '1501', after: '16000', reason: 'the bank says the same' },
          ...{ proposedBy: FINANCE, proposedReason: REASON, source: 'operator', environment: 'test' },
        },
      },
    ]);
    expect(dataOf(await get('/ops/rates'))['changes']).toMatchObject([
      {
        ...{ currency: 'NGN', before: 1501, rate: 16000, by: FINANCE, reason: REASON },
        ...{ confirmedBy: SECOND, confirmReason: 'the bank says the same' },
      },
    ]);
  });

  test.each([
    ['withdrawn by the person who set it', FINANCE],
    ['declined by another person', SECOND],
  ] as const)('is %s, then confirmed by nobody', async (_what, who) => {
    const id = await propose(16_000);
    await audited();
    const reason = 'a slip of the hand';
    const decline = (example?: ExampleName) => post(`/ops/rates/${id}/decline`, { reason }, who, example);
    const example = { request: 'decline', answer: 'declined' };
    expect(dataOf(await decline(example))).toEqual({ outcome: 'declined' });
    expect(await audited()).toEqual([
      {
        actor: who,
        action: 'rate.decline',
        subject: 'NGN',
        detail: {
          ...{ rateId: id, after: '16000', reason, proposedBy: FINANCE, proposedReason: REASON },
          ...{ source: 'operator', environment: 'test' },
        },
      },
    ]);
    expect(dataOf(await get('/ops/rates'))['waiting']).toEqual([]);
    expect((await confirm(id, SECOND)).status).toBe(404);
    expect((await decline()).status).toBe(404);
    expect(await rateOf('NGN')).toBe(1_500_000_000n);
    expect(await audited()).toEqual([]);
  });

  test('is not declined once it is confirmed, or has expired', async () => {
    const id = await propose(16_000);
    await confirm(id, SECOND);
    const decline = (rateId: string) => post(`/ops/rates/${rateId}/decline`, { reason: REASON });
    expect((await decline(id)).status).toBe(404);
    expect(await rateOf('NGN')).toBe(16_000_000_000n);
    const late = String(dataOf(await setRate(1_500))['rateId']);
    await age(25, sql`id = ${late}`);
    expect((await decline(late)).status).toBe(404);
  });

  test('is not confirmed by a person who got access from the first one today', async () => {
    const id = await propose(16_000);
    await sql`
      insert into accounts.access_grants (user_id, email, role, given_by, given_at)
      values (${personOf('ADMIN')}, ${SECOND}, 'FINANCE', ${FINANCE}, now())`.execute(books.owner);
    expect((await confirm(id, SECOND)).status).toBe(403);
    expect(await rateOf('NGN')).toBe(1_500_000_000n);
  });

  test('includes the first rate of a currency, which waits too', async () => {
    const reply = await setRate(1_550, { currency: 'KES' });
    expect(reply.status).toBe(202);
    expect(dataOf(reply)).toMatchObject({ before: null });
    expect(await rateOf('KES')).toBeUndefined();
    expect(dataOf(await get('/ops/rates'))['waiting']).toMatchObject([
      { currency: 'KES', currentRate: null, changePercent: null },
    ]);
  });

  test('expires after 24 hours; then it is refused like an unknown one', async () => {
    const id = await propose(16_000);
    await age(25, sql`id = ${id}`);
    expect((await confirm(id, SECOND)).status).toBe(404);
    expect((await confirm('999999999999', SECOND)).status).toBe(404);
    expect(dataOf(await get('/ops/rates'))['waiting']).toEqual([]);
  });

  test('is confirmed by one person when a provider sent it', async () => {
    await observe({ micros: 1_700_000_000n, source: 'open', status: 'QUARANTINED' });
    const [waiting] = dataOf(await get('/ops/rates'))['waiting'] as { rateId: string }[];
    expect(waiting).toMatchObject({ proposedBy: null, reason: null, changePercent: 13.33 });
    expect((await confirm(waiting?.rateId, FINANCE)).status).toBe(200);
    expect(await rateOf('NGN')).toBe(1_700_000_000n);
    expect(await findSetRates(books.world)).toEqual(new Map());
    expect(dataOf(await get('/ops/rates'))['changes']).toMatchObject([
      { before: 1500, rate: 1700, by: 'open', reason: '', confirmedBy: FINANCE },
    ]);
  });

  test('is never confirmed by its author: the database refuses that too', async () => {
    const id = await propose(16_000);
    await expect(
      sql`update exchange_rates set confirmed_by = ${` ${FINANCE.toUpperCase()}`} where id = ${id}`.execute(
        books.world,
      ),
    ).rejects.toThrow('proposed_rates_by_two_people');
  });
});

test('the history of a currency has at most 200 points, the first and the last of each span, oldest first', async () => {
  const now = Date.now();
  await sql`
    insert into test.exchange_rates (currency, rate_micros, source, observed_at, status)
    values ('TZS', 1600000000, 'config', to_timestamp(${now / 1_000}) - interval '2 minutes', 'GOOD'),
           ('TZS', 1900000000, 'config', to_timestamp(${now / 1_000}) - interval '1 minute', 'GOOD')`.execute(
    books.owner,
  );
  const { history } = dataOf(await get('/ops/rates?currency=TZS&days=30'));
  expect((history as { rate: number }[]).map(({ rate }) => rate)).toEqual([1600, 1900]);
  await sql`
    insert into test.exchange_rates (currency, rate_micros, source, observed_at, status)
    select 'NGN', 1000000000 + n * 1000, 'config', to_timestamp(${now / 1_000}) - n * interval '10 minutes', 'GOOD'
      from generate_series(1, 5000) n`.execute(books.owner);
  const points = async (days: number) =>
    dataOf(await get(`/ops/rates?currency=NGN&days=${days}`))['history'] as { at: string; rate: number }[];
  const month = await points(30);
  expect(month.length).toBeGreaterThan(190);
  expect(month.length).toBeLessThanOrEqual(200);
  expect(month.map(({ at }) => at)).toEqual(month.map(({ at }) => at).sort());
  expect(month.at(-1)).toMatchObject({ rate: 1500, source: 'config' });
  expect(Date.parse(month[0]?.at ?? '')).toBeGreaterThanOrEqual(now - 30 * DAY_MS);
  expect((await points(1)).length).toBeGreaterThan(140);
  expect(dataOf(await get('/ops/rates?currency=GHS'))['history']).toEqual([]);
  for (const query of ['days=0', 'days=91', 'currency=ngn'])
    expect((await get(`/ops/rates?${query}`)).status).toBe(400);
});

describe('prices', () => {
  test('have a preview that counts over the whole catalogue, shows the changed packages, and writes nothing', async () => {
    const before = await findPricingSettings(books.world);
    const example = 'a higher markup for users';
    const reply = await post('/ops/prices/preview?limit=2&page=2', TERMS, FINANCE, example);
    expect(reply.status).toBe(200);
    const preview = dataOf(reply) as { totals: object[]; items: object[] };
    expect(preview).toMatchObject({
      version: before.id,
      before: { userMarkupPercent: 25 },
      after: TERMS,
      nairaRate: 1500,
      ...{ packages: 5, topUps: 0 },
      pagination: { currentPage: 2, totalItems: 5, totalPages: 3 },
    });
    expect(preview.totals).toContainEqual({
      ...{ accountType: 'USER', currency: 'USD', dearer: 5, cheaper: 0, unchanged: 0, unsellable: 0 },
      ...{ belowCost: 0, largestRisePercent: 20, largestFallPercent: null, lowestMarginPercent: 33.33 },
    });
    expect(preview.totals).toContainEqual(
      expect.objectContaining({ accountType: 'MERCHANT', dearer: 0, unchanged: 5 }),
    );
    expect(preview.items).toHaveLength(2);
    expect(preview.items[0]).toMatchObject({ packageCode: 'NG-3', costUsd: 3 });
    expect(reply.text).toContain('"currency":"NGN","before":5793.75,"after":6952.50,"changePercent":20.00');
    expect(await findPricingSettings(books.world)).toEqual(before);
    expect(await audited()).toEqual([]);
  });

  test('are counted for packages and top-ups apart', async () => {
    await sql`update test.packages set package_type = 'TOPUP' where package_code = 'NG-1'`.execute(
      books.owner,
    );
    await sql`update test.packages set withdrawn_at = now() where package_code = 'NG-2'`.execute(books.owner);
    expect(dataOf(await post('/ops/prices/preview', TERMS))).toMatchObject({ packages: 3, topUps: 1 });
    await sql`
      update test.packages set package_type = 'BASE', withdrawn_at = null where package_code in ('NG-1', 'NG-2')`.execute(
      books.owner,
    );
  });

  test('in naira are unavailable when the rate is too old', async () => {
    await age(25);
    const preview = dataOf(await post('/ops/prices/preview', TERMS)) as { totals: object[] };
    expect(preview).toMatchObject({ nairaRate: null });
    expect(preview.totals).toContainEqual(
      expect.objectContaining({ accountType: 'USER', currency: 'NGN', unsellable: 5 }),
    );
  });

  test('are saved once with the version of the preview, and kept with author and reason', async () => {
    const { version } = dataOf(await post('/ops/prices/preview', NEAR));
    const example = { request: 'after a preview', answer: 'set' };
    const save = () => post('/ops/prices', { version, ...NEAR, reason: REASON }, FINANCE, example);
    const both = await Promise.all([save(), save()]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const refused = both.find(({ status }) => status === 409);
    expect(refused?.json).toEqual(
      generalError(409, 'PRICES_CHANGED', 'The prices changed since the preview. Nothing was saved'),
    );
    const settings = await findPricingSettings(books.world);
    expect(settings).toMatchObject({ userMarkupBps: 3_000, merchantMarkupBps: 1_500, ngnIncrementBps: 300 });
    expect(await audited()).toEqual([
      {
        actor: FINANCE,
        action: 'prices.set',
        subject: settings.id,
        detail: {
          before: { id: version, userMarkupBps: 2_500, merchantMarkupBps: 1_500, ngnIncrementBps: 300 },
          after: { userMarkupBps: 3_000, merchantMarkupBps: 1_500, ngnIncrementBps: 300 },
          reason: REASON,
          environment: 'test',
        },
      },
    ]);
    const again = await post('/ops/prices', { version: settings.id, ...NEAR, reason: REASON });
    expect(dataOf(again)).toEqual({ outcome: 'unchanged' });
    expect(await audited()).toEqual([]);
    expect(dataOf(await get('/ops/prices?limit=1'))).toMatchObject({
      items: [{ version: settings.id, ...NEAR, by: FINANCE, reason: REASON, isInForce: true }],
      pagination: { totalItems: 2 },
    });
    expect(dataOf(await get('/ops/prices?limit=1&page=2', 'the first settings'))).toMatchObject({
      items: [{ version: 'initial', isInForce: false }],
    });
  });

  test.each([
    ['no percentage', { ngnIncrementPercent: undefined }, 'ngnIncrementPercent: is required'],
    ['a negative one', { userMarkupPercent: -1 }, 'userMarkupPercent: must be a number from 0.00 to 1000.00'],
    ['more than ten times', { userMarkupPercent: 1_000.01 }, 'userMarkupPercent: must be a number'],
    ['three decimals', { merchantMarkupPercent: 1.234 }, 'merchantMarkupPercent: must be a number'],
    ['a text', { merchantMarkupPercent: '15 %' }, 'merchantMarkupPercent: must be a number'],
  ])('refuse %s, in the preview and when saving', async (_what, wrong, words) => {
    const { id: version } = await findPricingSettings(books.world);
    for (const [target, more] of [
      ['/ops/prices/preview', {}],
      ['/ops/prices', { version, reason: REASON }],
    ] as const) {
      const reply = await post(target, { ...TERMS, ...more, ...wrong });
      expect(reply.status).toBe(400);
      expect(reply.text).toContain(words);
    }
    expect((await findPricingSettings(books.world)).id).toBe(version);
  });

  test('are not saved without a version or a reason', async () => {
    const reply = await post('/ops/prices', TERMS);
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('version: is required');
    expect(reply.text).toContain('reason: is required');
  });
});

describe('what was on sale', () => {
  const changedAt = Date.now() - DAY_MS;
  const soldAt = changedAt - DAY_MS;
  const iso = (ms: number) => new Date(ms).toISOString();
  const [before, after] = [iso(changedAt - 1), iso(changedAt)];
  const costs = async (query: string) => {
    const { items } = dataOf(await get(`/ops/on-sale?${query}`)) as {
      items: { packageCode: string; costUsd: number }[];
    };
    return items.map(({ packageCode, costUsd }) => [packageCode, costUsd]);
  };

  beforeAll(async () => {
    const [a, b] = [
      basePackage({ packageCode: 'OLD-A', slug: 'OLD_A', cost: 12_345n }),
      basePackage({ packageCode: 'OLD-B', slug: 'OLD_B', cost: 20_000n }),
    ];
    await sql`delete from test.package_versions`.execute(books.owner);
    await sell([a, b], new Date(soldAt));
    await sell([{ ...a, cost: 30_000n }], new Date(changedAt));
    await sql`
      update test.pricing_settings
         set user_markup_bps = 2500, merchant_markup_bps = 1500, valid_from = valid_from - interval '9 days'`.execute(
      books.owner,
    );
    await sql`
      insert into test.pricing_settings (id, user_markup_bps, merchant_markup_bps, ngn_increment_bps, set_by, reason, valid_from)
      values ('later', 10000, 5000, 300, ${FINANCE}, ${REASON}, ${after})`.execute(books.owner);
  });

  test('has the cost and the prices of that moment, before a change of both and from it on', async () => {
    const reply = await get(`/ops/on-sale?at=${before}&packageCode=OLD-A`, 'one package');
    expect(reply.status).toBe(200);
    const one = { packageCode: 'OLD-A', name: 'Nigeria 5GB 30Days', packageType: 'BASE', regionCode: 'NG' };
    expect(dataOf(reply)).toEqual({
      at: before,
      knownSince: iso(soldAt),
      items: [
        {
          ...{ ...one, costUsd: 1.2345, userPriceUsd: 1.54, merchantPriceUsd: 1.42 },
          ...{ validFrom: iso(soldAt), validTo: after },
        },
      ],
      pagination: expect.objectContaining({ totalItems: 1 }) as unknown,
    });
    expect(dataOf(await get(`/ops/on-sale?at=${after}&packageCode=OLD-A`))['items']).toEqual([
      {
        ...{ ...one, costUsd: 3, userPriceUsd: 6, merchantPriceUsd: 4.5 },
        ...{ validFrom: after, validTo: null },
      },
    ]);
  });

  test('has a withdrawn package until the sync that found it gone', async () => {
    expect(await costs(`at=${before}&packageCode=OLD-B`)).toEqual([['OLD-B', 2]]);
    expect(await costs(`at=${after}&packageCode=OLD-B`)).toEqual([]);
  });

  test('is empty before everything, and says since when it is known', async () => {
    expect(dataOf(await get('/ops/on-sale?at=2020-01-01T00:00:00Z'))).toMatchObject({
      knownSince: iso(soldAt),
      items: [],
      pagination: { totalItems: 0, totalPages: 0 },
    });
  });

  test('is listed page by page and by region, and is about now without a moment', async () => {
    const second = dataOf(await get(`/ops/on-sale?at=${before}&regionCode=NG&limit=1&page=2`));
    expect(second).toMatchObject({
      items: [{ packageCode: 'OLD-B' }],
      pagination: { currentPage: 2, totalItems: 2, totalPages: 2, hasNextPage: false },
    });
    expect(await costs(`at=${before}&regionCode=GH`)).toEqual([]);
    expect(await costs('')).toEqual([['OLD-A', 3]]);
  });

  test.each([
    ['at=soon', 'at: must be a time such as'],
    ['at=2026-01-31', 'at: must be a time such as'],
    ['at=2026-02-30T00:00:00Z', 'at: must be a time such as'],
    ['at=1999-12-31T23:59:59Z', 'at: must be in the years 2000 to 9999'],
    ['packageCode=', 'packageCode: must not be empty'],
    [`regionCode=${'N'.repeat(65)}`, 'regionCode: must be at most 64 characters long'],
    ['limit=101', 'limit: must be a whole number from 1 to 100'],
  ])('is refused with %s', async (query, words) => {
    const reply = await get(`/ops/on-sale?${query}`);
    expect(reply.status).toBe(400);
    expect(reply.text).toContain(words);
  });
});
