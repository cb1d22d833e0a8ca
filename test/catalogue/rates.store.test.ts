/**
 * Observed exchange rates: each is kept, the latest good one applies, and only a good one notifies the
 * processes.
 */
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { findPricingSettings } from '../../src/catalogue/store/pricing-settings.ts';
import {
  findGoodRates,
  findQuarantined,
  insertRates,
  type NewRate,
} from '../../src/catalogue/store/rates.ts';
import { readEnvironment, readRevisions } from '../../src/catalogue/store/revisions.ts';
import { openBooks, refusalOf, type Books } from '../support/world/books.ts';
import { explain, rowsReadBy } from '../support/world/explain.ts';
import { forFile } from '../support/world/for-file.ts';

const books: Books = await forFile(openBooks());
beforeEach(async () => {
  await sql`truncate exchange_rates restart identity`.execute(books.owner);
});

const at = (hour: number): Date => new Date(Date.UTC(2026, 0, 1, hour));
const rate = (currency: string, micros: bigint, hour: number, given: Partial<NewRate> = {}): NewRate => ({
  currency,
  micros,
  source: 'fixed',
  observedAt: at(hour),
  status: 'GOOD',
  ...given,
});
const good = async () =>
  Object.fromEntries((await findGoodRates(books.world)).map((found) => [found.currency, found.micros]));
const revision = async () => Number((await readRevisions(books.world)).rates);

describe('exchange rates', () => {
  it('apply by the latest good observation of each currency, by its own time', async () => {
    await insertRates(books.world, [rate('NGN', 1_600_000_000n, 5), rate('EUR', 920_000n, 1)]);
    await insertRates(books.world, [rate('NGN', 1_500_000_000n, 3)]);
    expect(await good()).toEqual({ NGN: 1_600_000_000n, EUR: 920_000n });
    await insertRates(books.world, [rate('NGN', 1_610_000_000n, 6)]);
    expect(await good()).toMatchObject({ NGN: 1_610_000_000n });
  });

  it('of the same moment count in the order of arrival', async () => {
    await insertRates(books.world, [rate('NGN', 1n, 5)]);
    await insertRates(books.world, [rate('NGN', 2n, 5)]);
    expect(await good()).toEqual({ NGN: 2n });
  });

  it('are read by the index, a few rows per currency, however many earlier ones are kept', async () => {
    await sql`
      insert into exchange_rates (currency, rate_micros, source, observed_at, status)
      select 'CA' || chr(65 + c), i, 's', timestamptz '2026-01-01' + i * interval '10 minutes', 'GOOD'
        from generate_series(1, 5000) i, generate_series(0, 19) c`.execute(books.owner);
    await sql`analyze exchange_rates`.execute(books.owner);
    const { scans, statements } = await explain(books, (db) => findGoodRates(db));
    expect(statements).toBe(1);
    const ofRates = scans.filter((node) => node['Relation Name'] === 'exchange_rates');
    // One to find the currency, one for its rate.
    expect(rowsReadBy(ofRates)).toBeLessThanOrEqual(4 * 20);
    expect(new Set(Object.values(await good()))).toEqual(new Set([5_000n]));
  });

  it('carry their source and age', async () => {
    await insertRates(books.world, [rate('NGN', 1_600_000_000n, 5, { source: 'open.er-api.com' })]);
    expect(await findGoodRates(books.world)).toEqual([
      {
        id: '1',
        currency: 'NGN',
        micros: 1_600_000_000n,
        source: 'open.er-api.com',
        observedAtMs: Date.UTC(2026, 0, 1, 5),
      },
    ]);
  });

  it('in quarantine are kept, can be listed since a time, and do not affect prices', async () => {
    await insertRates(books.world, [rate('NGN', 1n, 1)]);
    const quarantined = { status: 'QUARANTINED', source: 'odd' } as const;
    await insertRates(books.world, [rate('NGN', 9n, 2, quarantined), rate('EUR', 7n, 2, quarantined)]);
    expect(await good()).toEqual({ NGN: 1n });
    expect(await findQuarantined(books.world, { since: at(2), currency: 'NGN' })).toMatchObject([
      { micros: 9n, source: 'odd' },
    ]);
    expect(await findQuarantined(books.world, { since: at(2) })).toMatchObject([
      { micros: 7n },
      { micros: 9n },
    ]);
    expect(await findQuarantined(books.world, { since: at(3), currency: 'NGN' })).toEqual([]);
    expect(await findQuarantined(books.world, { since: at(0), currency: 'GHS' })).toEqual([]);
  });

  it('notify every process when one is good, and only then', async () => {
    const before = await revision();
    await insertRates(books.world, []);
    await insertRates(books.world, [rate('NGN', 9n, 2, { status: 'QUARANTINED' })]);
    expect(await revision()).toBe(before);
    await insertRates(books.world, [rate('NGN', 9n, 2, { status: 'QUARANTINED' }), rate('EUR', 1n, 2)]);
    expect(await revision()).toBe(before + 1);
  });

  it.each([
    ['nothing', rate('NGN', 0n, 1), 'exchange_rates_rate_micros_check'],
    ['less than nothing', rate('NGN', -1n, 1), 'exchange_rates_rate_micros_check'],
    ['an invalid currency', rate('naira', 1n, 1), 'exchange_rates_currency_check'],
  ])('of %s are refused, together with all others of the same insert', async (_name, bad, constraint) => {
    const before = await revision();
    expect(await refusalOf(insertRates(books.world, [rate('EUR', 1n, 1), bad]))).toBe(constraint);
    expect(await good()).toEqual({});
    expect(await revision()).toBe(before);
  });
});

describe('pricing settings', () => {
  it('start as migrated; the newest row applies, and no row may be changed', async () => {
    expect(await findPricingSettings(books.world)).toEqual({
      id: 'initial',
      userMarkupBps: 2500,
      merchantMarkupBps: 1500,
      ngnIncrementBps: 300,
    });
    await sql`
      insert into pricing_settings (id, user_markup_bps, merchant_markup_bps, ngn_increment_bps, set_by, reason)
      values ('newer', 3000, 2000, 0, 'a test', 'a test')`.execute(books.world);
    expect(await findPricingSettings(books.world)).toMatchObject({ id: 'newer', ngnIncrementBps: 0 });
    for (const change of ['update pricing_settings set user_markup_bps = 0', 'delete from pricing_settings'])
      expect(await refusalOf(sql.raw(change).execute(books.world))).toBe('permission denied');
  });
});

describe('a database schema', () => {
  it('records which environment it is', async () => {
    expect(await readEnvironment(books.world)).toBe('test');
  });
});
