import type { Clock } from '../domain/clock.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import type { Events } from '../platform/telemetry/events.ts';
import type { EsimSupplier } from './port.ts';

/** What the use cases of eSIMs work with, in one world. */
export interface EsimDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  readonly supplier: EsimSupplier;
  readonly events: Events;
  readonly settings: {
    /** A read asks the supplier about an eSIM again when what we know is older. */
    readonly esimFreshMs: number;
  };
}
