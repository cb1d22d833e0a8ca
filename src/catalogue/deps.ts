import type { Clock } from '../domain/clock.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { CatalogueMemory } from './memory.ts';
import type { PriceLimits } from './pricing.ts';
import type { PackageSupplier } from './port.ts';

export interface CatalogueDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  readonly supplier: PackageSupplier;
  readonly catalogue: CatalogueMemory;
  readonly settings: {
    /** An older list of a package's top-ups is fetched again. */
    readonly topUpsFreshMs: number;
    /** A sale that needs an older rate is refused (promise F1). */
    readonly rateMaxAgeMs: number;
    readonly priceLimits: Pick<PriceLimits, 'supplierChangeBps'>;
  };
}
