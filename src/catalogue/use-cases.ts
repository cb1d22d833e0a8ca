/** What routes may call. Bound to their dependencies in app/composition. */
import type { Bound } from '../platform/bind.ts';
import { getPackage, listPackages, listRegions, listTopUps } from './browse.ts';
import { listPackageChanges } from './changes.ts';
import { getExchangeRate } from './prices.ts';

export const catalogueUseCases = {
  listRegions,
  listPackages,
  listTopUps,
  listPackageChanges,
  getPackage,
  getExchangeRate,
};

/** For routes whose answers are kept as long as no price or region changes. */
export interface CatalogueRevision {
  /** Changes whenever a listed price or region may have changed. No I/O. */
  catalogueRevision(): string;
}

export type CatalogueCases = Bound<typeof catalogueUseCases> & CatalogueRevision;
