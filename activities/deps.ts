/** What activities are handed, once, by compose.ts. */
import type { RefundTimings } from '../src/domain/payment.ts';
import type { Events } from '../src/observe/events.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { EsimSupplier } from '../src/ports/esim-supplier.ts';
import type { PaymentGateway } from '../src/ports/payment-gateway.ts';
import type { RateSource } from '../src/ports/rate-source.ts';
import type { WorldDb } from '../src/store/tables.ts';

export interface ActivityDeps {
  readonly db: WorldDb;
  readonly supplier: EsimSupplier;
  readonly gateway: PaymentGateway;
  /** Where hosted pages send buyers back to. */
  readonly returnUrl: string;
  /** Sandbox only: what its gateway is told to do with a package's payment. */
  readonly scenarioOf?: (packageCode: string) => string | undefined;
  /** What refunds of late money are paced by. */
  readonly refundTimings: RefundTimings;
  /** Applies what is left in the gateway's inbox; answers how many. */
  readonly applyInbox: () => Promise<number>;
  readonly rateSources: readonly RateSource[];
  readonly clock: Clock;
  readonly events: Events;
}
