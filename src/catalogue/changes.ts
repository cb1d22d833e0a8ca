import type { Account } from '../domain/account.ts';
import { DomainError } from '../domain/errors.ts';
import type { Money } from '../domain/money.ts';
import type { PageQuery } from '../domain/page.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { CatalogueDeps } from './deps.ts';
import { priceUsdMinor } from './pricing.ts';
import { createPricer, isOnSale } from './prices.ts';
import { findPricingSettingsAt } from './store/pricing-settings.ts';
import {
  findChangesAfter,
  findLastVersionId,
  findOnSaleAt,
  type FeedItem,
  type OnSaleFilter,
  type PackageChange,
} from './store/versions.ts';

export interface ChangeView extends PackageChange {
  /** As it now stands, in the account's currency; null: not on sale now, or no current exchange rate. */
  readonly price: Money | null;
}

export interface ChangePage {
  readonly items: readonly ChangeView[];
  /** Where the next read continues; the same as before while there is nothing new. */
  readonly nextId: bigint;
  readonly hasMore: boolean;
}

/**
 * Changes after a version in the order in which they were made, from the first one kept without `since`;
 * `now` reads nothing and answers where to start.
 */
export async function listPackageChanges(
  deps: Pick<CatalogueDeps, 'db' | 'clock' | 'settings' | 'catalogue'>,
  account: Account,
  { since = 0n, limit }: { readonly since?: bigint | 'now' | undefined; readonly limit: number },
): Promise<ChangePage> {
  if (since === 'now') return { items: [], nextId: await findLastVersionId(deps.db), hasMore: false };
  const found = await findChangesAfter(deps.db, since, limit + 1);
  const priceOf = currentPricer(deps, account);
  const items = found.slice(0, limit).map(({ current, ...change }) => ({
    ...change,
    price: current === null ? null : priceOf(current),
  }));
  return { items, nextId: items.at(-1)?.id ?? since, hasMore: found.length > limit };
}

/**
 * By the cost in the change's own row: the catalogue in memory may be a second old, and a reader who has read
 * a change does not ask again.
 */
function currentPricer(
  deps: Pick<CatalogueDeps, 'clock' | 'settings' | 'catalogue'>,
  account: Account,
): (item: NonNullable<FeedItem['current']>) => Money | null {
  try {
    const pricer = createPricer(deps, deps.catalogue.current(), account, account.currency);
    return (item) => {
      const priced = pricer.price(item);
      return isOnSale(priced) ? priced.price : null;
    };
  } catch (error) {
    if (error instanceof DomainError && error.code === 'EXCHANGE_RATE_UNAVAILABLE') return () => null;
    throw error;
  }
}

export type OnSaleAt = Awaited<ReturnType<typeof readOnSaleAt>>;

/**
 * For finance: what was on sale at a moment, with our cost and the prices in US dollars of that moment; all
 * of it, or one page.
 */
export async function readOnSaleAt(
  db: WorldDb,
  { at, ...filter }: OnSaleFilter & { readonly at: Date },
  page?: PageQuery,
) {
  const [{ knownSince, packages }, settings] = await Promise.all([
    findOnSaleAt(db, at, filter, page),
    findPricingSettingsAt(db, at),
  ]);
  return {
    at,
    knownSince,
    packages: packages.map((item) => ({
      ...item,
      userPriceUsdMinor: settings ? priceUsdMinor(item.cost, 'USER', settings) : null,
      merchantPriceUsdMinor: settings ? priceUsdMinor(item.cost, 'MERCHANT', settings) : null,
    })),
  };
}
