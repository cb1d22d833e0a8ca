/** What activities are handed, once, by compose.ts. */
import type { Events } from '../src/observe/events.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { EsimSupplier } from '../src/ports/esim-supplier.ts';
import type { RateSource } from '../src/ports/rate-source.ts';
import type { WorldDb } from '../src/store/tables.ts';

export interface ActivityDeps {
  readonly db: WorldDb;
  readonly supplier: EsimSupplier;
  readonly rateSources: readonly RateSource[];
  readonly clock: Clock;
  readonly events: Events;
}
