import type { Clock } from '../domain/clock.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { CatalogueMemory } from './memory.ts';
import type { PackageSupplier } from './port.ts';

/** What the catalogue's use cases work with, in one world. */
export interface CatalogueDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  readonly supplier: PackageSupplier;
  readonly catalogue: CatalogueMemory;
  readonly settings: {
    /** A package's top-ups are asked for again when the list is older. */
    readonly topUpsFreshMs: number;
    /** Sales that need an older rate are refused (promise F1). */
    readonly rateMaxAgeMs: number;
  };
}
