/**
 * Decides which purchase or funding a request is about: an earlier one under the same Idempotency-Key, or a
 * new one.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Principal, Environment } from '../../domain/account.ts';
import type { Clock } from '../../domain/clock.ts';
import { isId, makeId } from '../../domain/ids.ts';
import type { WorldDb } from '../database/tables.ts';
import { noteTransaction } from '../telemetry/subject.ts';
import { isStillRunning, keyInUse } from './refusals.ts';
import { findKeyOrUsed } from './store.ts';
import type { IdempotencyContext, IdentifiedRequest, IdempotencyRecord } from './tag.ts';

interface IdempotencyDeps {
  readonly db: WorldDb;
  readonly clock: Clock;
  /** Key of the HMAC that turns an Idempotency-Key into a transactionId. */
  readonly idSecret: Buffer;
}

/** Without a key, a new id. IDEMPOTENCY_KEY_IN_USE while the earlier request may still be running. */
export async function identifyRequest(
  deps: IdempotencyDeps,
  principal: Principal,
  tag: IdempotencyContext | undefined,
): Promise<IdentifiedRequest> {
  if (!tag) return { transactionId: newTransactionId(), earlier: undefined };
  const found = tag.found ?? (await findRequest(deps, principal, tag));
  if (found.earlier) requireFinished(deps, found.earlier);
  return found;
}

/**
 * The id in the key's row. Where that was refused without effect, the id that follows it. Without a row, the
 * first id of the key that nothing was written for. Retries find the same id until a row changes, in any
 * process and after any crash. A key that was forgotten after 30 days starts again.
 */
export async function findRequest(
  { db, idSecret }: Pick<IdempotencyDeps, 'db' | 'idSecret'>,
  { account, environment }: Principal,
  { key }: IdempotencyContext,
): Promise<IdentifiedRequest> {
  const idAfter = (after: number | string): string =>
    keyedTransactionId(idSecret, { environment, accountId: account.id, idempotencyKey: key, after });
  for (let generation = 0; ; generation += 1) {
    const transactionId = idAfter(generation);
    const { record, isUsed } = await findKeyOrUsed(db, account.id, key, transactionId);
    if (record?.refusal) {
      const { transactionId: follows } = record;
      return { transactionId: idAfter(follows), earlier: undefined, follows };
    }
    if (record) return { transactionId: record.transactionId, earlier: record };
    if (!isUsed) return { transactionId, earlier: undefined };
  }
}

/**
 * IDEMPOTENCY_KEY_IN_USE while the request that left this row may still be running: its answer is the one
 * that counts.
 */
export function requireFinished({ clock }: Pick<IdempotencyDeps, 'clock'>, record: IdempotencyRecord): void {
  noteSubject(record);
  if (isStillRunning(record, clock.now())) throw keyInUse();
}

/** Puts the transaction id into log lines. Keys of other writes name something else, see keyed-writes.ts. */
export function noteSubject({ transactionId }: IdempotencyRecord): void {
  if (isId('transaction', transactionId)) noteTransaction(transactionId);
}

export function newTransactionId(): string {
  return makeId('transaction', randomHex());
}

/**
 * The id that a key stands for. `after` tells its requests apart: how often the key was forgotten after it
 * was used, 0 the first time, or the id that was refused under it without effect.
 */
export function keyedTransactionId(
  secret: Buffer,
  caller: {
    readonly environment: Environment;
    readonly accountId: string;
    readonly idempotencyKey: string;
    readonly after: number | string;
  },
): string {
  const { environment, accountId, idempotencyKey, after } = caller;
  const hmac = createHmac('sha256', secret).update(
    JSON.stringify([environment, accountId, idempotencyKey, after]),
  );
  return makeId('transaction', hmac.digest('hex').slice(0, 32));
}

export function newEsimId(): string {
  return makeId('esim', randomHex());
}

function randomHex(): string {
  return randomBytes(16).toString('hex');
}
