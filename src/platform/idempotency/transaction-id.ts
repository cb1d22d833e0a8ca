/** Ids of purchases and eSIMs: random, or an HMAC of the account and its Idempotency-Key, so that any process finds the same workflow. */
import { createHmac, randomBytes } from 'node:crypto';
import type { Environment } from '../../domain/account.ts';
import { makeId } from '../../domain/ids.ts';

export function newTransactionId(): string {
  return makeId('transaction', randomHex());
}

/**
 * The id that a key stands for. `generation` counts how often the key was forgotten after it was used: 0 the first time. The id of generation 0 is
 * the one that releases before generations made, so that their retries still find it.
 */
export function keyedTransactionId(
  secret: Buffer,
  caller: {
    readonly environment: Environment;
    readonly accountId: string;
    readonly idempotencyKey: string;
    readonly generation: number;
  },
): string {
  const { environment, accountId, idempotencyKey, generation } = caller;
  const facts = [environment, accountId, idempotencyKey, ...(generation === 0 ? [] : [generation])];
  const hmac = createHmac('sha256', secret).update(JSON.stringify(facts));
  return makeId('transaction', hmac.digest('hex').slice(0, 32));
}

export function newEsimId(): string {
  return makeId('esim', randomHex());
}

function randomHex(): string {
  return randomBytes(16).toString('hex');
}
