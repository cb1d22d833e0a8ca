/** What new settings do to the prices of the whole catalogue. Pure. */
import { ACCOUNT_TYPES, type AccountType } from '../domain/account.ts';
import { ACCOUNT_CURRENCIES, type AccountCurrency } from '../domain/money.ts';
import {
  changeBps,
  convertUsdMinor,
  priceUsdMinor,
  type PriceLimits,
  type PricingSettings,
  type Rate,
} from './pricing.ts';
import type { CataloguePackage } from './rules.ts';

type Costs = Pick<CataloguePackage, 'packageCode' | 'name' | 'packageType' | 'cost'>;
type Terms = Omit<PricingSettings, 'id'>;

/** One price of a package. null: nothing is sold, since there is no current rate. */
export interface PriceEffect {
  readonly accountType: AccountType;
  readonly currency: AccountCurrency;
  readonly beforeMinor: bigint | null;
  readonly afterMinor: bigint | null;
  /** Hundredths of a percent of the price before; null where there was none. */
  readonly changeBps: number | null;
  /** What of the new price is above our cost, in hundredths of a percent of it. Negative: below cost. */
  readonly marginBps: number | null;
}

export interface PackageEffect extends Costs {
  readonly prices: readonly PriceEffect[];
  /** Of all its prices, without its sign. */
  readonly largestChangeBps: number;
}

/** A currency without a rate is not sold in. */
type Rates = ReadonlyMap<string, Pick<Rate, 'currency' | 'micros'>>;

/** `rates`: those that prices in other currencies are made with. */
export interface PricingTerms {
  readonly before: Terms;
  readonly after: Terms;
  readonly rates: Rates;
  /** Those of the prices before; the same by default. */
  readonly ratesBefore?: Rates;
  /** Those at which our cost counts: what is true, whatever the prices are made with. */
  readonly costRates?: Rates;
}

const MICROS = 1_000_000n;

/** Every package as it would be priced, those that change most first. */
export function effectOn(packages: readonly Costs[], terms: PricingTerms): PackageEffect[] {
  const effects = packages.map((item) => {
    const prices = ACCOUNT_TYPES.flatMap((accountType) =>
      ACCOUNT_CURRENCIES.map((currency) => priceEffect(item, { accountType, currency }, terms)),
    );
    const changes = prices.map((price) => Math.abs(price.changeBps ?? 0));
    return { ...item, prices, largestChangeBps: Math.max(...changes) };
  });
  return effects.sort(
    (a, b) => b.largestChangeBps - a.largestChangeBps || (a.packageCode < b.packageCode ? -1 : 1),
  );
}

function priceEffect(
  { cost }: Costs,
  seller: Pick<PriceEffect, 'accountType' | 'currency'>,
  { before, after, rates, ratesBefore = rates, costRates = rates }: PricingTerms,
): PriceEffect {
  const price = (settings: Terms, rate: Pick<Rate, 'currency' | 'micros'> | undefined): bigint | null => {
    const usdMinor = priceUsdMinor(cost, seller.accountType, { ...settings, id: '' });
    if (seller.currency === 'USD') return usdMinor;
    return rate ? convertUsdMinor(usdMinor, rate, { ...settings, id: '' }).amountMinor : null;
  };
  const { currency } = seller;
  const beforeMinor = price(before, ratesBefore.get(currency));
  const afterMinor = price(after, rates.get(currency));
  const micros = currency === 'USD' ? MICROS : (costRates.get(currency)?.micros ?? 0n);
  return {
    ...seller,
    beforeMinor,
    afterMinor,
    changeBps: beforeMinor === null || afterMinor === null ? null : changeBps(beforeMinor, afterMinor),
    // Both sides in millionths of a hundredth of the minor unit, so that nothing is rounded before they are
    // compared.
    marginBps: afterMinor === null ? null : marginBps(afterMinor * 100n * MICROS, cost * micros),
  };
}

const marginBps = (price: bigint, cost: bigint): number | null => {
  const change = changeBps(price, cost);
  // The least loss is a loss, however it rounds.
  return change === null ? null : cost > price ? Math.min(-change, -1) : -change;
};

/**
 * What one person may do with prices: `set`; `waits` for a second person, since a price moves far from the
 * one that was agreed or goes below cost where that is possible; `below-cost`: refused.
 */
export function judgePrices(
  effects: readonly PackageEffect[],
  limits: PriceLimits,
): 'set' | 'waits' | 'below-cost' {
  const isBelowCost = totalsOf(effects).some(({ belowCost }) => belowCost > 0);
  if (isBelowCost && !limits.allowsBelowCost) return 'below-cost';
  const isFar = effects.some(({ largestChangeBps }) => largestChangeBps > limits.changeBps);
  return isBelowCost || isFar ? 'waits' : 'set';
}

/**
 * Of the packages on sale, one line for each type of account and currency. `unsellable`: without a price
 * above zero afterwards, and counted nowhere else. A rise, fall or margin is null where no package has one.
 */
export function totalsOf(effects: readonly PackageEffect[]) {
  const all = effects.flatMap(({ prices }) => prices);
  return ACCOUNT_TYPES.flatMap((accountType) =>
    ACCOUNT_CURRENCIES.map((currency) => {
      const prices = all.filter((price) => price.accountType === accountType && price.currency === currency);
      const sold = prices.filter(({ afterMinor }) => afterMinor !== null && afterMinor > 0n);
      const dearer = sold.filter(({ beforeMinor, afterMinor }) => (beforeMinor ?? 0n) < (afterMinor ?? 0n));
      const cheaper = sold.filter(({ beforeMinor, afterMinor }) => (beforeMinor ?? 0n) > (afterMinor ?? 0n));
      const margins = sold.map((price) => price.marginBps ?? 0);
      return {
        accountType,
        currency,
        dearer: dearer.length,
        cheaper: cheaper.length,
        unchanged: sold.length - dearer.length - cheaper.length,
        unsellable: prices.length - sold.length,
        belowCost: margins.filter((margin) => margin < 0).length,
        largestRiseBps: furthest(dearer.map((price) => price.changeBps ?? 0)),
        largestFallBps: furthest(cheaper.map((price) => price.changeBps ?? 0)),
        lowestMarginBps: margins.reduce<number | null>((low, one) => Math.min(low ?? one, one), null),
      };
    }),
  );
}

const furthest = (changes: readonly number[]): number | null =>
  changes.reduce<number | null>(
    (most, one) => (most === null || Math.abs(one) > Math.abs(most) ? one : most),
    null,
  );
