/**
 * Database writes under an Idempotency-Key: the key's row is written in the same transaction, so a repeat
 * that has no stored answer finds what the first request did. The answer itself is kept by the idempotency
 * middleware.
 */
import type { Principal } from '../../domain/account.ts';
import type { Clock } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import { constraintOf } from '../database/errors.ts';
import { findIdempotencyKey, insertKey, KEY_TAKEN } from './store.ts';
import type { WorldDb } from '../database/tables.ts';
import { keyInUse, keyReused } from './refusals.ts';
import { isSameRequest, markOf, type IdempotencyContext, type IdempotencyRecord } from './tag.ts';
import { requireFinished } from './identify-request.ts';

export interface KeyedWrite<T, Prepared = undefined> {
  /** What is decided before the transaction. */
  readonly prepare?: () => Promise<Prepared> | Prepared;
  /**
   * Writes. An error rolls back the write and the key. `resultId` is what a repeat needs in order to answer.
   */
  readonly write: (
    trx: WorldDb,
    prepared: Prepared,
  ) => Promise<{ readonly resultId: string; readonly value: T }>;
  /** Answers for an earlier request that was carried out and whose answer was lost. */
  readonly readEarlier: (resultId: string) => Promise<T>;
}

/**
 * Writes once under the caller's key, or just writes without one. Before it refuses, it looks for the earlier
 * request. Throws IDEMPOTENCY_KEY_IN_USE while the first request may be running.
 */
export async function writeOnce<T, Prepared = undefined>(
  deps: { readonly db: WorldDb; readonly clock: Clock },
  principal: Principal,
  tag: IdempotencyContext | undefined,
  { prepare, write, readEarlier }: KeyedWrite<T, Prepared>,
): Promise<T> {
  const prepared = async (): Promise<Prepared> => (await prepare?.()) as Prepared;
  if (!tag) return (await write(deps.db, await prepared())).value;
  const accountId = principal.account.id;
  const earlier = tag.found ? tag.found.earlier : await findEarlier(deps, accountId, tag);
  if (earlier) {
    requireFinished(deps, earlier);
    return readEarlier(earlier.transactionId);
  }
  try {
    const given = await prepared();
    return await deps.db.transaction().execute(async (trx) => {
      const { resultId, value } = await write(trx, given);
      await insertKey(trx, { transactionId: resultId, accountId, idempotency: markOf(tag, tag.found ?? {}) });
      return value;
    });
  } catch (error) {
    if (constraintOf(error) === KEY_TAKEN) throw keyInUse();
    const first = error instanceof DomainError ? await findEarlier(deps, accountId, tag) : undefined;
    if (!first) throw error;
    requireFinished(deps, first);
    return readEarlier(first.transactionId);
  }
}

/** IDEMPOTENCY_KEY_REUSED if the row is of another request. */
async function findEarlier(
  { db }: { readonly db: WorldDb },
  accountId: string,
  tag: IdempotencyContext,
): Promise<IdempotencyRecord | undefined> {
  const record = await findIdempotencyKey(db, accountId, tag.key);
  if (!record || record.refusal) return undefined;
  if (!isSameRequest(record, tag)) throw keyReused();
  return record;
}
