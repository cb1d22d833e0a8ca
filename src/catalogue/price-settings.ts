import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { CataloguePackage } from './rules.ts';
import { convertUsdMinor, priceUsdMinor, type PricingSettings, type Rate } from './pricing.ts';
import { effectOn, totalsOf, type PackageEffect } from './price-effect.ts';
import { findSellingRate, type RateDeps } from './rates.ts';
import { readCatalogue, readCosts } from './store/catalogue.ts';
import {
  countPricingSettings,
  findPricingSettings,
  insertPricingSettings,
  listPricingSettings,
  type PricingChange,
} from './store/pricing-settings.ts';
import { findGoodRates } from './store/rates.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { ACCOUNT_TYPES, type AccountType } from '../domain/account.ts';
import { CONVERTED_CURRENCIES } from '../domain/money.ts';
import type { Page, PageQuery } from '../domain/page.ts';

export { listPricingSettings as listPrices } from './store/pricing-settings.ts';

/** What to change, in hundredths of a percent. */
export type PriceChangeRequest = Partial<Omit<PricingSettings, 'id'>>;

export type PricePreview = Awaited<ReturnType<typeof previewPrices>>;

/**
 * Examples from the cheapest package on sale to the dearest, for both account types, in dollars and in each
 * currency that has a rate.
 */
export async function previewPrices(db: WorldDb, change: PriceChangeRequest, examples: number) {
  const [before, { packages }, rates] = await Promise.all([
    findPricingSettings(db),
    readCatalogue(db),
    findGoodRates(db),
  ]);
  const { userMarkupBps, merchantMarkupBps, ngnIncrementBps } = before;
  const after: Omit<PricingSettings, 'id'> = { userMarkupBps, merchantMarkupBps, ngnIncrementBps, ...change };
  const converted = rates.filter(({ currency }) => CONVERTED_CURRENCIES.some((one) => one === currency));
  const price = (item: CataloguePackage, type: AccountType, settings: PricingSettings, rate?: Rate) => {
    const usdMinor = priceUsdMinor(item.cost, type, settings);
    return rate ? convertUsdMinor(usdMinor, rate, settings).amountMinor : usdMinor;
  };
  const onSale = packages.filter((item) => !item.withdrawn);
  return {
    before,
    after,
    examples: spread(onSale, examples).flatMap((item) =>
      ACCOUNT_TYPES.flatMap((accountType) =>
        [undefined, ...converted].map((rate) => ({
          packageCode: item.packageCode,
          name: item.name,
          accountType,
          currency: rate?.currency ?? 'USD',
          costUsdE4: item.cost,
          beforeMinor: price(item, accountType, before, rate),
          afterMinor: price(item, accountType, { ...after, id: '' }, rate),
        })),
      ),
    ),
  };
}

/** Up to `count` packages, evenly spread from the lowest cost to the highest. */
function spread<T extends Pick<CataloguePackage, 'cost'>>(items: readonly T[], count: number): T[] {
  const sorted = items.toSorted((a, b) => (a.cost < b.cost ? -1 : a.cost > b.cost ? 1 : 0));
  const most = Math.min(count, sorted.length);
  return Array.from({ length: most }, (_none, place) => {
    const index = most === 1 ? 0 : Math.trunc((place * (sorted.length - 1)) / (most - 1));
    return sorted[index] as T;
  });
}

/** Takes effect within a second. `changed-meanwhile`: another person changed the prices after the preview. */
export async function setPrices(
  db: WorldDb,
  preview: Pick<PricePreview, 'before' | 'after'>,
  who: { readonly by: string; readonly reason: string },
): Promise<'set' | 'nothing-to-change' | 'changed-meanwhile'> {
  const { id, ...present } = preview.before;
  if (isDeepStrictEqual(present, preview.after)) return 'nothing-to-change';
  return insertPricingSettings(db, { ...preview.after, id: `set-${randomUUID()}`, ...who }, id);
}

export type PricingTermsRequest = Omit<PricingSettings, 'id'>;

/** Settings, newest first: the first of all applies. */
export async function pagePrices(db: WorldDb, { page, limit }: PageQuery): Promise<Page<PricingChange>> {
  const [items, total] = await Promise.all([
    listPricingSettings(db, limit, (page - 1) * limit),
    countPricingSettings(db),
  ]);
  return { items, total, page, limit };
}

/** What new settings would do to every package on sale, and one page of the packages whose price changes, those that change most first. */
export async function previewCatalogue(
  deps: RateDeps,
  after: PricingTermsRequest,
  { page, limit }: PageQuery,
) {
  const [before, costs, ...found] = await Promise.all([
    findPricingSettings(deps.db),
    readCosts(deps.db),
    ...CONVERTED_CURRENCIES.map((currency) => findSellingRate(deps, currency)),
  ]);
  const rates = new Map(found.flatMap((rate) => (rate ? [[rate.currency, rate]] : [])));
  const effects = effectOn(costs, { before, after, rates });
  const changed = effects.filter(({ prices }) =>
    prices.some(({ beforeMinor, afterMinor }) => beforeMinor !== afterMinor),
  );
  const start = (page - 1) * limit;
  const changes: Page<PackageEffect> = {
    items: changed.slice(start, start + limit),
    total: changed.length,
    page,
    limit,
  };
  return { before, after, rates, packages: costs.length, totals: totalsOf(effects), changes };
}

export type CataloguePreview = Awaited<ReturnType<typeof previewCatalogue>>;

/** Saves new settings where those with the id `version` still apply. Takes effect within a second. */
export async function savePrices(
  db: WorldDb,
  { version, after }: { readonly version: string; readonly after: PricingTermsRequest },
  who: { readonly by: string; readonly reason: string },
): ReturnType<typeof setPrices> {
  const before = await findPricingSettings(db);
  return before.id === version ? setPrices(db, { before, after }, who) : 'changed-meanwhile';
}
