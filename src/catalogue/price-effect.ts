/** What new settings do to the prices of the whole catalogue. Pure. */
import { ACCOUNT_TYPES, type AccountType } from '../domain/account.ts';
import { ACCOUNT_CURRENCIES, type AccountCurrency } from '../domain/money.ts';
import {
  changeBps,
  convertUsdMinor,
  priceOf,
  type PriceLimits,
  type PriceTerms,
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
  /** The currency that it is charged in at a gateway, and given in here; absent: its own. */
  readonly charged?: string;
  readonly beforeMinor: bigint | null;
  readonly afterMinor: bigint | null;
  /** Hundredths of a percent of the price before; null where there was none. */
  readonly changeBps: number | null;
  /** What of the new price is above our cost, in hundredths of a percent of it. Negative: below cost. */
  readonly marginBps: number | null;
}

interface Effects {
  readonly prices: readonly PriceEffect[];
  /** Of all its prices, without its sign. */
  readonly largestChangeBps: number;
}

export type PackageEffect<Item extends Costs = Costs> = Item & Effects;

/** A currency without a rate is not sold in. */
type Rates = ReadonlyMap<string, Pick<Rate, 'currency' | 'micros'>>;

export interface Seller {
  readonly accountType: AccountType;
  readonly currency: AccountCurrency;
}

/** The rule that prices a package for some accounts. undefined: their markup does. */
type FindRule<Item> = (item: Item, seller: Seller) => PriceTerms['rule'];

/** `rates`: those that prices in other currencies are made with. */
export interface PricingTerms<Item = Costs> {
  /** Whom prices are for; all by default. */
  readonly sellers?: readonly Seller[];
  readonly ruleBefore?: FindRule<Item>;
  readonly ruleAfter?: FindRule<Item>;
  /** Whether the price that this rule fixes stays as it is after the change, also below cost. */
  readonly isFixed?: (rule: PriceTerms['rule']) => boolean;
  readonly before: Terms;
  readonly after: Terms;
  readonly rates: Rates;
  /** Those of the prices before; the same by default. */
  readonly ratesBefore?: Rates;
  /** Those at which our cost counts: what is true, whatever the prices are made with. */
  readonly costRates?: Rates;
  /** Currencies that prices in US dollars are charged in too, as by mobile money. */
  readonly charged?: readonly string[];
}

const MICROS = 1_000_000n;

/** Every package as it would be priced, those that change most first. */
export function effectOn<Item extends Costs>(
  packages: readonly Item[],
  terms: PricingTerms<Item>,
): PackageEffect<Item>[] {
  const { sellers = ALL_SELLERS, charged = [] } = terms;
  const ways = sellers.flatMap((seller) => [
    seller,
    ...(seller.currency === 'USD' ? charged.map((currency) => ({ ...seller, charged: currency })) : []),
  ]);
  const effects = packages.map((item) => {
    const prices = ways.map((way) => priceEffect(item, way, terms));
    const changes = prices.map((price) => Math.abs(price.changeBps ?? 0));
    return { ...item, prices, largestChangeBps: Math.max(...changes) };
  });
  return effects.sort(
    (a, b) => b.largestChangeBps - a.largestChangeBps || (a.packageCode < b.packageCode ? -1 : 1),
  );
}

const ALL_SELLERS: readonly Seller[] = ACCOUNT_TYPES.flatMap((accountType) =>
  ACCOUNT_CURRENCIES.map((currency) => ({ accountType, currency })),
);

const never = (): boolean => false;

function priceEffect<Item extends Costs>(
  item: Item,
  seller: Pick<PriceEffect, 'accountType' | 'currency' | 'charged'>,
  terms: PricingTerms<Item>,
): PriceEffect {
  const { before, after, rates, ratesBefore = rates, costRates = rates, isFixed = never } = terms;
  const { cost } = item;
  const currency = seller.charged ?? seller.currency;
  const price = (of: Terms, known: Rates, rule: PriceTerms['rule'], isFixed: boolean): bigint | null => {
    const [own, charged] = [known.get(seller.currency), known.get(currency)];
    if ((seller.currency !== 'USD' && !own) || (currency !== 'USD' && !charged)) return null;
    const settings = { ...of, id: '' };
    const rate = seller.currency === 'USD' ? undefined : own;
    const { amountMinor } = priceOf(cost, seller.accountType, { settings, rate, rule }, { isFixed });
    if (seller.charged === undefined || !charged) return amountMinor;
    return convertUsdMinor(amountMinor, charged, { ...settings, ngnIncrementBps: 0 }).amountMinor;
  };
  const beforeMinor = price(before, ratesBefore, terms.ruleBefore?.(item, seller), false);
  const ruleAfter = terms.ruleAfter?.(item, seller);
  const afterMinor = price(after, rates, ruleAfter, isFixed(ruleAfter));
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
  const isLoss = effects.some(({ prices }) => prices.some(isBelowCost));
  if (isLoss && !limits.allowsBelowCost) return 'below-cost';
  const isFar = effects.some(({ largestChangeBps }) => largestChangeBps > limits.changeBps);
  return isLoss || isFar ? 'waits' : 'set';
}

export const isBelowCost = ({ afterMinor, marginBps }: PriceEffect): boolean =>
  afterMinor !== null && afterMinor > 0n && (marginBps ?? 0) < 0;

/**
 * Of the packages on sale, one line for each type of account and currency. `unsellable`: without a price
 * above zero afterwards, and counted nowhere else. A rise, fall or margin is null where no package has one.
 */
export function totalsOf(effects: readonly PackageEffect[]) {
  return ACCOUNT_TYPES.flatMap((accountType) =>
    ACCOUNT_CURRENCIES.map((currency) => {
      const ways = effects.map(({ prices }) =>
        prices.filter((price) => price.accountType === accountType && price.currency === currency),
      );
      const prices = ways.flat().filter(({ charged }) => charged === undefined);
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
        // In whatever way it is paid.
        belowCost: ways.filter((prices) => prices.some(isBelowCost)).length,
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
