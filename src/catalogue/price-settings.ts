import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { PricingSettings } from './pricing.ts';
import { areTwoPeople } from '../accounts/store/access.ts';
import { effectOnAgreed, findSellingRate, MAX_AGE_MS, type RateDeps } from './agreed-prices.ts';
import { effectOn, judgePrices, totalsOf, type PackageEffect } from './price-effect.ts';
import { readCosts } from './store/catalogue.ts';
import {
  countPricingSettings,
  findPricingSettings,
  findProposal,
  findProposedPrices,
  insertPricingSettings,
  insertProposedPrices,
  listPricingSettings,
  markProposalConfirmed,
  type PricingChange,
} from './store/pricing-settings.ts';
import { lockPricing } from './store/rates.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { inTransaction } from '../platform/database/transactions.ts';
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
  const [judged, before, costs, ...found] = await Promise.all([
    effectOnAgreed(deps, { settings: after }),
    findPricingSettings(deps.db),
    readCosts(deps.db),
    ...CONVERTED_CURRENCIES.map((currency) => findSellingRate(deps, currency)),
  ]);
  const rates = new Map(found.flatMap((rate) => (rate ? [[rate.currency, rate]] : [])));
  const effects = effectOn(costs, { before, after, rates });
  const verdict = judgePrices(judged, deps.priceLimits);
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
  // Cost counts at the agreed rate.
  const belowCost = totalsOf(judged).map((one) => one.belowCost);
  const totals = totalsOf(effects).map((one, index) => ({ ...one, belowCost: belowCost[index] ?? 0 }));
  const packages = costs.filter(({ packageType }) => packageType === 'BASE').length;
  const onSale = { packages, topUps: costs.length - packages };
  return { before, after, rates, verdict, ...onSale, totals, changes };
}

export type CataloguePreview = Awaited<ReturnType<typeof previewCatalogue>>;

/** `waits`: for a second person. Nothing was saved but for `set` and `waits`. */
type Saved =
  | { readonly outcome: 'set' | 'nothing-to-change' | 'changed-meanwhile' | 'below-cost' }
  | { readonly outcome: 'waits'; readonly proposalId: bigint };

/**
 * Saves new settings where those with the id `version` still apply. Takes effect within a second.
 * `changed-meanwhile`: another person changed the prices after the preview.
 */
export function savePrices(
  deps: RateDeps,
  { version, after }: { readonly version: string; readonly after: PricingTermsRequest },
  who: { readonly by: string; readonly reason: string },
): Promise<Saved> {
  return inTransaction(deps.db, async (db): Promise<Saved> => {
    await lockPricing(db);
    const before = await findPricingSettings(db);
    const { id, ...present } = before;
    if (id !== version) return { outcome: 'changed-meanwhile' };
    if (isDeepStrictEqual(present, after)) return { outcome: 'nothing-to-change' };
    const verdict = judgePrices(await effectOnAgreed({ ...deps, db }, { settings: after }), deps.priceLimits);
    if (verdict === 'below-cost') return { outcome: verdict };
    if (verdict === 'waits') {
      const proposal = { ...after, ...who, beforeId: id, at: deps.clock.now() };
      return { outcome: verdict, proposalId: await insertProposedPrices(db, proposal) };
    }
    await insertPricingSettings(db, { ...after, ...who, id: newId(), confirmedBy: null }, before);
    return { outcome: 'set' };
  });
}

/** Settings that await a second person, for as long as a rate does. */
export const listProposedPrices = ({ db, clock }: Pick<RateDeps, 'db' | 'clock'>) =>
  findProposedPrices(db, new Date(clock.now().getTime() - MAX_AGE_MS));

/**
 * Applies settings that another person proposed. Judges them once more, as rates may have changed.
 * `not-found`: none with this id that is recent enough.
 */
export function confirmPrices(
  deps: RateDeps,
  { id, by, reason: why }: { readonly id: bigint; readonly by: string; readonly reason: string },
): Promise<'set' | 'not-found' | 'not-independent' | 'changed-meanwhile' | 'below-cost'> {
  return inTransaction(deps.db, async (db) => {
    await lockPricing(db);
    const now = deps.clock.now();
    const proposal = await findProposal(db, id, new Date(now.getTime() - MAX_AGE_MS));
    if (!proposal) return 'not-found';
    const { beforeId, by: proposer, reason } = proposal;
    const { userMarkupBps, merchantMarkupBps, ngnIncrementBps } = proposal;
    const after = { userMarkupBps, merchantMarkupBps, ngnIncrementBps };
    if (!(await areTwoPeople(db, proposer, by, now))) return 'not-independent';
    const before = await findPricingSettings(db);
    if (before.id !== beforeId) return 'changed-meanwhile';
    const judged = await effectOnAgreed({ ...deps, db }, { settings: after });
    if (judgePrices(judged, deps.priceLimits) === 'below-cost') return 'below-cost';
    const settingsId = newId();
    const settings = { ...after, id: settingsId, by: proposer, reason, confirmedBy: by };
    await insertPricingSettings(db, settings, before, why);
    await markProposalConfirmed(db, id, settingsId);
    return 'set';
  });
}

const newId = (): string => `set-${randomUUID()}`;
