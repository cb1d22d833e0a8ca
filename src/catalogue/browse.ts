import type { Account } from '../domain/account.ts';
import { TOP_UP_PREFIX, type RegionType } from './rules.ts';
import { DomainError } from '../domain/errors.ts';
import type { Money } from '../domain/money.ts';
import type { PackageType } from '../domain/states.ts';
import { createPricer, isOnSale, type PricedPackage } from './prices.ts';
import type { TopUps } from './top-ups.ts';
import type { CatalogueDeps } from './deps.ts';
import type { Catalogue, RegionView } from './memory.ts';

type BrowseDeps = Pick<CatalogueDeps, 'catalogue' | 'clock' | 'settings'> & { readonly topUps: TopUps };

export interface OfferedRegion extends RegionView {
  /** The lowest price of its packages for the account; null while its currency has no current rate. */
  readonly fromPrice: Money | null;
}

/** `type`: 1 for single countries, 2 for all other regions. With the lowest prices of the account. */
export function listRegions(
  deps: BrowseDeps,
  account: Account,
  query: { readonly type?: 1 | 2 },
): readonly OfferedRegion[] {
  const catalogue = deps.catalogue.current();
  const asked =
    query.type === undefined
      ? catalogue.regions
      : catalogue.regions.filter(({ regionType }) => (regionType === 'LC') === (query.type === 1));
  const pricer = pricerWithRate(deps, catalogue, account);
  return asked.map((region) => {
    const prices = pricer
      ? (catalogue.byRegion.get(region.regionCode) ?? []).map(pricer.price).filter(isOnSale)
      : [];
    const lowest = prices.reduce<Money | null>(
      (least, { price }) => (least && least.amountMinor <= price.amountMinor ? least : price),
      null,
    );
    return { ...region, fromPrice: lowest };
  });
}

/** Regions are listed without a current rate, too: undefined. */
function pricerWithRate(deps: BrowseDeps, catalogue: Catalogue, account: Account) {
  try {
    return createPricer(deps, catalogue, account, account.currency);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'EXCHANGE_RATE_UNAVAILABLE') return undefined;
    throw error;
  }
}

/** Base packages at the account's prices, in its currency. REGION_NOT_FOUND, EXCHANGE_RATE_UNAVAILABLE. */
export function listPackages(
  deps: BrowseDeps,
  account: Account,
  query: { readonly regionCode: string; readonly regionType?: RegionType },
): readonly PricedPackage[] {
  const catalogue = deps.catalogue.current();
  const packages = (catalogue.byRegion.get(query.regionCode) ?? []).filter(
    (item) => query.regionType === undefined || item.regionType === query.regionType,
  );
  const priced = packages
    .map(createPricer(deps, catalogue, account, account.currency).price)
    .filter(isOnSale);
  if (priced.length === 0) throw regionNotFound(query.regionCode, query.regionType);
  return priced;
}

/**
 * What can be added to an eSIM of this package. REGION_NOT_FOUND, PACKAGE_NOT_FOUND; VALIDATION_ERROR,
 * EXCHANGE_RATE_UNAVAILABLE for the currency.
 */
export async function listTopUps(
  deps: BrowseDeps,
  account: Account,
  query: { readonly regionCode: string; readonly packageCode: string; readonly currency: string },
): Promise<readonly PricedPackage[]> {
  const catalogue = deps.catalogue.current();
  if (!catalogue.regionCodes.has(query.regionCode)) throw regionNotFound(query.regionCode);
  const base = catalogue.byCode.get(query.packageCode);
  if (base?.regionCode !== query.regionCode) throw packageNotFound();
  const { price } = createPricer(deps, catalogue, account, query.currency);
  return (await deps.topUps.of(base)).map(price).filter(isOnSale);
}

/**
 * Without an account, at the prices for users. PACKAGE_NOT_FOUND; VALIDATION_ERROR, EXCHANGE_RATE_UNAVAILABLE
 * for the currency.
 */
export async function getPackage(
  deps: BrowseDeps,
  account: Account | undefined,
  query: { readonly packageCode: string; readonly packageType: PackageType; readonly currency: string },
): Promise<PricedPackage> {
  const catalogue = deps.catalogue.current();
  const { price } = createPricer(deps, catalogue, account, query.currency);
  const isTopUp = query.packageType === 'TOPUP' || query.packageCode.startsWith(TOP_UP_PREFIX);
  const base = catalogue.byCode.get(query.packageCode);
  const item = isTopUp ? await deps.topUps.find(query.packageCode) : base?.withdrawn ? undefined : base;
  const priced = item && price(item);
  if (!priced || !isOnSale(priced)) throw packageNotFound();
  return priced;
}

export function packageNotFound(): DomainError {
  return new DomainError('PACKAGE_NOT_FOUND', 'Package not found', {
    details: 'no package with this code is sold',
  });
}

function regionNotFound(regionCode: string, regionType?: RegionType): DomainError {
  const ofType = regionType === undefined ? '' : ` with regionType ${regionType}`;
  return new DomainError('REGION_NOT_FOUND', 'No packages found for this region', {
    details: `nothing is sold for region ${JSON.stringify(regionCode)}${ofType}`,
  });
}
