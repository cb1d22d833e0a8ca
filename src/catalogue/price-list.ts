import type { Account } from '../domain/account.ts';
import { csvOf } from '../domain/csv.ts';
import { formatMinor, type Money } from '../domain/money.ts';
import type { Page, PageQuery } from '../domain/page.ts';
import type { CatalogueDeps } from './deps.ts';
import { createPricer, isOnSale } from './prices.ts';
import { allowanceText, validityDays } from './rules.ts';

/** A line of an account's own price list. */
export interface ListedPrice {
  readonly packageCode: string;
  readonly packageName: string;
  readonly regionCode: string;
  readonly regionName: string;
  /** As `location` has it: the countries that the package works in. */
  readonly countries: string;
  readonly data: string;
  readonly validity: number;
  readonly price: Money;
  readonly currency: Account['currency'];
  /** When a rule begins or ends that changes this price; null: none is known. */
  readonly validUntil: Date | null;
}

type ListDeps = Pick<CatalogueDeps, 'catalogue' | 'clock' | 'settings'>;

/** Every BASE package at the account's prices, by region, from memory. EXCHANGE_RATE_UNAVAILABLE. */
function pricesOf(deps: ListDeps, account: Account): ListedPrice[] {
  const catalogue = deps.catalogue.current();
  const pricer = createPricer(deps, catalogue, account, account.currency);
  return catalogue.regions.flatMap(({ regionCode, regionName }) =>
    (catalogue.byRegion.get(regionCode) ?? [])
      .map(pricer.price)
      .filter(isOnSale)
      .map(({ item, price }) => ({
        packageCode: item.packageCode,
        packageName: item.name,
        regionCode,
        regionName,
        countries: item.location,
        data: allowanceText(item.volumeBytes, item.dataType),
        validity: validityDays(item.duration, item.durationUnit),
        price,
        currency: account.currency,
        validUntil: pricer.changesAt(item),
      })),
  );
}

/** One page of the account's own prices. EXCHANGE_RATE_UNAVAILABLE. */
export function listPrices(deps: ListDeps, account: Account, { page, limit }: PageQuery): Page<ListedPrice> {
  const all = pricesOf(deps, account);
  return { items: all.slice((page - 1) * limit, page * limit), total: all.length, page, limit };
}

const COLUMNS: Record<string, (line: ListedPrice) => string> = {
  packageCode: ({ packageCode }) => packageCode,
  packageName: ({ packageName }) => packageName,
  regionCode: ({ regionCode }) => regionCode,
  regionName: ({ regionName }) => regionName,
  countries: ({ countries }) => countries,
  data: ({ data }) => data,
  validity: ({ validity }) => String(validity),
  price: ({ price }) => formatMinor(price.amountMinor),
  currency: ({ currency }) => currency,
  validUntil: ({ validUntil }) => validUntil?.toISOString() ?? '',
};

export const PRICE_LIST_COLUMNS = Object.keys(COLUMNS);

/** The whole list as CSV. EXCHANGE_RATE_UNAVAILABLE. */
export function exportPrices(deps: ListDeps, account: Account): string {
  const cells = Object.values(COLUMNS);
  return csvOf(
    PRICE_LIST_COLUMNS,
    pricesOf(deps, account).map((line) => cells.map((cell) => cell(line))),
  );
}
