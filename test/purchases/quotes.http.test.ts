// Quotes and price limits: a purchase costs the quoted price, once, or nothing is bought.
import { randomUUID } from 'node:crypto';
import type { Updateable } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceCatalogue } from '../../src/catalogue/store/catalogue.ts';
import { findPricingSettings, insertPricingSettings } from '../../src/catalogue/store/pricing-settings.ts';
import { insertRates } from '../../src/catalogue/store/rates.ts';
import { MAX_OPEN_QUOTES, QUOTE_LIFE_MS } from '../../src/purchases/terms.ts';
import { forgetQuotes } from '../../src/purchases/store/quotes.ts';
import type { QuotesTable } from '../../src/purchases/store/tables.ts';
import { startApi, type Ask, type TestApi, type Reply } from '../support/http/api.ts';
import { baseItem, regionItems, regions } from '../support/http/packages.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});
afterEach(() => api.close());

const BASE = { packageCode: 'NG-5GB-30D', packageType: 'BASE' };
const BUY = { ...BASE, paymentMethod: 'WALLET' };

interface Quote {
  readonly quoteId: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

async function quoted(body: object = BASE, ask: Ask = {}): Promise<Quote> {
  const reply = await api.ask('/api/esim/quotes', { key: 'usd', ...ask, body });
  expect(reply.status, reply.text).toBe(201);
  return (reply.json as { data: Quote }).data;
}

const buy = (body: object, ask: Ask = {}) =>
  api.ask('/api/esim/buy', { key: 'usd', ...ask, body: { ...BUY, ...body } });

function expectRefusal(reply: Reply, status: number, code: string): void {
  expect({ status: reply.status, code: codeOf(reply) }).toEqual({ status, code });
}

const codeOf = ({ json }: Reply) => {
  const { error, code } = json as { error?: { code: string }; code?: string };
  return error?.code ?? code;
};

/** The state of the quote by now. */
const change = (quoteId: string, values: Updateable<QuotesTable>) =>
  api.shop.owner.updateTable('quotes').set(values).where('id', '=', quoteId).execute();

interface Market {
  /** Percent of the usual cost. */
  readonly cost: bigint;
  readonly markupBps: number;
  /** Naira for a dollar, in millionths. */
  readonly naira: bigint;
}
const USUAL: Market = { cost: 100n, markupBps: 2_500, naira: 1_534_250_000n };

/** Changes by the supplier, the operator and the market before a purchase. */
async function move({ cost, markupBps, naira }: Market): Promise<void> {
  const { owner } = api.shop;
  const item = { ...baseItem, cost: (baseItem.cost * cost) / 100n };
  await replaceCatalogue(
    owner,
    { supplier: 'esim-access', regions, packages: [...regionItems, item] },
    new Date(),
  );
  const observedAt = new Date();
  await insertRates(owner, [{ currency: 'NGN', micros: naira, source: 'fixed', observedAt, status: 'GOOD' }]);
  const markups = { userMarkupBps: markupBps, merchantMarkupBps: markupBps, ngnIncrementBps: 0 };
  const before = await findPricingSettings(owner);
  const settings = { id: randomUUID(), ...markups, by: 'a test', reason: 'a test', confirmedBy: null };
  await insertPricingSettings(owner, settings, before);
  await api.shop.changePrices();
}

async function nothingBought(work: () => Promise<void>, key = 'usd'): Promise<void> {
  const before = [await api.shop.balance(key), await api.shop.purchases(key)];
  await work();
  expect([await api.shop.balance(key), await api.shop.purchases(key)]).toEqual(before);
}

describe('a quote', () => {
  it('has a price, a currency and an expiry, and charges nothing', async () => {
    await nothingBought(async () => {
      const quote = await quoted(BASE, { key: 'ngn', example: 'new eSIM' });
      expect(quote).toMatchObject({
        packageCode: 'NG-5GB-30D',
        packageName: 'Nigeria 5GB 30Days',
        packageType: 'BASE',
        esimId: '',
        price: 19178.13,
        currency: 'NGN',
        originalPriceUSD: 12.5,
      });
      expect(quote).not.toHaveProperty('charge');
      expect(quote.quoteId).toMatch(/^quote-[0-9a-f]{32}$/);
      expect(Date.parse(quote.expiresAt) - Date.parse(quote.createdAt)).toBe(QUOTE_LIFE_MS);
    }, 'ngn');
  });

  it('can be read by its account, also once it has expired', async () => {
    const quote = await quoted();
    const path = `/api/esim/quotes/${quote.quoteId}`;
    const read = await api.ask(path, { key: 'usd', example: 'the quote' });
    expect([read.status, (read.json as { data: Quote }).data]).toEqual([200, quote]);
    expectRefusal(await api.ask(path, { key: 'usduser' }), 404, 'QUOTE_NOT_FOUND');
    expectRefusal(await api.ask('/api/esim/quotes/x', { key: 'usd' }), 404, 'QUOTE_NOT_FOUND');
    await change(quote.quoteId, { created_at: new Date(0), expires_at: new Date(1) });
    expect((await api.ask(path, { key: 'usd' })).status).toBe(200);
  });

  it('is the price that buy charges, whatever the current price is, and buys once', async () => {
    const { quoteId } = await quoted();
    await change(quoteId, { price_minor: 11_11n });
    const before = await api.shop.balance('usd');
    const bought = await buy({ quoteId }, { example: { request: 'new eSIM, by a quote' } });
    expect(bought).toMatchObject({ status: 201, json: { status: 'SUCCESS', package: { price: 11.11 } } });
    expect(await api.shop.balance('usd')).toBe(before - 11_11n);
    await nothingBought(async () => expectRefusal(await buy({ quoteId }), 400, 'QUOTE_USED'));
  });

  it('is charged after cost, markup and rate have moved, whatever the list says', async () => {
    const transfer = { paymentMethod: 'BANK_TRANSFER' };
    const [quote, charged] = [
      await quoted(BASE, { key: 'ngn' }),
      await quoted({ ...BASE, ...transfer }, { example: 'new eSIM, BANK_TRANSFER' }),
    ];
    await api.shop.setBalance(10_000_000n, 'ngn');
    await move({ cost: 110n, markupBps: 4_000, naira: 1_800_000_000n });
    try {
      const now = await buy({}, { key: 'ngn' });
      // $10 and 10 % more, 40 % markup, at 1,800 naira.
      expect(now).toMatchObject({ status: 201, json: { package: { price: 27_720 } } });
      const before = await api.shop.balance('ngn');
      const bought = await buy({ quoteId: quote.quoteId }, { key: 'ngn' });
      expect(bought).toMatchObject({ status: 201, json: { package: { price: 19_178.13 } } });
      expect(await api.shop.balance('ngn')).toBe(before - 19_178_13n);
      const paid = await buy({ ...transfer, quoteId: charged.quoteId });
      expect(paid).toMatchObject({
        status: 201,
        json: { package: { price: 12.5 }, charge: { amount: 19_178.13, currency: 'NGN' } },
      });
      const dearer = await buy(transfer);
      expect(dearer.json).toMatchObject({ charge: { amount: 27_720 } });
    } finally {
      await move(USUAL);
    }
  });

  it('is refused when the supplier has raised its cost above the price', async () => {
    const { quoteId } = await quoted();
    await move({ ...USUAL, cost: 126n });
    try {
      await nothingBought(async () => expectRefusal(await buy({ quoteId }), 400, 'PACKAGE_UNAVAILABLE'));
    } finally {
      await move(USUAL);
    }
    expect((await buy({ quoteId })).status).toBe(201);
  });

  it('orders at the current cost, which the supplier requires, while that is below the price', async () => {
    const { quoteId } = await quoted();
    await change(quoteId, { cost_usd_e4: 1n, price_usd_minor: 10_00n });
    const { transactionId } = (await buy({ quoteId })).json as { transactionId: string };
    const { cost_usd_e4: cost, price_usd_minor: priceUsdMinor } = await api.shop.db
      .selectFrom('purchases')
      .select(['cost_usd_e4', 'price_usd_minor'])
      .where('transaction_id', '=', api.idOf(transactionId))
      .executeTakeFirstOrThrow();
    expect([cost, priceUsdMinor]).toEqual([100_000n, 10_00n]);
  });

  it('buys one of two purchases at once', async () => {
    const { quoteId } = await quoted();
    const before = await api.shop.balance('usd');
    const replies = await Promise.all(Array.from({ length: 6 }, () => buy({ quoteId })));
    expect(replies.filter((reply) => reply.status === 201)).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 201))
      expectRefusal(reply, 400, 'QUOTE_USED');
    expect(await api.shop.balance('usd')).toBe(before - 12_50n);
  });

  it('is answered again for the same Idempotency-Key', async () => {
    const { quoteId } = await quoted();
    const keyed = { headers: { 'idempotency-key': randomUUID() } };
    const first = await buy({ quoteId }, keyed);
    await change(quoteId, { created_at: new Date(0), expires_at: new Date(1) });
    await nothingBought(async () => {
      const again = await buy({ quoteId }, keyed);
      expect(again).toMatchObject({ status: 201, text: first.text });
      expect(again.headers['idempotent-replayed']).toBe('true');
      const { quoteId: other } = await quoted();
      expectRefusal(await buy({ quoteId: other }, keyed), 422, 'IDEMPOTENCY_KEY_REUSED');
      expectRefusal(await buy({}, keyed), 422, 'IDEMPOTENCY_KEY_REUSED');
    });
  });

  it('can be used again after a purchase that could not be opened, or that failed', async () => {
    const { quoteId } = await quoted();
    const balance = await api.shop.balance('usd');
    await api.shop.setBalance(1n, 'usd');
    expectRefusal(await buy({ quoteId }), 400, 'INSUFFICIENT_BALANCE');
    await api.shop.setBalance(balance, 'usd');
    api.shop.vendors.supplier = 'refuses';
    const failed = await api.shop.purchases('usd');
    expectRefusal(await buy({ quoteId }), 400, 'PACKAGE_UNAVAILABLE');
    expect(await api.shop.purchases('usd')).toBe(failed + 1);
    api.shop.vendors.supplier = 'delivers';
    expect((await buy({ quoteId })).status).toBe(201);
    expectRefusal(await buy({ quoteId }), 400, 'QUOTE_USED');
  });

  it('is made once for one Idempotency-Key', async () => {
    const keyed = { headers: { 'idempotency-key': randomUUID() } };
    expect(await quoted(BASE, keyed)).toEqual(await quoted(BASE, keyed));
  });

  it('fixes the charge for the method that it names', async () => {
    const { quoteId, ...quote } = await quoted({ ...BASE, paymentMethod: 'BANK_TRANSFER' });
    expect(quote).toMatchObject({
      price: 12.5,
      currency: 'USD',
      charge: { amount: 19178.13, currency: 'NGN' },
    });
    expectRefusal(await buy({ quoteId }), 400, 'QUOTE_MISMATCH');
    const pending = await buy({ quoteId, paymentMethod: 'BANK_TRANSFER' });
    expect(pending).toMatchObject({ status: 201, json: { status: 'PENDING', charge: { amount: 19178.13 } } });
    expectRefusal(await buy({ quoteId, paymentMethod: 'BANK_TRANSFER' }), 400, 'QUOTE_USED');
  });
});

describe('buy refuses', () => {
  it.each([
    ['unknown', `quote-${'0'.repeat(32)}`],
    ['no id of ours', 'garbage'],
    ['an id of another kind', `txn-${'0'.repeat(32)}`],
  ])('a quote that is %s', async (_name, quoteId) => {
    await nothingBought(async () => expectRefusal(await buy({ quoteId }), 404, 'QUOTE_NOT_FOUND'));
  });

  it("another account's quote, which its own account can still use", async () => {
    const { quoteId } = await quoted(BASE, { key: 'usduser' });
    await nothingBought(async () => expectRefusal(await buy({ quoteId }), 404, 'QUOTE_NOT_FOUND'));
    expect((await buy({ quoteId }, { key: 'usduser' })).status).toBe(201);
  });

  it('an expired quote', async () => {
    const { quoteId } = await quoted();
    await change(quoteId, { created_at: new Date(0), expires_at: new Date(Date.now() - 1) });
    await nothingBought(async () => expectRefusal(await buy({ quoteId }), 400, 'QUOTE_EXPIRED'));
  });

  it('a quote for another package, or for another type', async () => {
    const { quoteId } = await quoted();
    await nothingBought(async () => {
      expectRefusal(await buy({ quoteId, packageCode: 'EU-42-5GB-30D' }), 400, 'QUOTE_MISMATCH');
      const esimId = `esim-${'0'.repeat(32)}`;
      expectRefusal(await buy({ quoteId, packageType: 'TOPUP', esimId }), 400, 'QUOTE_MISMATCH');
    });
  });

  it.each(['', null, 5, {}])('%j as quoteId', async (quoteId) => {
    await nothingBought(async () => expectRefusal(await buy({ quoteId }), 400, 'VALIDATION_ERROR'));
  });

  it('a price above maxPrice, by list or by quote, and accepts exactly that price', async () => {
    const { quoteId } = await quoted();
    await nothingBought(async () => {
      for (const given of [{}, { quoteId }]) {
        const reply = await buy({ ...given, maxPrice: 12.49, maxPriceCurrency: 'USD' });
        expectRefusal(reply, 400, 'PRICE_ABOVE_MAX');
        expect(reply.text).toContain('USD 12.50');
      }
    });
    expect((await buy({ maxPrice: 12.5, maxPriceCurrency: 'USD' })).status).toBe(201);
    const example = { request: 'new eSIM, at most at this price' };
    const inNaira = await buy({ maxPrice: 19_200, maxPriceCurrency: 'NGN' }, { key: 'ngn', example });
    expect(inNaira.status).toBe(201);
  });

  it('a maxPrice in another currency', async () => {
    await nothingBought(async () => {
      for (const maxPriceCurrency of ['NGN', 'EUR'])
        expectRefusal(await buy({ maxPrice: 50_000, maxPriceCurrency }), 400, 'CURRENCY_MISMATCH');
    });
  });

  it.each([
    { maxPrice: 5 },
    { maxPriceCurrency: 'USD' },
    { maxPrice: '5', maxPriceCurrency: 'USD' },
    { maxPrice: -1, maxPriceCurrency: 'USD' },
    { maxPrice: 1.234, maxPriceCurrency: 'USD' },
    { maxPrice: 5, maxPriceCurrency: 'usd' },
    { maxPrice: null, maxPriceCurrency: 'USD' },
    { maxPrice: { amount: 5 }, maxPriceCurrency: 'USD' },
  ])('%j', async (given) => {
    await nothingBought(async () => {
      const reply = await buy(given);
      expectRefusal(reply, 400, 'VALIDATION_ERROR');
      expect(reply.text).toContain('maxPrice');
    });
  });
});

it('a quote is refused for what cannot be bought', async () => {
  const ask = (body: object, key = 'usd') => api.ask('/api/esim/quotes', { key, body });
  expectRefusal(await ask({ ...BASE, packageCode: 'NOWHERE' }), 404, 'PACKAGE_NOT_FOUND');
  expectRefusal(await ask({ ...BASE, packageType: 'TOPUP' }), 400, 'VALIDATION_ERROR');
  expectRefusal(await ask({ ...BASE, packageType: 'TOPUP', esimId: 'x' }), 404, 'ESIM_NOT_FOUND');
  expectRefusal(await ask({ ...BASE, paymentMethod: 'CASH' }), 400, 'VALIDATION_ERROR');
  expect((await ask(BASE, 'readonly')).status).toBe(403);
});

it('a quote for a top-up is tied to its eSIM, and buys it', async () => {
  const bought = (await buy({})).json as { esimDetails: { esimId: string } };
  const { esimId } = bought.esimDetails;
  const topUp = { packageCode: 'TOPUP_NG-1GB-7D', packageType: 'TOPUP', esimId };
  const { quoteId, ...quote } = await quoted(topUp, { example: 'top-up' });
  expect(quote).toMatchObject({ ...topUp, price: 2.5 });
  expectRefusal(await buy({ quoteId }), 400, 'QUOTE_MISMATCH');
  await api.shop.owner
    .updateTable('esims')
    .set({ status: 'ACTIVE' })
    .where('id', '=', api.idOf(esimId))
    .execute();
  const priced = { ...topUp, quoteId, maxPriceCurrency: 'USD' };
  expectRefusal(await buy({ ...priced, maxPrice: 2.49 }), 400, 'PRICE_ABOVE_MAX');
  expectRefusal(await buy({ ...priced, maxPrice: 2.5, maxPriceCurrency: 'NGN' }), 400, 'CURRENCY_MISMATCH');
  expect(await buy({ ...priced, maxPrice: 2.5 })).toMatchObject({
    status: 200,
    json: { package: { price: 2.5 } },
  });
});

it(`at most ${MAX_OPEN_QUOTES} quotes are open for an account, requested in parallel or not, and old ones are deleted`, async () => {
  const { quoteId } = await quoted();
  const row = await api.shop.db
    .selectFrom('quotes')
    .selectAll()
    .where('id', '=', api.idOf(quoteId))
    .executeTakeFirstOrThrow();
  const copies = Array.from({ length: MAX_OPEN_QUOTES - 3 }, (_none, i) => ({
    ...row,
    charge: JSON.stringify(row.charge),
    own_details: JSON.stringify(row.own_details),
    id: `copy-${i}-${row.account_id}`,
  }));
  await api.shop.owner.insertInto('quotes').values(copies).execute();
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => api.ask('/api/esim/quotes', { key: 'usd', body: BASE })),
  );
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(2);
  const refused = replies.filter(({ status }) => status !== 201);
  for (const reply of refused) expectRefusal(reply, 429, 'TOO_MANY_OPEN_QUOTES');
  expect(refused[0]!.headers['retry-after']).toBe('60');
  // Used and expired ones do not count; another account has its own.
  await quoted(BASE, { key: 'usduser' });
  expect((await buy({ quoteId })).status).toBe(201);
  await quoted();
  const count = async () =>
    (await api.shop.db.selectFrom('quotes').select('id').where('account_id', '=', row.account_id).execute())
      .length;
  const before = await count();
  await api.shop.owner
    .updateTable('quotes')
    .set({ created_at: new Date(0), expires_at: new Date(1) })
    .where('id', 'like', `copy-%-${row.account_id}`)
    .execute();
  expect(await forgetQuotes(api.shop.db, new Date(2))).toBeGreaterThanOrEqual(copies.length);
  expect(await count()).toBe(before - copies.length);
});

describe('a key with a budget', () => {
  it('is told which limit refuses a quote, a batch and a top-up', async () => {
    await api.shop.giveBudget('usd', { maxPriceMinor: 1n });
    const asks: [string, object][] = [
      ['/api/esim/quotes', BASE],
      ['/api/esim/orders/batch', { rows: [{ reference: 'a', packageCode: BASE.packageCode }] }],
    ];
    for (const [path, body] of asks) {
      const reply = await api.ask(path, { key: 'usd', body });
      expectRefusal(reply, 403, 'KEY_BUDGET_EXCEEDED');
      expect((reply.json as { error: { message: string } }).error.message).toMatch(
        /^The budget of this API key does not allow this: maxPrice is USD 0\.01, and this package costs more; /,
      );
    }
    await api.shop.giveBudget('usd', { maxPurchases: 9 });
    const bought = await buy({});
    const { esimId } = (bought.json as { esimDetails: { esimId: string } }).esimDetails;
    await api.shop.giveBudget('usd', { maxPriceMinor: 1n });
    const topUp = await buy({ packageCode: 'TOPUP_NG-1GB-7D', packageType: 'TOPUP', esimId });
    expectRefusal(topUp, 403, 'KEY_BUDGET_EXCEEDED');
    expect((topUp.json as { details: string }).details).toContain('maxPrice is USD 0.01');
  });
});
