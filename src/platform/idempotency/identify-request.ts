/** The one place that decides which purchase or funding a request is about: an earlier one under the same Idempotency-Key, or a new one. */
import type { Principal } from '../../domain/account.ts';
import { findKeyOrUsed, type IdempotencyRecord } from './store.ts';
import { keyedTransactionId, newTransactionId } from './transaction-id.ts';
import type { IdempotencyTag } from './tag.ts';
import type { IdempotencyDeps } from './deps.ts';
import { checkEarlierTry } from './earlier-try.ts';

export interface Identified {
  readonly transactionId: string;
  /** What an earlier request under the same key left, where it got far enough to leave a row. */
  readonly earlier: IdempotencyRecord | undefined;
}

/**
 * Without a key, a new id. With one, the id that its row names. Without a row, the first id of the key that nothing was written for: retries
 * come to the same one until the row is there, in any process and after any crash, and a key that was forgotten after 30 days starts anew.
 * IDEMPOTENCY_KEY_IN_USE while the earlier request may still be running.
 */
export async function identifyRequest(
  deps: Pick<IdempotencyDeps, 'db' | 'clock' | 'idSecret'>,
  { account, environment }: Principal,
  tag: IdempotencyTag | undefined,
): Promise<Identified> {
  if (!tag) return { transactionId: newTransactionId(), earlier: undefined };
  const caller = { environment, accountId: account.id, idempotencyKey: tag.key };
  for (let generation = 0; ; generation += 1) {
    const transactionId = keyedTransactionId(deps.idSecret, { ...caller, generation });
    const { record, isUsed } = await findKeyOrUsed(deps.db, account.id, tag.key, transactionId);
    if (record) {
      checkEarlierTry(deps, record);
      return { transactionId: record.transactionId, earlier: record };
    }
    if (!isUsed) return { transactionId, earlier: undefined };
  }
}
