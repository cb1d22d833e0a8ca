/** What routes may call. Bound to their dependencies in app/composition. */
import type { Account } from '../domain/account.ts';
import type { Bound } from '../platform/bind.ts';
import { getPackage, listPackages, listRegions, listTopUps } from './browse.ts';
import { listPackageChanges } from './changes.ts';
import { exportPrices, listPrices } from './price-list.ts';
import { getExchangeRate } from './prices.ts';

export const catalogueUseCases = {
  listRegions,
  listPackages,
  listTopUps,
  listPackageChanges,
  getPackage,
  getExchangeRate,
  listPrices,
  exportPrices,
};

/** For routes whose answers are kept as long as no price or region changes. */
export interface CatalogueRevision {
  /** Changes whenever a listed price or region may have changed. No I/O. */
  catalogueRevision(): string;
}

/** For routes whose answers have prices of an account. */
export interface PriceRevision {
  /**
   * The same, with all that prices depend on of this account, and with the rules that apply by now. Two
   * accounts with one revision have the same prices in one currency. No I/O.
   */
  priceRevision(account: Account | undefined): string;
}

export type CatalogueCases = Bound<typeof catalogueUseCases> & CatalogueRevision & PriceRevision;
