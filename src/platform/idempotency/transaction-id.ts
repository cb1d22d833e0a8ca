/**
 * Ids of purchases and eSIMs: random, or an HMAC of the account and its Idempotency-Key, so that any process
 * finds the same workflow.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Environment } from '../../domain/account.ts';
import { makeId } from '../../domain/ids.ts';

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
