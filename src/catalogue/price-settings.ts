import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { PricingSettings } from './pricing.ts';
import { effectOn, totalsOf, type PackageEffect } from './price-effect.ts';
import { findSellingRate, type RateDeps } from './rates.ts';
import { readCosts } from './store/catalogue.ts';
import {
  countPricingSettings,
  findPricingSettings,
  insertPricingSettings,
  listPricingSettings,
  type PricingChange,
} from './store/pricing-settings.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { CONVERTED_CURRENCIES } from '../domain/money.ts';
import type { Page, PageQuery } from '../domain/page.ts';

export type PricingTermsRequest = Omit<PricingSettings, 'id'>;

/** Settings, newest first: the first of all applies. */
export async function pagePrices(db: WorldDb, { page, limit }: PageQuery): Promise<Page<PricingChange>> {
  const [items, total] = await Promise.all([
    listPricingSettings(db, limit, (page - 1) * limit),
    countPricingSettings(db),
  ]);
  return { items, total, page, limit };
}

/**
 * What new settings would do to every package on sale, and one page of the packages whose price changes,
 * those that change most first.
 */
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

/**
 * Saves new settings where those with the id `version` still apply. Takes effect within a second.
 * `changed-meanwhile`: another person changed the prices after the preview.
 */
export async function savePrices(
  db: WorldDb,
  { version, after }: { readonly version: string; readonly after: PricingTermsRequest },
  who: { readonly by: string; readonly reason: string },
): Promise<'set' | 'nothing-to-change' | 'changed-meanwhile'> {
  const { id, ...present } = await findPricingSettings(db);
  if (id !== version) return 'changed-meanwhile';
  if (isDeepStrictEqual(present, after)) return 'nothing-to-change';
  return insertPricingSettings(db, { ...after, id: `set-${randomUUID()}`, ...who }, id);
}
