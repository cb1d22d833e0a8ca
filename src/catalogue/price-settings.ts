/** Markups and the NGN increment: how they stand, what a change would do to real packages, and the change itself, with who and why. */
import { randomUUID } from 'node:crypto';
import type { CataloguePackage } from './rules.ts';
import { convertUsdMinor, priceUsdMinor, type PricingSettings } from './pricing.ts';
import { readCatalogue } from './store/catalogue.ts';
import {
  findPricingSettings,
  insertPricingSettings,
  listPricingSettings,
  type PricingChange,
} from './store/pricing-settings.ts';
import { findGoodRates } from './store/rates.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { AccountType } from '../domain/account.ts';

/** What is to be different; the rest stays. Hundredths of a percent. */
export type PriceChangeRequest = Partial<Omit<PricingSettings, 'id'>>;

export interface PricePreview {
  readonly before: PricingSettings;
  readonly after: Omit<PricingSettings, 'id'>;
  readonly examples: readonly PriceExample[];
}

/** What one package would cost an account. */
export interface PriceExample {
  readonly packageCode: string;
  readonly name: string;
  readonly accountType: AccountType;
  readonly currency: string;
  readonly costUsdE4: bigint;
  readonly beforeMinor: bigint;
  readonly afterMinor: bigint;
}

export function listPrices(db: WorldDb, limit: number): Promise<PricingChange[]> {
  return listPricingSettings(db, limit);
}

/** Examples from the cheapest package on sale to the dearest, for both kinds of account, in dollars and in naira where a rate is held. */
export async function previewPrices(
  db: WorldDb,
  wish: PriceChangeRequest,
  examples: number,
): Promise<PricePreview> {
  const [before, { packages }, rates] = await Promise.all([
    findPricingSettings(db),
    readCatalogue(db),
    findGoodRates(db),
  ]);
  const { userMarkupBps, merchantMarkupBps, ngnIncrementBps } = before;
  const after = { userMarkupBps, merchantMarkupBps, ngnIncrementBps, ...wish };
  const naira = rates.find((rate) => rate.currency === 'NGN');
  const price = (item: CataloguePackage, type: AccountType, settings: PricingSettings, currency: string) => {
    const usdMinor = priceUsdMinor(item.cost, type, settings);
    return currency === 'NGN' && naira ? convertUsdMinor(usdMinor, naira, settings).amountMinor : usdMinor;
  };
  const onSale = packages.filter((item) => !item.withdrawn);
  return {
    before,
    after,
    examples: spread(onSale, examples).flatMap((item) =>
      (['USER', 'MERCHANT'] as const).flatMap((accountType) =>
        (naira ? ['USD', 'NGN'] : ['USD']).map((currency) => ({
          packageCode: item.packageCode,
          name: item.name,
          accountType,
          currency,
          costUsdE4: item.cost,
          beforeMinor: price(item, accountType, before, currency),
          afterMinor: price(item, accountType, { ...after, id: '' }, currency),
        })),
      ),
    ),
  };
}

/** So many packages, evenly from the lowest cost to the highest. */
function spread<T extends Pick<CataloguePackage, 'cost'>>(items: readonly T[], count: number): T[] {
  const sorted = items.toSorted((a, b) => (a.cost < b.cost ? -1 : a.cost > b.cost ? 1 : 0));
  const most = Math.min(count, sorted.length);
  return Array.from({ length: most }, (_none, place) => {
    const index = most === 1 ? 0 : Math.trunc((place * (sorted.length - 1)) / (most - 1));
    return sorted[index] as T;
  });
}

/** Sold at within a second. `nothing-to-change`: they are so already. `changed-meanwhile`: by somebody else, since the preview was made. */
export async function setPrices(
  db: WorldDb,
  preview: Pick<PricePreview, 'before' | 'after'>,
  who: { readonly by: string; readonly reason: string },
): Promise<'set' | 'nothing-to-change' | 'changed-meanwhile'> {
  const { id, ...present } = preview.before;
  const isSame = Object.entries(present).every(
    ([name, value]) => preview.after[name as keyof typeof preview.after] === value,
  );
  if (isSame) return 'nothing-to-change';
  const settingsId = `set-${randomUUID()}`;
  return insertPricingSettings(db, { ...preview.after, id: settingsId, ...who }, id);
}
