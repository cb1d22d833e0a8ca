import type { Clock } from '../../domain/clock.ts';
import type { WorldDb } from '../database/tables.ts';

export interface IdempotencyDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  /** Key of the HMAC that turns an Idempotency-Key into a transactionId. */
  readonly idSecret: Buffer;
}
