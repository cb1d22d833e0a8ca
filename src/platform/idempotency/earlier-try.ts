/**
 * What an earlier try under the same key left, where it got far enough to leave a row; undefined without a key. IDEMPOTENCY_KEY_IN_USE while
 * that try may still be running: it was not there a moment ago, and its answer is the one that counts.
 */
import type { Principal } from '../../domain/account.ts';
import type { IdempotencyTag } from './tag.ts';
import { findIdempotencyKey, type IdempotencyRecord } from './store.ts';
import type { IdempotencyDeps } from './deps.ts';
import { isStillRunning, keyInUse } from './refusals.ts';
import { isId } from '../../domain/ids.ts';
import { noteTransaction } from '../telemetry/subject.ts';

export async function findEarlierTry(
  deps: Pick<IdempotencyDeps, 'db' | 'clock'>,
  principal: Principal,
  tag: IdempotencyTag | undefined,
): Promise<IdempotencyRecord | undefined> {
  if (!tag) return undefined;
  const record = await findIdempotencyKey(deps.db, principal.account.id, tag.key);
  if (record) checkEarlierTry(deps, record);
  return record;
}

/** IDEMPOTENCY_KEY_IN_USE while the request that left this row may still be running. */
export function checkEarlierTry(deps: Pick<IdempotencyDeps, 'clock'>, record: IdempotencyRecord): void {
  noteSubject(record);
  if (isStillRunning(record, deps.clock.now())) throw keyInUse();
}

/** Keys of other writes than purchases and fundings name what those were about (keyed-writes.ts). */
export function noteSubject({ transactionId }: IdempotencyRecord): void {
  if (isId('transaction', transactionId)) noteTransaction(transactionId);
}
