/** Ids of purchases and eSIMs: random, or an HMAC of who asked and their Idempotency-Key, so that any process finds the same workflow. */
import { createHmac, randomBytes } from 'node:crypto';
import type { Environment } from '../domain/account.ts';
import { makeId } from '../domain/ids.ts';

export function newTransactionId(
  secret: Buffer,
  caller: {
    readonly environment: Environment;
    readonly accountId: string;
    readonly idempotencyKey?: string | undefined;
  },
): string {
  if (caller.idempotencyKey === undefined) return makeId('transaction', randomHex());
  const hmac = createHmac('sha256', secret).update(
    JSON.stringify([caller.environment, caller.accountId, caller.idempotencyKey]),
  );
  return makeId('transaction', hmac.digest('hex').slice(0, 32));
}

export function newEsimId(): string {
  return makeId('esim', randomHex());
}

function randomHex(): string {
  return randomBytes(16).toString('hex');
}
