/**
 * Writes of our own database under an Idempotency-Key: the key's row is written in the transaction of the write, so that one of them never
 * stands without the other, and a repeat without an answer finds what the first one did. The answer itself is kept by idempotency.ts.
 */
import type { Principal } from '../../domain/account.ts';
import { constraintOf } from '../database/errors.ts';
import { insertKey } from './store.ts';
import type { WorldDb } from '../database/tables.ts';
import { keyInUse } from './refusals.ts';
import type { IdempotencyTag } from './tag.ts';
import type { IdempotencyDeps } from './deps.ts';
import { findEarlierTry } from './earlier-try.ts';

/** Of the key's own row: somebody with the same key is a moment ahead. */
const KEY_TAKEN = 'idempotency_keys_pkey';

export interface KeyedWrite<T> {
  /** Does it; what it throws undoes it and forgets the key. `about` names what a repeat needs in order to answer. */
  readonly act: (trx: WorldDb) => Promise<{ readonly about: string; readonly value: T }>;
  /** Answers for a try that was carried out and whose answer was lost. */
  readonly again: (about: string) => Promise<T>;
}

/** Writes once under the caller's key, or just writes where there is none. IDEMPOTENCY_KEY_IN_USE while the first try may be running. */
export async function writeOnce<T>(
  deps: Pick<IdempotencyDeps, 'db' | 'clock'>,
  principal: Principal,
  tag: IdempotencyTag | undefined,
  { act, again }: KeyedWrite<T>,
): Promise<T> {
  if (!tag) return (await act(deps.db)).value;
  const earlier = await findEarlierTry(deps, principal, tag);
  if (earlier) return again(earlier.transactionId);
  try {
    return await deps.db.transaction().execute(async (trx) => {
      const { about, value } = await act(trx);
      await insertKey(trx, { transactionId: about, accountId: principal.account.id, idempotency: tag });
      return value;
    });
  } catch (error) {
    throw constraintOf(error) === KEY_TAKEN ? keyInUse() : error;
  }
}
