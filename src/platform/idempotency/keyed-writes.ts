/**
 * Database writes under an Idempotency-Key: the key's row is written in the same transaction, so a repeat that has no stored answer finds what the
 * first request did. The answer itself is kept by the idempotency middleware.
 */
import type { Principal } from '../../domain/account.ts';
import type { Clock } from '../../domain/clock.ts';
import { constraintOf } from '../database/errors.ts';
import { insertKey } from './store.ts';
import type { WorldDb } from '../database/tables.ts';
import { keyInUse } from './refusals.ts';
import type { IdempotencyContext } from './tag.ts';
import { findEarlierRequest } from './identify-request.ts';

/** Another request with the same key wrote its row first. */
const KEY_TAKEN = 'idempotency_keys_pkey';

export interface KeyedWrite<T> {
  /** Writes. An error rolls back the write and the key. `resultId` is what a repeat needs in order to answer. */
  readonly write: (trx: WorldDb) => Promise<{ readonly resultId: string; readonly value: T }>;
  /** Answers for an earlier request that was carried out and whose answer was lost. */
  readonly readEarlier: (resultId: string) => Promise<T>;
}

/** Writes once under the caller's key, or just writes without one. IDEMPOTENCY_KEY_IN_USE while the first request may be running. */
export async function writeOnce<T>(
  deps: { readonly db: WorldDb; readonly clock: Clock },
  principal: Principal,
  tag: IdempotencyContext | undefined,
  { write, readEarlier }: KeyedWrite<T>,
): Promise<T> {
  if (!tag) return (await write(deps.db)).value;
  const earlier = await findEarlierRequest(deps, principal, tag);
  if (earlier) return readEarlier(earlier.transactionId);
  try {
    return await deps.db.transaction().execute(async (trx) => {
      const { resultId, value } = await write(trx);
      await insertKey(trx, { transactionId: resultId, accountId: principal.account.id, idempotency: tag });
      return value;
    });
  } catch (error) {
    throw constraintOf(error) === KEY_TAKEN ? keyInUse() : error;
  }
}
